import Foundation
import XCTest

@testable import RecordCoding

/// Decoding, encoding and decoding again gives the same record, for random records and random texts.
final class RecordJSONPropertyTests: XCTestCase {
    private let rounds = Cases.sample(400, of: 4000)

    /// Asserts that a decoded record survives encoding and decoding bit for bit.
    private func assertReadsBack(_ record: Record, _ origin: String, line: UInt = #line) {
        let bytes = RecordJSON.encode(record)
        let text = String(decoding: bytes, as: UTF8.self)
        do {
            let back = try RecordJSON.decode(bytes)
            XCTAssertEqual(RecordJSON.encode(back), bytes, "\(origin) -> \(text)", line: line)
            XCTAssertEqual(back.systemFields, record.systemFields, "\(origin) -> \(text)", line: line)
            XCTAssertEqual(back.fields.count, record.fields.count, "\(origin) -> \(text)", line: line)
            for (name, value) in record.fields {
                let isSame = back.fields[name]?.isIdentical(to: value) == true
                XCTAssertTrue(isSame, "\(name): \(origin) -> \(text)", line: line)
            }
        } catch {
            XCTFail("\(error): \(origin) -> \(text)", line: line)
        }
    }

    func testEveryDecodableTextRoundTrips() throws {
        var random = RandomRecords(seed: 21)
        var accepted = 0
        for _ in 0..<rounds {
            let text = random.text()
            guard let record = read(text) else { continue }
            accepted += 1
            assertReadsBack(record, text)
        }
        XCTAssertGreaterThan(accepted, rounds / 10)
        XCTAssertLessThan(accepted, rounds)
    }

    func testEveryRecordWithinTheLimitsRoundTrips() throws {
        var random = RandomRecords(seed: 22)
        var allowed = 0
        for _ in 0..<rounds {
            let record = random.record()
            do {
                try RecordLimits.check(record)
                allowed += 1
            } catch {
                // The encoding of a record beyond the limits is either rejected or decoded to what it says.
                if let back = read(String(decoding: RecordJSON.encode(record), as: UTF8.self)) {
                    assertReadsBack(back, "\(record.fields)")
                }
                continue
            }
            // The first decoding rounds dates to milliseconds.
            assertReadsBack(try RecordJSON.decode(RecordJSON.encode(record)), "\(record.fields)")
        }
        XCTAssertGreaterThan(allowed, rounds / 10)
        XCTAssertLessThan(allowed, rounds)
    }

    /// The system dates are for display only: a date beyond all limits must not make the record unreadable.
    func testSystemDatesBeyondTheLimitsAreDropped() throws {
        for seconds in [Double.nan, .infinity, 1e300, -1e300, 9.3e15, 1e14] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let fields = SystemFields(recordChangeTag: "t", creationDate: date, modificationDate: date)
            let record = Record(recordType: "T", recordID: someID, fields: ["a": 1], systemFields: fields)
            let back = try RecordJSON.decode(RecordJSON.encode(record))
            XCTAssertEqual(back.systemFields?.recordChangeTag, "t", "\(seconds)")
            XCTAssertEqual(back.fields, ["a": 1], "\(seconds)")
            XCTAssertNoThrow(try SystemFields(blob: fields.encodedBlob), "\(seconds)")
        }
    }

    private func read(_ text: String) -> Record? {
        do { return try RecordJSON.decode(text.utf8) } catch { return nil }
    }
}

/// Random records, and texts that look like records, with numbers and characters of every kind.
private struct RandomRecords {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private mutating func integer() -> Int64 {
        let special: [Int64] = [
            0, 1, -1, .max, .min, .max - 1, .min + 1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1,
            9_000_000_000_000_000, -9_000_000_000_000_000, 9_000_000_000_000_001, 978_307_200_000,
            253_402_300_799_999, 253_402_300_800_000, -62_135_769_600_000, -62_135_769_600_001,
        ]
        switch below(3) {
        case 0: return special[below(special.count)]
        case 1: return Int64(bitPattern: random.next()) >> Int64(below(64))
        default: return special[below(special.count)] &+ Int64(below(2001)) &- 1000
        }
    }

    private mutating func double() -> Double {
        let special: [Double] = [
            0, -0.0, 1, 0.1, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity, .nan,
            1e15,
            1e16, 1e17, 1e22, 1e23,
        ]
        return below(2) == 0 ? special[below(special.count)] : Double(bitPattern: random.next())
    }

    private mutating func string() -> String {
        var text = ""
        for _ in 0..<below(6) {
            let ceiling: UInt32 = [0x20, 0x80, 0x800, 0xFFFF, 0x10FFFF][below(5)]
            text.unicodeScalars.append(Unicode.Scalar(UInt32(below(Int(ceiling)))) ?? "\u{FFFD}")
        }
        return text
    }

    private mutating func date() -> Date {
        switch below(4) {
        case 0: Date(timeIntervalSinceReferenceDate: double())
        case 1: Date(timeIntervalSince1970: Double(below(4_000_000_000)) / 3)
        default: Date(milliseconds: integer())
        }
    }

    private mutating func value(_ depth: Int = 0) -> RecordValue {
        switch below(depth > 1 ? 8 : 10) {
        case 0: return .string(string())
        case 1: return .int64(integer())
        case 2: return .double(double())
        case 3: return .date(date())
        case 4: return .bytes(Data(string().utf8))
        case 5:
            return .reference(RecordReference(recordName: "r", action: below(2) == 0 ? .none : .deleteSelf))
        case 6:
            let latitude = below(3) == 0 ? double() : 1.5
            let timestamp = below(2) == 0 ? date() : nil
            return .location(RecordLocation(latitude: latitude, longitude: 2, timestamp: timestamp))
        case 7: return below(4) == 0 ? .null : .asset(RecordAsset(fileChecksum: string(), size: integer()))
        default:
            let first = value(depth + 1)
            return .list((0..<below(3)).map { _ in below(8) == 0 ? value(depth + 1) : first })
        }
    }

    mutating func record() -> Record {
        var record = Record(
            recordType: "T",
            recordID: RecordID(recordName: below(9) == 0 ? string() : "a", zoneID: ZoneID(zoneName: "Z"))
        )
        for index in 0..<below(5) { record.fields[below(9) == 0 ? string() : "f\(index)"] = value() }
        if below(2) == 0 {
            record.systemFields = SystemFields(
                recordChangeTag: string(),
                creationDate: below(2) == 0 ? date() : nil,
                modificationDate: below(2) == 0 ? date() : nil,
                archive: below(2) == 0 ? Data(string().utf8) : nil
            )
        }
        return record
    }

    // MARK: Texts

    private mutating func number() -> String {
        switch below(6) {
        case 0: double().description
        case 1: "\(integer()).\(below(1000))"
        case 2: "\(integer())e\(below(700) - 350)"
        case 3: String(repeating: "9", count: below(30)) + "9"
        default: "\(integer())"
        }
    }

    private mutating func quoted() -> String {
        var writer = JSONWriter(reserving: 16)
        writer.string(string())
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private mutating func valueText(_ depth: Int = 0) -> String {
        switch below(depth > 1 ? 8 : 9) {
        case 0: return quoted()
        case 1: return number()
        case 2: return #"{"date":\#(number())}"#
        case 3: return #"{"bytes":"\#(Data(string().utf8).base64EncodedString())"}"#
        case 4: return #"{"location":{"latitude":\#(number()),"longitude":1,"timestamp":\#(number())}}"#
        case 5: return #"{"asset":{"size":\#(number())}}"#
        case 6: return #"{"reference":{"name":\#(quoted())}}"#
        case 7: return below(4) == 0 ? "null" : #"{"double":"nan"}"#
        default: return "[" + (0..<below(3)).map { _ in valueText(depth + 1) }.joined(separator: ",") + "]"
        }
    }

    mutating func text() -> String {
        var text = #"{"name":\#(quoted()),"zone":"Z","type":"T""#
        if below(3) == 0 {
            text += #","system":{"tag":\#(quoted()),"created":\#(number()),"modified":\#(number())}"#
        }
        let fields = (0..<below(3)).map { "\"f\($0)\":\(valueText())" }
        return text + #","fields":{"# + fields.joined(separator: ",") + "}}"
    }
}
