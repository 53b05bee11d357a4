/// Diagnostics of the engine for the app.
extension SyncCore {
    func diagnostics() async throws -> SyncDiagnostics {
        try await ready()
        guard let machine, let place else { throw SyncError.closed }
        let state = machine.state
        return SyncDiagnostics(
            cloud: place.location.cloud,
            userRecordName: machine.userRecordName,
            accountStatus: lastAccountStatus,
            status: currentStatus,
            knownCount: state.knownCount,
            pendingCount: state.pendingCount - state.parkedQueue.count,
            parkedCount: state.parkedQueue.count,
            undeliveredCount: machine.undeliveredCount,
            undecodable: machine.undecodableNames,
            lastFetch: state.summary.lastFetch,
            stateDirectory: place.location.shownPath,
            notes: Array(state.notes.suffix(SyncState.maximumNotes))
        )
    }
}
