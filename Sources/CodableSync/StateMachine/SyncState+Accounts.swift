import RecordCoding

/// Whose the state is, and what a sign-out leaves of it.
extension SyncState {
    /// Everything that is here, unclaimed edits among it, is this user's, in one step.
    mutating func applyClaimed(by user: String) {
        changeSummary { summary in
            summary.user = user
            summary.signOut = nil
        }
    }

    /// The user has signed out; with `removing`, what the cloud has goes, and comes back in full with the user.
    ///
    /// What the cloud does not have would not come back: edits, what goes up again since its zone was lost, and
    /// everything while the user is to be asked about a purge.
    mutating func applySignedOut(removing: Bool) {
        changeSummary { $0.signOut = removing ? .removed : $0.signOut ?? .kept }
        guard removing else { return }
        let summary = summary
        for name in sortedNames {
            // An edit that the cloud does not have stays, with the versions that it must be merged with.
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
