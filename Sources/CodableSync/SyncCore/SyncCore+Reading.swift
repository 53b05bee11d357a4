import RecordCoding

/// Reads of what this device shows: the cloud's latest known version, with pending edits on top.
///
/// A reader decodes the records itself: the core does not know models.
extension SyncCore {
    /// Decodes a record; called off the actor.
    typealias Decode<Value> = @Sendable (Record) throws -> Value

    /// Reads records.
    ///
    /// A read of all records takes time proportional to their number, so it runs off the actor, on copies of
    /// the table of records.
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
            let began = try await openSession()
            do {
                try await readNow(&read, in: began, decode)
                let result = read.result
                if try await end(result.undecodable, readIn: began) { return result }
            } catch {
                // The state was replaced in the meantime; the next user's models are read.
                if await session == began { throw error }
            }
        }
    }

    /// Looks at the records and decodes them until both are of one moment.
    private nonisolated func readNow<Value: Sendable>(
        _ read: inout RecordRead<Value>,
        in began: Int,
        _ decode: @escaping Decode<Value>
    ) async throws {
        while true {
            let moment = try await moment(of: began)
            read.look(at: moment.records)
            if read.isDone { return }
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
        return session
    }

    private func moment(of began: Int) throws -> (records: RecordView, journal: JournalDisk) {
        guard session == began, let machine, let journal else { throw SyncError.closed }
        return (machine.state.recordView, journal)
    }

    /// Reports what a read could not decode; returns `false` if it read the state of a former user.
    private func end(_ undecodable: [ReadVersion], readIn began: Int) throws -> Bool {
        guard session == began else { return false }
        guard machine != nil else { throw SyncError.closed }
        if !undecodable.isEmpty { process(.calls(.decodeFailed(undecodable))) }
        return true
    }
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
