import RecordCoding

/// The owner of the state, and what a sign-out removes from it.
extension SyncState {
    /// Sets the identity of a new state.
    mutating func begin(as identity: StateIdentity) {
        promise()
        changeSummary { $0.identity = identity }
    }

    /// Makes a user the owner of everything in the state, including edits made before the user was known.
    mutating func claim(by user: String) {
        promise()
        changeSummary { summary in
            summary.user = user
            summary.signOut = nil
        }
    }

    /// Makes this state the current one after a switch of users.
    ///
    /// - Parameters:
    ///   - former: The user to name when the app is notified; `nil` if it was notified of their sign-out.
    ///   - count: How many switches have led to this state.
    mutating func enter(from former: String?, switchCount count: UInt64) {
        promise()
        changeSummary { summary in
            summary.switchCount = count
            summary.untoldSwitch = UntoldSwitch(from: former)
        }
    }

    /// Notes that the app was notified of the switch.
    mutating func endUntoldSwitch() {
        promise()
        changeSummary { $0.untoldSwitch = nil }
    }

    /// Notes a sign-out; with `removing`, removes the records that the cloud has, which are fetched again when the
    /// user returns.
    ///
    /// What the cloud does not have stays: edits, versions to be uploaded again after their zone was lost,
    /// and everything in a zone while the app must decide about its purge.
    package mutating func signOut(removing: Bool) {
        promise()
        changeSummary { $0.signOut = removing ? .removed : $0.signOut ?? .kept }
        guard removing else { return }
        image?.removesRecords = true
        for key in records.sortedKeys where zone(key.zone).stage != .purged {
            // A pending edit stays, together with the versions that it must be merged with.
            change(key) { record in
                if record.pending == nil, record.lost == nil { record = RecordState() }
            }
        }
        for number in zones.numbers {
            changeZone(number) { zone in
                zone.token = nil
                zone.isListing = false
            }
        }
        if summary.isFollowed { startOver() }
    }
}
