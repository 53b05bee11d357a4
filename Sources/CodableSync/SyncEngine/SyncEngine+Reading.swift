import RecordCoding

/// Reads of the current models: the cloud's latest known version, with pending edits on top.
extension SyncEngine {
    /// Reads one model.
    ///
    /// The result counts as given to the app: the next upload is based on it, or has no base if there is no
    /// such record.
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

    /// Reads models, and adds the receipt that the app was given them.
    private func read(_ names: [String]?) async throws -> [Model] {
        let coding = face.coding
        let read = try await core.read(names) { try coding.decode($0) }
        core.callQueue.note(read.receipt)
        return read.values
    }
}
