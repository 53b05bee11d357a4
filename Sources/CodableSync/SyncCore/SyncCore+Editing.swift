import RecordCoding

/// Edits of what this device shows.
extension SyncCore {
    /// Waits for a call's turn, and decodes what this device shows of the records that it edits.
    ///
    /// - Parameters:
    ///   - names: The records' names.
    ///   - ticket: The call's place.
    ///   - decode: Decodes a record.
    ///   - missing: Gives what to edit if reads show nothing, or throws.
    /// - Returns: What to edit, and the bases of the edits.
    /// - Throws: ``SyncError``; what `missing` throws; `CancellationError`.
    func contentsToEdit<Value: Sendable>(
        _ names: [String],
        _ ticket: CallQueue.Ticket,
        _ decode: @escaping Decode<Value>,
        missing: @Sendable (Int, EditBasis) throws -> Value
    ) async throws -> ContentsToEdit<Value> {
        try await enter(ticket)
        while true {
            let bases = try current(names)
            for basis in bases { try checkReadable(basis) }
            let found = try await self.decode(bases.compactMap(\.contents), decode)
            guard try current(names) == bases else { continue }
            reportUndecodable(found)
            let values = try bases.enumerated().map { index, basis in
                guard basis.shown != nil else { return try missing(index, basis) }
                let decoded = found[named: basis.name]
                if let value = decoded?.value { return value }
                throw SyncError.recordUndecodable(basis.name, reason: decoded?.reason ?? "")
            }
            return ContentsToEdit(bases: bases, values: values)
        }
    }

    /// Queues edits, and returns `false` if their records have changed since the closure got them.
    func queue(
        _ records: [(place: Int, record: Record)],
        on bases: [EditBasis],
        _ ticket: CallQueue.Ticket
    ) async throws -> Bool {
        try await enter(ticket)
        let names = bases.map(\.name)
        guard try current(names) == bases else { return false }
        var contents: [ContentHandle: Record] = [:]
        let left = bases.indices.filter { index in !records.contains { $0.place == index } }.map { names[$0] }
        let changes = records.map { place, record in
            let handle = newHandle()
            contents[handle] = record
            return NewChange(saving: record, as: handle, edited: ticket.date, basis: bases[place].on)
        }
        try await call(contents: contents, ticket) { .enqueue($0, changes, leaving: left) }
        return true
    }

    /// Throws if a newer version of the app has written the latest version of a record.
    private func checkReadable(_ basis: EditBasis) throws {
        guard let newer = basis.newer else { return }
        let gap = NewerSchema(found: newer, known: SchemaVersion(model.schemaVersion))
        throw SyncError.recordUndecodable(basis.name, reason: gap.description)
    }

    /// The bases of edits of these records.
    func current(_ names: [String]) throws -> [EditBasis] {
        guard let machine else { throw SyncError.closed }
        return names.map { machine.editBasis(of: $0) }
    }
}

/// What a call edits, and the bases of its edits.
struct ContentsToEdit<Value: Sendable>: Sendable {
    var bases: [EditBasis]
    var values: [Value]
}
