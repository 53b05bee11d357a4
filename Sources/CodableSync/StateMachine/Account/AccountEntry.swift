import RecordCoding

/// Journal entries about the owner of the state.
package enum AccountEntry: Equatable, Sendable {
    /// The identity of a new state, written once.
    case made(for: StateIdentity)
    /// The user is confirmed, and everything in the state is theirs.
    case claimed(by: String)
    /// A switch of users has made this state the current one; `from` is named when the app is notified.
    case entered(from: String?, switchCount: UInt64)
    /// The app was notified of the switch.
    case switchTold
    /// The user has signed out; with `removing`, what the cloud has confirmed was removed from this device.
    case signedOut(removing: Bool)
}

/// The owner of the state, and what a sign-out removes from it.
extension SyncState {
    mutating func apply(account entry: AccountEntry) {
        switch entry {
        case .made(let identity): changeSummary { $0.identity = identity }
        case .claimed(let user): applyClaimed(by: user)
        case .entered(let former, let count):
            changeSummary { summary in
                summary.switchCount = count
                summary.untoldSwitch = UntoldSwitch(from: former)
            }
        case .switchTold: changeSummary { $0.untoldSwitch = nil }
        case .signedOut(let removing): applySignedOut(removing: removing)
        }
    }

    /// Makes a user the owner of everything in the state, including edits made before the user was known.
    private mutating func applyClaimed(by user: String) {
        changeSummary { summary in
            summary.user = user
            summary.signOut = nil
        }
    }

    /// Records a sign-out; with `removing`, removes the records that the cloud has, which are fetched again
    /// when the user returns.
    ///
    /// What the cloud does not have stays: edits, versions to be uploaded again after their zone was lost,
    /// and everything in a zone while the app must decide about its purge.
    private mutating func applySignedOut(removing: Bool) {
        changeSummary { $0.signOut = removing ? .removed : $0.signOut ?? .kept }
        guard removing else { return }
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
