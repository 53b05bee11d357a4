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

    /// The user has signed out; with `removing`, what the cloud has confirmed goes, and comes back in full with the user.
    mutating func applySignedOut(removing: Bool) {
        changeSummary { $0.signOut = removing ? .removed : $0.signOut ?? .kept }
        guard removing else { return }
        for name in sortedNames {
            // An edit that the cloud does not have stays, with the versions that it must be merged with.
            change(name) { record in
                if record.pending == nil { record = RecordState() }
            }
        }
        changeSummary { summary in
            summary.zoneToken = nil
            summary.isListing = false
            summary.holdsRemoved = true
        }
    }
}
