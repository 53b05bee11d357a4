import Foundation
import RecordCoding

/// A model of eight fields of one kind: enough for the kind to weigh more than the record around it.
protocol EightFields: Codable {
    associatedtype Value

    init(a: Value, b: Value, c: Value, d: Value, e: Value, f: Value, g: Value, h: Value)
}

extension EightFields {
    init(_ value: Value) {
        self.init(a: value, b: value, c: value, d: value, e: value, f: value, g: value, h: value)
    }
}

/// A number that is an enum.
enum Priority: Int, Codable { case low, normal, high }

// Written out rather than generic: a property's static type is known to the compiler, as it is in an app's model.
struct Strings: EightFields { var a, b, c, d, e, f, g, h: String }
struct OptionalStrings: EightFields { var a, b, c, d, e, f, g, h: String? }
struct UUIDs: EightFields { var a, b, c, d, e, f, g, h: UUID }
struct URLs: EightFields { var a, b, c, d, e, f, g, h: URL }
struct StringEnums: EightFields { var a, b, c, d, e, f, g, h: FlatLandmark.Category }
struct IntEnums: EightFields { var a, b, c, d, e, f, g, h: Priority }
struct Bools: EightFields { var a, b, c, d, e, f, g, h: Bool }
struct Ints: EightFields { var a, b, c, d, e, f, g, h: Int }
struct SmallInts: EightFields { var a, b, c, d, e, f, g, h: UInt16 }
struct Doubles: EightFields { var a, b, c, d, e, f, g, h: Double }
struct Dates: EightFields { var a, b, c, d, e, f, g, h: Date }
struct Bytes: EightFields { var a, b, c, d, e, f, g, h: Data }
struct StringLists: EightFields { var a, b, c, d, e, f, g, h: [String] }
struct DoubleLists: EightFields { var a, b, c, d, e, f, g, h: [Double] }
struct References: EightFields { var a, b, c, d, e, f, g, h: RecordReference }
struct Locations: EightFields { var a, b, c, d, e, f, g, h: RecordLocation }
struct NestedValues: EightFields { var a, b, c, d, e, f, g, h: FlatLandmark.Coordinate }
struct Dictionaries: EightFields { var a, b, c, d, e, f, g, h: [String: Int] }
