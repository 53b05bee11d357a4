public import RecordCoding

/// A zone: the unit of change feeds and of atomic saves.
public struct RecordZone: Hashable, Sendable {
    /// The zone's name and owner.
    public var zoneID: ZoneID

    /// Creates a zone.
    ///
    /// - Parameter zoneID: The zone's name and owner.
    public init(zoneID: ZoneID) {
        self.zoneID = zoneID
    }
}
