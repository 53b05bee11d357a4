/// A reference to another record in the same zone and database.
public struct RecordReference: Hashable, Sendable, Codable {
    /// What happens to the record that contains the reference when its target is deleted.
    public enum Action: String, Hashable, Sendable, Codable {
        /// Nothing: the reference is left dangling.
        case none
        /// The server also deletes the record that contains the reference.
        case deleteSelf
    }

    /// The name of the target record.
    public var recordName: String

    /// The target's zone; `nil` means the zone of the record that contains the reference.
    ///
    /// An engine uploads only references without one, since a reference can't leave the zone of its record.
    public var zoneID: ZoneID?

    /// What happens when the target is deleted.
    public var action: Action

    /// Creates a reference to a record.
    ///
    /// - Parameters:
    ///   - recordName: The name of the target record.
    ///   - zoneID: The target's zone; by default, the zone of the record that contains the reference.
    ///   - action: What happens when the target is deleted.
    public init(recordName: String, zoneID: ZoneID? = nil, action: Action = .none) {
        self.recordName = recordName
        self.zoneID = zoneID
        self.action = action
    }

    /// Whether both refer to the same record, compared by the bytes of its names, with the same action.
    ///
    /// - Parameters:
    ///   - lhs: A reference.
    ///   - rhs: Another reference.
    /// - Returns: Whether they are the same.
    public static func == (lhs: RecordReference, rhs: RecordReference) -> Bool {
        lhs.recordName.isIdentical(to: rhs.recordName) && lhs.zoneID == rhs.zoneID && lhs.action == rhs.action
    }
}
