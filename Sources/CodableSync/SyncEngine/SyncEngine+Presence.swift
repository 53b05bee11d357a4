import RecordCoding

/// Finding out whether a record exists.
extension SyncEngine {
    /// Reads one model, or why there is none.
    ///
    /// ```swift
    /// switch try await engine.presence(named: id) {
    /// case .here(let note): show(note)
    /// case .undecodable: show("Update the app to see this note.")
    /// default: dismiss()
    /// }
    /// ```
    ///
    /// - Parameter name: The record's name.
    /// - Returns: What this device knows about the record.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    public func presence(named name: String) async throws -> RecordPresence<Model> {
        let coding = hub.coding
        let read = try await core.read([name]) { try coding.decode($0) }
        if let model = read.values.first { return .here(model) }
        if !read.undecodable.isEmpty { return .undecodable }
        switch read.absence {
        case .deleted: return .deleted
        case .tooNew: return .undecodable
        case .unknown: return .unknown
        }
    }
}
