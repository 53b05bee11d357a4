import RecordCoding

/// The owner of the state, and what a sign-out removes from it.
extension SyncState {
    /// Makes a user the owner of everything in the state, including edits made before a user was known.
    mutating func applyClaimed(by user: String) {
        changeSummary { summary in
            summary.user = user
            summary.signOut = nil
        }
    }

    /// Records a sign-out; with `removing`, removes the records that the cloud has, which are fetched again
    /// when the user returns.
    ///
    /// What the cloud does not have stays: edits, versions to be uploaded again after their zone was lost,
    /// and everything while the app must decide about a purge.
    mutating func applySignedOut(removing: Bool) {
        changeSummary { $0.signOut = removing ? .removed : $0.signOut ?? .kept }
        guard removing else { return }
        let summary = summary
        for name in sortedNames {
            // A pending edit stays, together with the versions that it must be merged with.
            change(name) { record in
                if record.pending == nil, record.lost == nil, summary.zone != .purged {
                    record = RecordState()
                }
            }
        }
        changeSummary { summary in
            summary.zoneToken = nil
            summary.isListing = false
            summary.holdsRemoved = true
        }
    }
}
