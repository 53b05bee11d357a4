import RecordCoding

/// Reading unconfirmed changes.
extension SyncEngine {
    /// Returns the changes that the server has not confirmed, parked ones included.
    ///
    /// A parked change has both sides and the reason; ``retry(named:)``, ``discard(named:)`` or a new edit
    /// decides about it.
    ///
    /// Complexity: O(n) in the number of these changes, whose models are all read; ``diagnostics()`` only
    /// counts them.
    ///
    /// - Returns: The changes, in the order in which they are sent; parked ones last.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    public func pendingChanges() async throws -> [PendingChange<Model>] {
        let coding = hub.coding
        return try await core.pendingRecords { try coding.decode($0) }.map { record in
            PendingChange(
                recordName: record.name,
                client: record.client,
                server: record.server,
                isDeletion: record.change.isDeletion,
                edited: record.change.edited,
                stage: .init(record.stage)
            )
        }
    }
}
