import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Names are compared byte by byte: to a server, two Unicode forms of a text are different names.
final class NameIdentityTests: XCTestCase {
    /// Names that are equal as Swift strings.
    private let pairs = [
        ("caf\u{E9}", "cafe\u{301}"), ("K", "\u{212A}"), (";", "\u{37E}"), ("\u{C5}", "\u{212B}"),
    ]

    func testRecordIDsWithDifferentBytesAreDifferent() {
        for (one, other) in pairs {
            XCTAssertEqual(one, other)
            XCTAssertNotEqual(RecordID(recordName: one), RecordID(recordName: other), one)
            XCTAssertEqual(Set([RecordID(recordName: one), RecordID(recordName: other)]).count, 2, one)
        }
        XCTAssertEqual(RecordID(recordName: "caf\u{E9}"), RecordID(recordName: "caf\u{E9}"))
    }

    func testTheOrderOfRecordIDsMatchesTheirEquality() {
        for (one, other) in pairs {
            let (one, other) = (RecordID(recordName: one), RecordID(recordName: other))
            XCTAssertNotEqual(one < other, other < one)
            XCTAssertFalse(one < one)
        }
        let zones = pairs.flatMap { [$0, $1] }.map { RecordID(recordName: "a", zoneID: ZoneID(zoneName: $0)) }
        XCTAssertEqual(Set(zones.sorted()).count, zones.count)
    }

    func testZoneIDsWithDifferentBytesAreDifferent() {
        for (one, other) in pairs {
            XCTAssertNotEqual(ZoneID(zoneName: one), ZoneID(zoneName: other), one)
            XCTAssertNotEqual(
                ZoneID(zoneName: "a", ownerName: one),
                ZoneID(zoneName: "a", ownerName: other),
                one
            )
            XCTAssertFalse(ZoneID(zoneName: one).isSameZone(as: ZoneID(zoneName: other)), one)
        }
    }

    func testReferencesWithDifferentBytesAreDifferent() {
        for (one, other) in pairs {
            let (one, other) = (RecordReference(recordName: one), RecordReference(recordName: other))
            XCTAssertNotEqual(one, other)
            XCTAssertFalse(RecordValue.reference(one).isIdentical(to: .reference(other)))
        }
    }

    func testAReferenceToAnInvalidRecordNameIsNotDecoded() {
        for name in ["", "_x", "caf\u{E9}", String(repeating: "x", count: 256)] {
            let value = RecordValue.reference(RecordReference(recordName: name))
            let decodings = [
                { _ = try decoded(Box<RecordReference>.self, ["value": value]) },
                { _ = try decoded(Box<[RecordReference]>.self, ["value": .list([value])]) },
            ]
            for decode in decodings {
                XCTAssertThrowsError(try decode(), name) { error in
                    guard case DecodingError.dataCorrupted(let context) = error,
                        case .invalidName? = context.underlyingError as? RecordCodingError
                    else { return XCTFail("\(error)") }
                }
            }
        }
    }

    func testAFieldIsReadOnlyByItsExactName() {
        // Without the error, the optional would silently take the other field's value or be nil.
        XCTAssertThrowsError(try decoded(Kelvin.self, ["\u{212A}": "theirs"])) { error in
            guard case DecodingError.dataCorrupted(let context) = error,
                case .invalidName? = context.underlyingError as? RecordCodingError
            else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(try decoded(Kelvin.self, ["K": "mine", "other_1": 1]).kelvin, "mine")
    }

    private struct Kelvin: Codable {
        var kelvin: String?

        enum CodingKeys: String, CodingKey {
            case kelvin = "K"
        }
    }
}
