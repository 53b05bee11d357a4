import RecordCoding

/// What the database's change feed says about the engine's zone.
package struct ZoneFate: Equatable, Sendable {
    package var reason: DatabaseChanges.Deletion.Reason?
    package var token: ChangeToken?
    /// Whether the feed was read from its beginning, so that it may report the loss of a much earlier zone.
    private var isWholeHistory: Bool
    /// Whether an engine deleted the zone to replace it.
    private var isReplaced = false

    package init(reason: DatabaseChanges.Deletion.Reason?, token: ChangeToken?) {
        self.reason = reason
        self.token = token
        isWholeHistory = token == nil
    }

    /// Evaluates the next page of the feed; changes to other zones are ignored.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - zoneID: The engine's zone.
    /// - Returns: Whether there is another page to read.
    package mutating func take(_ page: DatabaseChanges, about zoneID: ZoneID) -> Bool {
        if let deletion = page.deletions.last(where: { $0.zoneID.isSameZone(as: zoneID) }) {
            reason = deletion.reason
        }
        // The zone was recreated after the deletion. From a known position, the deletion still concerns this
        // device's zone; from the beginning of the feed, it may be older than that zone. A purge counts in
        // either case.
        let isRecreated = page.modifications.contains { $0.isSameZone(as: zoneID) }
        if isRecreated, isWholeHistory, reason != .purged { reason = nil }
        if page.modifications.contains(where: { $0.isReplacementMark(of: zoneID) }) { isReplaced = true }
        takeReplacement()
        let isStuck = page.changeToken == token
        token = page.changeToken
        return page.moreComing && !isStuck
    }

    /// Treats a deletion that replaces the zone as a reset.
    ///
    /// Such a deletion may reach the server late and delete a zone that another device has just made.
    private mutating func takeReplacement() {
        guard isReplaced, reason != .purged else { return }
        // In the whole history, the mark may be older than everything that this device knows.
        if reason != nil || !isWholeHistory { reason = .encryptedDataReset }
    }
}

/// The mark of a replaced zone: an empty zone that appears in the database's feed together with the deletion.
///
/// A feed reports only the last deletion of a zone. Without a mark, the deletion by an engine that replaces
/// the zone after a reset looks like a deliberate deletion of all records.
extension ZoneID {
    /// The common prefix of all marks.
    private static var markOfReplaced: String { "codableSyncReplaced" }

    /// The zone ID of a mark with a number that was not used before.
    package func replacementMark(_ number: UInt64) -> ZoneID {
        ZoneID(zoneName: markPrefix + String(number, radix: 36), ownerName: ownerName)
    }

    /// Whether this is a mark of a zone.
    package func isReplacementMark(of zoneID: ZoneID) -> Bool {
        guard zoneName.hasPrefix(zoneID.markPrefix) else { return false }
        let number = zoneName.dropFirst(zoneID.markPrefix.count)
        return UInt64(number, radix: 36) != nil
    }

    /// The prefix of this zone's marks; a very long zone name is cut off, so that the mark's name is valid.
    private var markPrefix: String { "\(Self.markOfReplaced).\(zoneName.prefix(200))." }
}
