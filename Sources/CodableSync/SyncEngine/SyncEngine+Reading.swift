import RecordCoding

/// Reads of the current models: the cloud's latest known version, with pending edits on top.
extension SyncEngine {
    /// Reads one model.
    ///
    /// - Parameter name: The record's name.
    /// - Returns: The model; `nil` if there is none, if its deletion is pending, or if it cannot be decoded.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    public func model(named name: String) async throws -> Model? {
        try await models(named: [name]).first
    }

    /// Reads models, in the order of the names; missing ones are skipped.
    ///
    /// - Parameter names: The records' names.
    /// - Returns: The models.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    public func models(named names: [String]) async throws -> [Model] {
        try await read(names)
    }

    /// Reads all models, in the order of their record names.
    ///
    /// Complexity: O(n log n) in the records on this device.
    ///
    /// - Returns: The models. Models that can't be decoded are skipped, and reported once through
    ///   ``SyncEvent/undecodable(recordName:reason:)``.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    public func allModels() async throws -> [Model] {
        try await read(nil)
    }

    private func read(_ names: [String]?) async throws -> [Model] {
        let coding = hub.coding
        return try await core.read(names) { try coding.decode($0) }.values
    }
}
