import CodableSync

/// A value that is a set of stamps; a conflict keeps both sides.
struct StampSet: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var stamps: [String] = []

    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<StampSet>) throws -> StampSet? {
        let union = Set(conflict.client.stamps).union(conflict.server.stamps)
        return StampSet(id: conflict.client.id, stamps: union.sorted())
    }
}

/// A value with a field for each device, merged field by field.
struct FieldPerDevice: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    var id: String
    var first: String?
    var second: String?
    var third: String?
    var fourth: String?

    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<FieldPerDevice>) throws -> FieldPerDevice? {
        try conflict.merged()
    }

    mutating func set(_ stamp: String, on device: Int) {
        switch device {
        case 0: first = stamp
        case 1: second = stamp
        case 2: third = stamp
        default: fourth = stamp
        }
    }
}

/// What a random run needs from its model.
protocol RandomModel: RecordCodable, Equatable {
    init(name: String)
    /// Writes a stamp as the user of a device.
    mutating func write(_ stamp: String, on device: Int)
    /// The stamps that are still present.
    var contents: Set<String> { get }
    /// Whether a device's later stamp replaces its earlier one.
    static var replaces: Bool { get }
}

extension StampSet: RandomModel {
    static var replaces: Bool { false }

    init(name: String) { self.init(id: name) }

    mutating func write(_ stamp: String, on device: Int) { stamps.append(stamp) }

    var contents: Set<String> { Set(stamps) }
}

extension FieldPerDevice: RandomModel {
    static var replaces: Bool { true }

    init(name: String) { self.init(id: name) }

    mutating func write(_ stamp: String, on device: Int) { set(stamp, on: device) }

    var contents: Set<String> { Set([first, second, third, fourth].compactMap { $0 }) }
}
