import Foundation
import XCTest

@_spi(Reasons) @testable import RecordCoding

/// Encoders and containers that are used while another value encodes itself, or for too long: nothing of one value
/// gets into another one, and nothing traps.
final class MisusedEncoderTests: XCTestCase {
    private struct Broken: Error {}

    /// A container that several closures fill.
    private final class Kept {
        var keyed: KeyedEncodingContainer<AnyKey>?
        var unkeyed: (any UnkeyedEncodingContainer)?

        func encode(_ value: some Encodable, _ key: String) throws {
            var container = keyed
            try container?.encode(value, forKey: AnyKey(key))
        }

        func append(_ value: some Encodable) throws {
            var container = unkeyed
            try container?.encode(value)
        }
    }

    /// A value that is stored as a date, whatever it encodes.
    private struct DateLike: Codable {
        var body: (any Encoder) throws -> Void

        init(_ body: @escaping (any Encoder) throws -> Void) { self.body = body }

        init(from decoder: any Decoder) throws {
            let date = try decoder.singleValueContainer().decode(Date.self)
            self.init { try $0.singleValueEncode(date) }
        }

        func encode(to encoder: any Encoder) throws { try body(encoder) }
    }

    private func text(_ field: RecordValue?) -> String? {
        guard case .bytes(let data)? = field else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    // MARK: - Values that fill the containers around them

    func testAnElementMayAddAnotherOneBeforeItself() throws {
        let value = Custom { encoder in
            let kept = Kept()
            kept.unkeyed = encoder.unkeyedContainer()
            try kept.append(
                Custom {
                    try kept.append(1)
                    try $0.singleValueEncode(7)
                }
            )
            try kept.append(3)
        }
        XCTAssertEqual(text(try fields(["a": value])["a"]), "[1,7,3]")
    }

    func testAnEmptyMemberMayChangeAfterTheNextOne() throws {
        let decided = Custom { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            let member = container.superEncoder(forKey: AnyKey("a"))
            try container.encode(1, forKey: AnyKey("b"))
            _ = member.unkeyedContainer()
        }
        XCTAssertEqual(text(try fields(["x": decided])["x"]), #"{"a":[],"b":1}"#)
        let filled = Custom { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            var list = container.nestedUnkeyedContainer(forKey: AnyKey("a"))
            try container.encode(1, forKey: AnyKey("b"))
            _ = list.superEncoder()
        }
        XCTAssertEqual(text(try fields(["x": filled])["x"]), #"{"a":[{}],"b":1}"#)
    }

    func testAValueMayDecideWhatAnotherValuesEncoderIs() throws {
        let fields = try fields(
            Custom { encoder in
                let top = Kept()
                top.keyed = encoder.container(keyedBy: AnyKey.self)
                top.unkeyed = top.keyed?.nestedUnkeyedContainer(forKey: AnyKey("list"))
                let value = Custom { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    let member = container.superEncoder(forKey: AnyKey("member"))
                    try top.encode(
                        Custom {
                            _ = member.container(keyedBy: AnyKey.self)
                            var list = $0.unkeyedContainer()
                            try list.encode(5)
                        },
                        "other"
                    )
                    try top.append(7)
                }
                try top.encode(value, "value")
            }
        )
        XCTAssertEqual(text(fields["value"]), #"{"member":{}}"#)
        XCTAssertEqual(text(fields["other"]), "[5]")
        XCTAssertEqual(text(fields["list"]), "[7]")
    }

    /// The outer value gets its node while an inner value encodes itself, and the inner value's nodes are removed.
    func testAnEncoderOfASingleValueInsideAnotherValue() {
        let fields: () throws -> [String: RecordValue] = {
            try RecordCodingTests.fields(
                Custom { encoder in
                    let top = Kept()
                    top.keyed = encoder.container(keyedBy: AnyKey.self)
                    let date = DateLike { outer in
                        try top.encode(
                            Custom {
                                var list = $0.unkeyedContainer()
                                try list.encode(1)
                                try outer.singleValueEncode(2.5)
                            },
                            "other"
                        )
                    }
                    try top.encode(date, "date")
                }
            )
        }
        guard case .unsupportedShape? = failure(of: { _ = try fields() })?.error else {
            return XCTFail("no error")
        }
    }

    // MARK: - After an error

    /// A container of a value that failed, which is filled while another value encodes itself, and later.
    func testAContainerOfAFailedValueChangesNothing() throws {
        let kept = Kept()
        let date = DateLike { encoder in
            var single = encoder.singleValueContainer()
            try? single.encode(
                DateLike {
                    kept.unkeyed = $0.unkeyedContainer()
                    throw Broken()
                }
            )
            try single.encode(2.5)
            try kept.append(1)
        }
        let later = Custom {
            try? kept.append(2)
            try $0.singleValueEncode([1])
        }
        let fields = try? RecordCodingTests.fields(
            Custom { encoder in
                var top = encoder.container(keyedBy: AnyKey.self)
                try top.encode(date, forKey: AnyKey("date"))
                try? kept.append(2)
                try top.encode(later, forKey: AnyKey("later"))
            }
        )
        // The use may be refused; if it is not, it has no effect.
        if let fields {
            XCTAssertEqual(fields["date"], .date(Date(timeIntervalSinceReferenceDate: 2.5)))
            XCTAssertEqual(text(fields["later"]), "[1]")
        }
    }

    // MARK: - References

    private final class Weak {
        weak var object: AnyObject?
    }

    func testAWeakReferenceToAnEncoderReachesNoLaterRecord() throws {
        let weak = Weak()
        let first = try fields(
            Custom { encoder in
                weak.object = encoder as AnyObject
                var container = encoder.container(keyedBy: AnyKey.self)
                try container.encode(1, forKey: AnyKey("a"))
            }
        )
        XCTAssertEqual(first, ["a": .int64(1)])
        let second = try fields(
            Custom { encoder in
                var other = (weak.object as? any Encoder)?.container(keyedBy: AnyKey.self)
                try other?.encode(2, forKey: AnyKey("b"))
                var container = encoder.container(keyedBy: AnyKey.self)
                try container.encode(3, forKey: AnyKey("c"))
            }
        )
        XCTAssertEqual(second, ["c": .int64(3)])
    }

    /// What a type decodes is found out while a value encodes itself.
    private struct Reentrant: Codable {
        @TaskLocal static var container: Container?

        struct Container: @unchecked Sendable {
            let kept: Kept
        }

        init() {}

        init(from decoder: any Decoder) throws {
            try Reentrant.container?.kept.encode(["x": Set([Season.spring])], "during")
            throw Broken()
        }

        func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode("b") }
    }

    func testATypeMayUseAnEncoderWhileItsKindIsDecided() throws {
        let value = Custom { encoder in
            let kept = Kept()
            kept.keyed = encoder.container(keyedBy: AnyKey.self)
            try Reentrant.$container.withValue(Reentrant.Container(kept: kept)) {
                try kept.encode(Reentrant(), "own")
            }
        }
        let fields = try fields(value)
        XCTAssertEqual(text(fields["own"]), #""b""#)
        XCTAssertEqual(text(fields["during"]), #"{"x":["spring"]}"#)
    }

    // MARK: - What is kept

    /// Data that tells when it is no longer in memory.
    private func data(_ released: Released) -> Data {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 100_000, alignment: 1)
        bytes.initializeMemory(as: UInt8.self, repeating: 1, count: 100_000)
        return Data(
            bytesNoCopy: bytes,
            count: 100_000,
            deallocator: .custom { pointer, _ in
                pointer.deallocate()
                released.count += 1
            }
        )
    }

    private final class Released: @unchecked Sendable {
        var count = 0
    }

    /// The first value of a key that is encoded twice, too.
    func testNoValueIsKeptForLaterRecords() throws {
        struct Twice: Encodable {
            var first: Data
            var second: Data
            var key = "a"

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: AnyKey.self)
                try container.encode(first, forKey: AnyKey("a"))
                try container.encode(second, forKey: AnyKey(key))
            }
        }
        let released = Released()
        for round in 1...3 {
            do {
                let fields = try fields(Twice(first: data(released), second: data(released)))
                XCTAssertEqual(fields.count, 1)
            }
            XCTAssertEqual(released.count, 2 * round)
        }
    }
}
