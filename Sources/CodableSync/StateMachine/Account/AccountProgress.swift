/// What a restart forgets about the account.
struct AccountProgress: Sendable {
    /// How long an account look-up is valid; it expires because the signal of a change may be lost.
    static var validity: Duration { .seconds(300) }
    /// How long an account look-up is valid for a response that may come from another user's cloud.
    static var validityInDoubt: Duration { .seconds(10) }

    var stage = AccountStage.unknown
    /// Whether the state of the user who is now signed in is being opened.
    var isSwitching = false
    /// The former user, while the app has not been notified of the switch.
    var formerUserToTell: String?
    /// Why the other user's state could not be opened.
    var switchFailure: SyncError?
    /// When the account was last confirmed to be the owner's.
    var confirmedAt: Duration?
    /// Whether to check the account again, because it may have changed while a user's state was being opened.
    var mustLookAgain = false
    /// The status that was reported last.
    var reported: AccountStatus?

    var isConfirmed: Bool { if case .confirmed = stage { true } else { false } }

    /// Whether the account is unknown, or another user's state could not be opened: they may have signed out
    /// since.
    var mustLookUp: Bool {
        switch stage {
        case .unknown: true
        case .other: !isSwitching
        case .unavailable, .confirmed: false
        }
    }

    /// Whether the account was confirmed, and that is too long ago.
    func isStale(after validity: Duration, at now: Moment) -> Bool {
        guard isConfirmed, let confirmedAt else { return false }
        return now.monotonic - confirmedAt >= validity
    }

    /// Forgets that there is no usable account, so that it is looked up.
    mutating func forgetUnavailability() {
        if case .unavailable = stage { stage = .unknown }
    }
}
