import RecordCoding

/// Reading unconfirmed changes.
extension SyncCore {
    /// Reads the changes that the server has not confirmed, with what can be decoded of both sides.
    ///
    /// - Parameter decode: Decodes a record.
    /// - Returns: The changes, in the order in which they are sent; parked ones last.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    func pendingRecords<Value: Sendable>(
        _ decode: @escaping Decode<Value>
    ) async throws -> [PendingRecord<Value>] {
        try await inOneSession {
            while true {
                do {
                    return try await pendingRecordsNow(decode)
                } catch is OvertakenByCompaction {
                    continue
                }
            }
        }
    }

    private func pendingRecordsNow<Value: Sendable>(
        _ decode: @escaping Decode<Value>
    ) async throws -> [PendingRecord<Value>] {
        guard let machine else { throw SyncError.closed }
        // Collected before the first suspension: keeping a copy of the state would make every change to it
        // slow.
        var servers: [ShownContents] = []
        var records: [PendingRecord<Value>] = []
        for key in machine.state.pendingKeys {
            let name = key.recordName
            guard let record = machine.state[key], let change = record.pending else { continue }
            records.append(PendingRecord(name: name, change: change, stage: machine.stage(of: key)))
            if change.parked != nil, let server = record.lastKnown?.handle {
                servers.append(ShownContents(name: name, shown: server))
            }
        }
        let clients = records.compactMap { record in
            record.change.handle.map {
                ShownContents(name: record.name, shown: $0, base: record.change.base)
            }
        }
        let client = try await decodeIfPossible(clients, decode)
        let server = try await decodeIfPossible(servers, decode)
        for index in records.indices {
            records[index].client = client[named: records[index].name]
            records[index].server = server[named: records[index].name]
        }
        return records
    }

    /// Decodes what can be decoded of these contents, by record name; edits carry the system fields of the
    /// versions that they are based on.
    private func decodeIfPossible<Value: Sendable>(
        _ wanted: [ShownContents],
        _ decode: @escaping Decode<Value>
    ) async throws -> [ExactName: Value] {
        let found = try await self.decode(wanted, decode)
        guard let machine else { throw SyncError.closed }
        let isOvertaken = found.values.contains { one in
            one.isLost && machine.state[one.contents.name]?.holds(one.contents.shown) != true
        }
        if isOvertaken { throw OvertakenByCompaction() }
        return found.compactMapValues(\.value)
    }
}

/// An unconfirmed change, and both sides as far as they could be decoded.
struct PendingRecord<Value: Sendable>: Sendable {
    var name: String
    var change: LocalChange
    var stage: ChangeStage
    /// This device's side.
    var client: Value?
    /// The cloud's side of a parked change.
    var server: Value?
}

/// Thrown if a compaction dropped replaced contents before they were read.
private struct OvertakenByCompaction: Error {}
