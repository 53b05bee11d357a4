import RecordCoding

/// Reading unconfirmed and parked changes.
extension SyncEngine {
    /// Returns the changes that the server has not confirmed, parked ones included.
    ///
    /// Complexity: O(n) in the number of these changes, whose models are all read; ``diagnostics()`` only
    /// counts them.
    ///
    /// - Returns: The changes, in the order in which they are sent; parked ones last.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    public func pendingChanges() async throws -> [PendingChange<Model>] {
        let coding = face.coding
        return try await core.pendingRecords { try coding.decode($0) }.map { record in
            PendingChange(
                recordName: record.name,
                model: record.client,
                isDeletion: record.change.isDeletion,
                edited: record.change.edited,
                stage: record.stage
            )
        }
    }

    /// Returns the parked changes: both sides, and the reason.
    ///
    /// Complexity: O(n) in the number of these changes, whose models are all read.
    ///
    /// - Returns: The changes, in the order in which they were parked.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    public func parkedChanges() async throws -> [ParkedChange<Model>] {
        let coding = face.coding
        return try await core.pendingRecords(areParked: true) { try coding.decode($0) }.compactMap { record in
            guard let reason = record.change.parked else { return nil }
            return ParkedChange(
                recordName: record.name,
                client: record.client,
                server: record.server,
                reason: reason
            )
        }
    }
}
