import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// A value may keep its decoder, and use it when other values are decoded, or when all are.
final class KeptDecoderTests: XCTestCase {
    private struct Keeping: Decodable {
        var decoder: any Decoder
        var keyed: KeyedDecodingContainer<AnyKey>
        init(from decoder: any Decoder) throws {
            self.decoder = decoder
            keyed = try decoder.container(keyedBy: AnyKey.self)
        }
    }

    func testADecoderThatIsKeptStillReadsItsValue() throws {
        let fields: [String: RecordValue] = [
            "a": .bytes(Data(#"{"x":[1,2],"y":"text"}"#.utf8)), "b": .bytes(Data(#"{"y":"other"}"#.utf8)),
        ]
        let kept = try decoded([String: Keeping].self, fields)
        let a = try XCTUnwrap(kept["a"])
        let b = try XCTUnwrap(kept["b"])
        XCTAssertEqual(try a.keyed.decode([Int].self, forKey: AnyKey("x")), [1, 2])
        XCTAssertEqual(try b.keyed.decode(String.self, forKey: AnyKey("y")), "other")
        XCTAssertEqual(try a.keyed.decode(String.self, forKey: AnyKey("y")), "text")
        XCTAssertEqual(try b.decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue), ["y"])
        XCTAssertEqual(a.keyed.codingPath.map(\.stringValue), ["a"])
        XCTAssertThrowsError(try a.decoder.unkeyedContainer())
        XCTAssertFalse(try a.decoder.singleValueContainer().decodeNil())
        var list = try a.keyed.nestedUnkeyedContainer(forKey: AnyKey("x"))
        XCTAssertEqual([try list.decode(Int.self), try list.decode(Int.self)], [1, 2])
        XCTAssertThrowsError(try list.decode(Int.self))
        XCTAssertThrowsError(try list.decodeNil())
    }

    func testTheContainerOfTheFieldsThatIsKeptStillReadsThem() throws {
        let kept = try decoded(Keeping.self, ["a": 1, "b": .bytes(Data("[[5]]".utf8))])
        XCTAssertEqual(try kept.keyed.decode(Int.self, forKey: AnyKey("a")), 1)
        XCTAssertEqual(try kept.keyed.decode([[Int]].self, forKey: AnyKey("b")), [[5]])
    }

    /// A type that is stored as its text, and keeps its decoder while it does so.
    private struct Single: Decodable {
        final class Kept: @unchecked Sendable {
            var decoders: [any Decoder] = []
        }
        @TaskLocal static var kept: Kept?
        init(from decoder: any Decoder) throws {
            _ = try decoder.singleValueContainer().decode(String.self)
            Single.kept?.decoders.append(decoder)
        }
    }

    private struct Reading: Decodable {
        var containers: [Bool] = []
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            for other in Single.kept?.decoders ?? [] {
                XCTAssertFalse(try other.singleValueContainer().decodeNil(), "it read another value's null")
                XCTAssertThrowsError(try other.singleValueContainer().decode(String.self))
                XCTAssertThrowsError(try other.container(keyedBy: AnyKey.self))
                XCTAssertThrowsError(try other.unkeyedContainer()) { error in
                    let failure = failure { throw error }
                    guard case .unexpectedKind(_, _, found: "another value")? = failure?.error else {
                        return XCTFail("\(error)")
                    }
                }
                containers.append(true)
            }
            do { _ = try container.decode(Int.self) } catch { if !container.decodeNil() { throw error } }
        }
    }

    /// The decoder of a single value has its state in the decoder of the fields, for one value at a time.
    func testAKeptDecoderOfASingleValueReadsNoOtherValue() throws {
        struct Model: Decodable {
            var single: Single
            var reading: Reading
        }
        let kept = Single.Kept()
        let model = try Single.$kept.withValue(kept) {
            try decoded(Model.self, ["single": "a", "reading": .null])
        }
        XCTAssertEqual(model.reading.containers, [true])
        let decoder = try XCTUnwrap(kept.decoders.first)
        XCTAssertFalse(try decoder.singleValueContainer().decodeNil())
        XCTAssertThrowsError(try decoder.unkeyedContainer())
    }
}
