public import RecordCoding

/// A request as a ``FakeDatabase`` received it, whatever became of it.
public struct FakeRequest: Sendable, Equatable {
    /// The kind of request.
    public var operation: FakeOperation
    /// Who was signed in on the device; `nil` if nobody was.
    public var user: String?
    /// The records to save, as they were sent.
    public var recordsToSave: [Record] = []
    /// The records to delete, or to look up.
    public var recordIDs: [RecordID] = []
    /// The zones to create.
    public var zonesToSave: [ZoneID] = []
    /// The zones to delete, to look up, or to fetch changes of.
    public var zoneIDs: [ZoneID] = []
    /// The save policy; `nil` if it is not a save.
    public var savePolicy: SavePolicy?
    /// Whether it is an atomic save.
    public var isAtomic = false
    /// The position from which changes are asked for.
    public var changeToken: ChangeToken?

    init(_ operation: FakeOperation) {
        self.operation = operation
    }

    /// The names of the records in the request, those to save first.
    public var recordNames: [String] {
        recordsToSave.map(\.recordID.recordName) + recordIDs.map(\.recordName)
    }

    /// The change tags of the records to save; `nil` for one that is new to the client.
    public var changeTags: [String?] { recordsToSave.map(\.recordChangeTag) }

    /// The bytes of field data in the request.
    public var size: Int { recordsToSave.reduce(0) { $0 + $1.size } }
}
