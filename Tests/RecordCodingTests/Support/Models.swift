import Foundation
@_spi(Reasons) import RecordCoding

/// A model with every kind of property.
struct Everything: RecordCodable, Equatable {
    enum Season: String, Codable, CaseIterable { case spring, autumn }
    enum Level: Int, Codable { case low = 1, high = 9 }
    enum Payload: Codable, Equatable { case text(String), pair(Int, Int), nothing }
    struct Coordinate: Codable, Equatable {
        var latitude: Double
        var longitude: Double
    }

    var id = UUID(uuidString: "0F3C7A52-95D1-4C1B-9E5E-2E9C7F1B6A10") ?? UUID()
    var string = "Fuji é e\u{301} 漢 👩‍👩‍👧 \u{0}"
    var bool = true
    var int = Int.min
    var int8 = Int8.min
    var int16 = Int16.max
    var int32 = Int32.min
    var int64 = Int64.max
    var uint = UInt(Int64.max)
    var uint8 = UInt8.max
    var uint16 = UInt16.max
    var uint32 = UInt32.max
    var uint64 = UInt64(Int64.max)
    var double = 0.1
    var float: Float = 0.1
    var date = Date(timeIntervalSinceReferenceDate: 700_000_000.125)
    var data = Data([0, 255])
    var url = URL(string: "https://example.org/a%20b?c=d#e")
    var season = Season.autumn
    var level = Level.high
    var reference = RecordReference(recordName: "other", zoneID: ZoneID(zoneName: "Z"), action: .deleteSelf)
    var location = RecordLocation(latitude: 1.5, longitude: -2.5, altitude: 3)
    var asset = RecordAsset(fileChecksum: "c", size: 3)
    var file = URL(fileURLWithPath: "/tmp/photo.jpg")
    var coordinate = Coordinate(latitude: 34.9671, longitude: 135.7727)
    var payload = [Payload.text("a/b"), .pair(1, 2), .nothing]
    var dictionary = ["b": 2, "a": 1, "B": 3]
    var decimal = Decimal(string: "12345678901234567890.12345678") ?? 0
    var set: Set<String> = ["x", "y", "z"]
    var strings = ["", "a"]
    var nested = [["a"], []]

    var recordName: String { id.uuidString }

    static func resolveConflict(_ conflict: Conflict<Everything>) throws -> Everything? { nil }
}

/// A small model whose record name is a stored property.
struct Note: RecordCodable, Equatable {
    var recordName = "note-1"
    var title = ""
    var text: String?
    var tags: [String] = []
    var stars = 0

    static func resolveConflict(_ conflict: Conflict<Note>) throws -> Note? { try conflict.merged() }
}

/// A single field with a value of any type.
struct Box<Value: Codable>: Codable {
    var value: Value
}

extension Box: Equatable where Value: Equatable {}

/// A value that encodes itself with a closure.
struct Custom: Encodable {
    var body: (any Encoder) throws -> Void

    func encode(to encoder: any Encoder) throws { try body(encoder) }
}

/// A coding key with any text.
struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

let someID = RecordID(recordName: "record-1")

/// The fields that result from encoding a value.
func fields(_ value: some Encodable) throws -> [String: RecordValue] {
    try RecordEncoder().encode(value, recordType: "Thing", recordID: someID).fields
}

/// A value decoded from fields.
func decoded<T: Decodable>(_ type: T.Type, _ fields: [String: RecordValue]) throws -> T {
    try RecordDecoder().decode(type, from: Record(recordType: "Thing", recordID: someID, fields: fields))
}

/// The typed error and the coding path below an `EncodingError` or a `DecodingError`.
func failure(of body: () throws -> Void) -> (error: RecordCodingError?, path: [String])? {
    do {
        try body()
        return nil
    } catch EncodingError.invalidValue(_, let context) {
        return (context.underlyingError as? RecordCodingError, context.codingPath.map(\.stringValue))
    } catch let error as DecodingError {
        let context: DecodingError.Context
        switch error {
        case .typeMismatch(_, let value), .valueNotFound(_, let value): context = value
        case .keyNotFound(let key, let value):
            context = value
            if value.codingPath.last?.stringValue != key.stringValue { return (nil, []) }
        case .dataCorrupted(let value): context = value
        @unknown default: return (nil, [])
        }
        return (context.underlyingError as? RecordCodingError, context.codingPath.map(\.stringValue))
    } catch {
        return (nil, ["\(error)"])
    }
}
