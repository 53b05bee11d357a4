import RecordCoding

/// Reads of what this device shows: the cloud's latest known version, with pending edits on top.
///
/// A reader decodes the records itself: the core does not know models.
extension SyncCore {
    /// Decodes a record; called off the actor.
    typealias Decode<Value> = @Sendable (Record) throws -> Value

    /// Reads records.
    ///
    /// What a read of all records takes is proportional to their number, so it is done off the actor, on copies
    /// of the table of records.
    ///
    /// - Parameters:
    ///   - names: The records' names; `nil` means all.
    ///   - decode: Decodes a record.
    /// - Returns: What was decoded, in order, and the note that the app was given it.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    @concurrent
    nonisolated func read<Value: Sendable>(
        _ names: [String]?,
        _ decode: @escaping Decode<Value>
    ) async throws -> ReadResult<Value> {
        while true {
            var read = RecordRead<Value>(names: names, of: ExactName(model.recordType))
            let began = try await openSession()
            do {
                let generation = try await readNow(&read, in: began, decode)
                let result = read.result(session: began, generation: generation)
                if try await end(result.undecodable, readIn: began) { return result }
            } catch {
                // The state was replaced in the meantime; the next user's models are read.
                if await session == began { throw error }
            }
        }
    }

    /// Looks at the records and decodes them until both are of one moment.
    ///
    /// - Returns: The machine's generation of reads at that moment.
    private nonisolated func readNow<Value: Sendable>(
        _ read: inout RecordRead<Value>,
        in began: Int,
        _ decode: @escaping Decode<Value>
    ) async throws -> Int {
        while true {
            let moment = try await moment(of: began)
            read.look(at: moment.records)
            if read.isDone { return moment.generation }
            do {
                try await read.decode(from: moment.journal, model, decode)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw await unreadable(error)
            }
        }
    }

    /// Opens the state if necessary.
    private func openSession() async throws -> Int {
        try await ready()
        // Keeps the queue from growing if the app only reads.
        takeNotes()
        return session
    }

    private func moment(
        of began: Int
    ) throws -> (records: RecordView, generation: Int, journal: JournalDisk) {
        guard session == began, let machine, let journal else { throw SyncError.closed }
        return (machine.state.recordView, machine.readGeneration, journal)
    }

    /// Reports what a read could not decode; returns `false` if it read the state of a former user.
    private func end(_ undecodable: [ReadVersion], readIn began: Int) throws -> Bool {
        guard session == began else { return false }
        guard machine != nil else { throw SyncError.closed }
        if !undecodable.isEmpty { process(.calls(.decodeFailed(undecodable))) }
        return true
    }

    /// Reads files for a call, and says why if they cannot be read.
    private func reading<Value: Sendable>(_ read: () async throws -> Value) async throws -> Value {
        do {
            return try await read()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw unreadable(error)
        }
    }

    func diagnostics() async throws -> SyncDiagnostics {
        try await ready()
        guard let machine else { throw SyncError.closed }
        let state = machine.state
        return SyncDiagnostics(
            cloud: database.identifier,
            userRecordName: machine.userRecordName,
            accountStatus: lastAccountStatus,
            status: currentStatus,
            knownCount: state.knownCount,
            pendingCount: state.pendingCount - state.parkedQueue.count,
            parkedCount: state.parkedQueue.count,
            undeliveredCount: state.summary.isFollowed ? state.deliveryQueue.count : 0,
            undecodable: machine.undecodableNames,
            lastFetch: state.summary.lastFetch,
            stateDirectory: stateDirectory,
            notes: Array(state.notes.suffix(SyncState.maximumNotes))
        )
    }

    // MARK: Parts

    /// Counts the latest cloud versions that cannot be decoded, and reports each of them once.
    ///
    /// Versions are decoded after they are stored, so that no model's code runs before the fetch is durable,
    /// and in parts, to save memory.
    func undecodableCount(among versions: [ReadVersion]) async -> Int {
        let began = session
        var count = 0
        do {
            for start in stride(from: 0, to: versions.count, by: 200) {
                let news = versions[start..<min(start + 200, versions.count)].filter(isLastWord)
                let found = try await decode(
                    news.map { ShownContents(name: $0.name, shown: $0.handle, known: nil) },
                    { [model] in try model.check($0) }
                )
                guard began == session else { return 0 }
                let inVain = news.filter(isLastWord).compactMap { version -> ReadVersion? in
                    guard let one = found[named: version.name], one.value == nil else { return nil }
                    return one.inVain
                }
                if !inVain.isEmpty { process(.calls(.decodeFailed(inVain))) }
                count += inVain.count
            }
        } catch {
            tellUnreadable("What was fetched cannot be read from the disk now: \(error)")
        }
        return count
    }

    /// Whether this is the cloud's latest known version; older versions may no longer be on disk.
    private func isLastWord(_ version: ReadVersion) -> Bool {
        machine?.state[version.name]?.known?.handle == version.handle
    }

    /// Reports contents that cannot be decoded, once.
    func tellUndecodable<Value>(_ found: [ExactName: DecodedContents<Value>]) {
        let inVain = found.sorted { $0.key < $1.key }.compactMap {
            $0.value.value == nil ? $0.value.inVain : nil
        }
        if !inVain.isEmpty { process(.calls(.decodeFailed(inVain))) }
    }

    /// Loads and decodes contents, in parts.
    ///
    /// - Throws: ``SyncError`` if they cannot be read; `CancellationError` if the task is cancelled.
    func decode<Value: Sendable>(
        _ wanted: [ShownContents],
        _ decode: @escaping Decode<Value>
    ) async throws -> [ExactName: DecodedContents<Value>] {
        guard !wanted.isEmpty else { return [:] }
        guard let journal else { throw SyncError.closed }
        return try await reading { try await Self.decode(wanted, from: journal, model, decode) }
    }

    @concurrent
    private static func decode<Value: Sendable>(
        _ wanted: [ShownContents],
        from journal: JournalDisk,
        _ model: any SyncedModel,
        _ decode: Decode<Value>
    ) async throws -> [ExactName: DecodedContents<Value>] {
        var found: [ExactName: DecodedContents<Value>] = [:]
        for start in stride(from: 0, to: wanted.count, by: JournalDisk.readingPart) {
            let part = wanted[start..<min(start + JournalDisk.readingPart, wanted.count)]
            let contents = try await journal.load(part.flatMap { [$0.shown, $0.base].compactMap { $0 } })
            for one in part { found[named: one.name] = one.decoded(from: contents, model, decode) }
        }
        return found
    }

    /// The error of a call that could not read its contents from the files.
    func unreadable(_ error: any Error) -> SyncError {
        if case .closed = phase { .closed } else { .stateUnreadable("\(error)") }
    }
}

/// The result of a read, and the note about what the app was given.
struct ReadResult<Value: Sendable>: Sendable {
    var values: [Value]
    var note: CallQueue.Note
    /// What could not be decoded.
    var undecodable: [ReadVersion]
    /// What is known of the only record if it is not shown.
    var absence: Absence
}

extension EditBasis {
    /// The contents to decode for an edit.
    var contents: ShownContents? {
        shown.map { ShownContents(name: name, shown: $0, known: known, base: base == $0 ? nil : base) }
    }
}
