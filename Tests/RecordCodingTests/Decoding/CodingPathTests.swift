import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// The coding paths of decoders and errors, which are put together from the JSON.
final class CodingPathTests: XCTestCase {
    /// A value that notes the path of its decoder.
    private struct Path: Codable, Equatable {
        var keys: [String]
        init(from decoder: any Decoder) throws { keys = decoder.codingPath.map(\.stringValue) }
        func encode(to encoder: any Encoder) throws { try keys.encode(to: encoder) }
    }

    private func bytes(_ json: String) -> RecordValue { .bytes(Data(json.utf8)) }

    func testEachDecoderKnowsItsPath() throws {
        let json = bytes(#"{"a":[{"b":{}},[[],[1,2]]],"c":{"d":{"e":"x"}},"f":0}"#)
        struct Model: Decodable {
            struct A: Decodable {
                var b: Path
            }
            struct C: Decodable {
                var d: [String: Path]
            }
            var paths: [Path] = []
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: AnyKey.self)
                var list = try container.nestedUnkeyedContainer(forKey: AnyKey("a"))
                paths.append(try list.decode(A.self).b)
                XCTAssertEqual(list.codingPath.map(\.stringValue), ["value", "a"])
                paths += try list.decode([[Path]].self).flatMap { $0 }
                paths += try container.decode(C.self, forKey: AnyKey("c")).d.values
                paths.append(try container.decode(Path.self, forKey: AnyKey("f")))
            }
        }
        let paths = try decoded([String: Model].self, ["value": json])["value"]?.paths.map(\.keys)
        XCTAssertEqual(
            paths,
            [
                ["value", "a", "Index 0", "b"], ["value", "a", "Index 1", "Index 1", "Index 0"],
                ["value", "a", "Index 1", "Index 1", "Index 1"], ["value", "c", "d", "e"], ["value", "f"],
            ]
        )
    }

    /// Each field of JSON has its own place, whichever was read before.
    func testEachFieldHasItsOwnPath() throws {
        struct Model: Decodable {
            var a: [String: Path]
            var b: Path
            var c: [[Path]]
            var d: [Path]
        }
        let model = try decoded(
            Model.self,
            [
                "a": bytes(#"{"x":1}"#), "b": bytes("[]"), "c": bytes("[[1,{}]]"),
                "d": [bytes("1"), bytes("[]")],
            ]
        )
        XCTAssertEqual(model.a["x"]?.keys, ["a", "x"])
        XCTAssertEqual(model.b.keys, ["b"])
        XCTAssertEqual(model.c[0][1].keys, ["c", "Index 0", "Index 1"])
        XCTAssertEqual(model.d.map(\.keys), [["d", "Index 0"], ["d", "Index 1"]])
    }

    func testANumberedKeyHasItsNumber() throws {
        struct Numbered: Decodable {
            var number: Int?
            init(from decoder: any Decoder) throws { number = decoder.codingPath.last?.intValue }
        }
        let value = try decoded(Holder<[Int: Numbered]>.self, ["value": bytes(#"{"7":{}}"#)]).value
        XCTAssertEqual(value[7]?.number, 7)
    }

    private struct Holder<Value: Decodable>: Decodable {
        var value: Value
    }

    /// Such a superclass is decoded from a null that is not there.
    func testTheDecoderOfAnAbsentSuperclassHasItsPath() throws {
        struct Child: Decodable {
            var path: Path
            var isNull: Bool
            init(from decoder: any Decoder) throws {
                let parent = try decoder.container(keyedBy: AnyKey.self).superDecoder()
                path = try Path(from: parent)
                isNull = try parent.singleValueContainer().decodeNil()
            }
        }
        let child = try decoded(Holder<[Child]>.self, ["value": bytes("[{},{}]")]).value[1]
        XCTAssertEqual(child.path.keys, ["value", "Index 1", "super"])
        XCTAssertTrue(child.isNull)
        XCTAssertEqual(try decoded(Child.self, [:]).path.keys, ["super"])
    }

    func testAnErrorInALaterTextOfARecordHasItsOwnPlaceAndOffset() throws {
        struct Model: Decodable {
            var a: [String: Int]
            var b: [String: Int]
        }
        let failure = failure {
            _ = try decoded(Model.self, ["a": bytes(#"{"x":1}"#), "b": bytes(#"{"x":1,}"#)])
        }
        XCTAssertEqual(
            failure?.error,
            .malformedJSON(field: "b", reason: "a string was expected at byte 7")
        )
        XCTAssertEqual(failure?.path, ["b"])
    }

    /// A model that tries one type after another reads the text again for each.
    func testATextThatIsReadAgainAfterAnErrorIsTheSame() throws {
        struct Trying: Decodable {
            var value: [String: Int]
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: AnyKey.self)
                let key = AnyKey("value")
                XCTAssertThrowsError(try container.decode([[Int]].self, forKey: AnyKey("bad")))
                XCTAssertThrowsError(try container.decode([[Int]].self, forKey: key))
                XCTAssertThrowsError(try container.decode([String: Path?].self, forKey: AnyKey("bad")))
                value = try container.decode([String: Int].self, forKey: key)
            }
        }
        let fields = ["value": bytes(#"{"a":1}"#), "bad": bytes(#"{"a":[1,2"#)]
        XCTAssertEqual(try decoded(Trying.self, fields).value, ["a": 1])
    }
}
