import CodableSync
import RecordCoding

/// The model of the fault test: of shared records, each client writes one number, and all add to one list.
public struct Entry: RecordCodable, Equatable, Sendable {
    /// How many clients a run has, each of which writes one number.
    public static let clientCount = 4

    /// The record's name.
    public var id: String
    /// What the first client has written last.
    public var first = 0
    /// What the second client has written last.
    public var second = 0
    /// What the third client has written last.
    public var third = 0
    /// What the fourth client has written last.
    public var fourth = 0
    /// What the clients have added.
    public var list: [String] = []

    /// Creates a record without numbers.
    ///
    /// - Parameter id: The record's name.
    public init(id: String) {
        self.id = id
    }

    /// The record's name.
    public var recordName: String { id }

    private static let numbers = [\Entry.first, \.second, \.third, \.fourth]

    /// The number that a client writes; there is none for other clients.
    ///
    /// - Parameter client: The client's place, from 0.
    public subscript(client: Int) -> Int {
        get { Self.numbers.indices.contains(client) ? self[keyPath: Self.numbers[client]] : 0 }
        set { if Self.numbers.indices.contains(client) { self[keyPath: Self.numbers[client]] = newValue } }
    }

    /// How many changes are in it, so that a run can tell how far a client is behind.
    public var progress: Int { first + second + third + fourth + list.count }

    /// Merges field by field, and the list as a union.
    ///
    /// - Parameter conflict: Both sides.
    /// - Returns: The merged model.
    /// - Throws: An error if a side can't be coded.
    public static func resolveConflict(_ conflict: Conflict<Entry>) throws -> Entry? {
        var merged = try conflict.merged()
        merged.list = Set(conflict.client.list).union(conflict.server.list).sorted()
        return merged
    }
}
