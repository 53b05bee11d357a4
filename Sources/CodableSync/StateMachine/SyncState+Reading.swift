/// What calls of the app read off the state.
extension SyncState {
    /// The contents that reads show: a pending edit on top of the cloud's last word, or nothing.
    package func shownHandle(of name: String) -> ContentHandle? {
        guard let record = self[name] else { return nil }
        if record.isPendingOnTop { return record.pending?.handle }
        return record.lastKnown?.handle
    }

    /// Every name of which a read may show something, in order.
    ///
    /// Complexity: O(n log n).
    package var sortedNames: [String] { records.sortedNames }

    /// The names with an unconfirmed change: first what can be sent, in order, then what cannot.
    package var pendingNames: [String] {
        // A change that is set aside has its place at the end, also where its record is sent once more.
        sendQueue.names.filter { !parkedQueue.contains($0) } + Array(conflictQueue.names)
            + Array(parkedQueue.names)
    }
}
