import RecordCoding

/// Reads of what this device shows: the cloud's latest known version, with pending edits on top.
///
/// A reader decodes the records itself: the core does not know models.
extension SyncCore {
    /// Decodes a record; called off the actor.
    typealias Decode<Value> = @Sendable (Record) throws -> Value

    /// Reads records.
    ///
    /// A read waits for no turn and delays none: it looks at what the last turn has published, and decodes off the
    /// actor.
    ///
    /// - Parameters:
    ///   - names: The records' names; `nil` means all.
    ///   - decode: Decodes a record.
    /// - Returns: The decoded values, in order.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    @concurrent
    nonisolated func read<Value: Sendable>(
        _ names: [String]?,
        _ decode: @escaping Decode<Value>
    ) async throws -> ReadResult<Value> {
        while true {
            var read = RecordRead<Value>(names: names, of: ExactName(model.recordType))
            let view = try await currentView()
            do {
                try await readNow(&read, view, decode)
                let result = read.result
                if try await end(result.undecodable, readIn: view.session) { return result }
            } catch {
                // The state was replaced in the meantime; the next user's models are read.
                if await isCurrent(view.session) { throw error }
            }
        }
    }

    /// Looks at the records and decodes them until both are of one moment.
    private nonisolated func readNow<Value: Sendable>(
        _ read: inout RecordRead<Value>,
        _ first: StateView,
        _ decode: @escaping Decode<Value>
    ) async throws {
        var view = first
        while true {
            read.look(at: view)
            if read.isDone { return }
            do {
                try await read.decode(from: view.files, model, decode)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw await unreadable(error)
            }
            // A compaction drops what no written row names, before the new row is published.
            view = read.hasLost ? try await writtenView(behind: view) : try await currentView()
            guard view.session == first.session else { throw SyncError.closed }
        }
    }

    /// What the last turn has published; opens the state if necessary.
    private nonisolated func currentView() async throws -> StateView {
        if let view = published.withLock({ $0 }) { return view }
        try await ready()
        return try await newView()
    }

    /// What the first turn publishes, or what is stored of a state that another user's is to replace.
    private func newView() async throws -> StateView {
        await wait { $0.published.withLock { $0 != nil } || !$0.publishes }
        if let view = published.withLock({ $0 }) { return view }
        guard let stored = turn.before?.machine ?? machine, let files else { throw SyncError.closed }
        return view(of: stored.state, files)
    }

    /// The view whose rows are written, which may not be published yet.
    private func writtenView(behind former: StateView) async throws -> StateView {
        if session == former.session, let storing = storing.view { return storing }
        return try await newView()
    }

    private nonisolated func isCurrent(_ began: Int) async -> Bool {
        if published.withLock({ $0?.session }) == began { return true }
        return await session == began
    }

    /// Publishes what reads show, once it is stored.
    func publish() {
        // The former view stays as long as something is not stored.
        if case .open = phase, !turn.inputs.isEmpty || storing.view != nil { return }
        publish(machine.flatMap { machine in files.map { view(of: machine.state, $0) } })
    }

    /// What reads see of a state.
    func view(of state: SyncState, _ files: OpenFiles) -> StateView {
        viewCount += 1
        return StateView(session: session, number: viewCount, state: state, files: files)
    }

    /// Whether reads see what turns publish: not while another user's state is to be opened, for which they wait.
    var publishes: Bool {
        if case .open = phase { machine?.isForAnotherUser == false } else { false }
    }

    func publish(_ view: StateView?) {
        let publishes = publishes
        published.withLock { $0 = publishes ? view : nil }
    }

    /// Reports what a read could not decode; returns `false` if it read the state of a former user.
    private nonisolated func end(_ undecodable: [ReadVersion], readIn began: Int) async throws -> Bool {
        if undecodable.isEmpty, published.withLock({ $0?.session }) == began { return true }
        return try await report(undecodable, readIn: began)
    }

    private func report(_ undecodable: [ReadVersion], readIn began: Int) async throws -> Bool {
        guard session == began else { return false }
        guard machine != nil else { throw SyncError.closed }
        tellUndecodable(undecodable)
        // The event comes before the read returns, also if a turn was being stored.
        if !undecodable.isEmpty { await wait { $0.isStored || $0.machine == nil } }
        return true
    }
}

/// What reads see: the state as it is stored, and the open files.
struct StateView: Sendable {
    /// The session of the core.
    let session: Int
    /// A number that no other view of the core has.
    let number: Int
    let state: SyncState
    let files: OpenFiles
}

/// The result of a read.
struct ReadResult<Value: Sendable>: Sendable {
    var values: [Value]
    /// What could not be decoded.
    var undecodable: [ReadVersion]
    /// Why reads don't show the only record, if they don't.
    var absence: Absence
}

extension EditBasis {
    /// The contents to decode for an edit.
    var contents: ShownContents? {
        shown.map { ShownContents(name: name, shown: $0, base: on.version == $0 ? nil : on.version) }
    }
}
