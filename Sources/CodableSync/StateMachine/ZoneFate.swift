import RecordCoding

/// What the database's change feed says about the engine's zone.
package struct ZoneFate: Equatable, Sendable {
    package var reason: DatabaseChanges.Deletion.Reason?
    package var token: ChangeToken?
    /// The feed was read from its beginning, so that it may tell of a zone of long ago.
    private var isWholeHistory: Bool

    package init(reason: DatabaseChanges.Deletion.Reason?, token: ChangeToken?) {
        self.reason = reason
        self.token = token
        isWholeHistory = token == nil
    }

    /// Takes in a page of the feed, in order; other zones are none of its business.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - zoneID: The engine's zone.
    /// - Returns: Whether there is another page to be read.
    package mutating func take(_ page: DatabaseChanges, about zoneID: ZoneID) -> Bool {
        if let deletion = page.deletions.last(where: { $0.zoneID.isSameZone(as: zoneID) }) {
            reason = deletion.reason
        }
        // Made anew since. What was read from a known position happened to this device's zone all the same; what
        // was read from the beginning may have happened before it. A purge is asked about in either case.
        let isMadeAnew = page.modifications.contains { $0.isSameZone(as: zoneID) }
        if isMadeAnew, isWholeHistory, reason != .purged { reason = nil }
        let isStuck = page.changeToken == token
        token = page.changeToken
        return page.moreComing && !isStuck
    }
}
