/// What a restart forgets about the zone and the database's feed.
struct ZoneProgress: Sendable {
    /// If the zone is missing more often in a row than this, there is a wait before the next attempt.
    static var maximumLosses: Int { 3 }

    /// The zone.
    let number: ZoneNumber
    /// The error that put the zone in doubt; requests for records pause until the zone has been examined.
    var doubt: CloudError?
    /// Whether the account was checked again because of the doubt: another user's database lacks the zone too.
    var isOwnerChecked = false
    /// A response held until the database's feed rules out that it comes from another zone.
    var held: (request: RequestID, result: CloudResult)?
    /// Whether the database turned out to have no feed since the engine was opened.
    var hasNoFeed = false
    /// Whether the position in the feed is lost, so that the feed is read from its beginning.
    var isFeedPositionLost = false
    /// How often reading the database's feed failed with an unknown error.
    var unknownFeedErrors = 0
    /// How often in a row the zone was missing.
    var losses = 0

    init(_ number: ZoneNumber) {
        self.number = number
    }

    /// Whether a response is held and its contents are still needed.
    var holdsResponse: Bool { held != nil }

    var holdsPage: Bool { if case .success(.page)? = held?.result { true } else { false } }

    /// Whether the zone exists, and only the feed can show whether it was replaced.
    var isOnlyAsked: Bool { doubt?.recovery == .refetch }

    /// Whether the zone exists, and the position in the feed is known, if there is a feed.
    func isReady(_ state: SyncState) -> Bool {
        guard state.zone(number).stage == .ready, doubt == nil else { return false }
        return !isFeedPositionMissing(state)
    }

    /// Whether the feed's position must be read before any record becomes known; a database without a feed
    /// has none.
    func isFeedPositionMissing(_ state: SyncState) -> Bool {
        !hasNoFeed && state.summary.databaseToken == nil
    }
}
