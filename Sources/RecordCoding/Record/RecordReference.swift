/// A field that points at another record of the same zone and database.
public struct RecordReference: Hashable, Sendable, Codable {
    /// What happens to the record that holds the reference when its target is deleted.
    public enum Action: String, Hashable, Sendable, Codable {
        /// Nothing: the reference is left dangling.
        case none
        /// The record that holds the reference is deleted too, by the server.
        case deleteSelf
    }

    /// The name of the record that is pointed at.
    public var recordName: String

    /// The target's zone; `nil` means the zone of the record that holds the reference.
    public var zoneID: ZoneID?

    /// What the deletion of the target does to the holder.
    public var action: Action

    /// Makes a reference.
    ///
    /// - Parameters:
    ///   - recordName: The name of the record that is pointed at.
    ///   - zoneID: Its zone; the holder's own if left out.
    ///   - action: What the deletion of the target does to the holder.
    public init(recordName: String, zoneID: ZoneID? = nil, action: Action = .none) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.action = action
    }

    /// Whether both point at the same record, by the bytes of its names, with the same action.
    ///
    /// - Parameters:
    ///   - lhs: A reference.
    ///   - rhs: Another reference.
    /// - Returns: Whether they are the same.
    public static func == (lhs: RecordReference, rhs: RecordReference) -> Bool {
        lhs.recordName.isIdentical(to: rhs.recordName) && lhs.zoneID == rhs.zoneID && lhs.action == rhs.action
    }
}
