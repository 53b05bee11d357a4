import Foundation
import XCTest

@testable import RecordCoding

final class JSONTests: XCTestCase {
    func testTheWriterWritesCommasAndNoSpaces() {
        var writer = JSONWriter(reserving: 64)
        writer.beginObject()
        writer.key("a")
        writer.beginArray()
        writer.int(-1)
        writer.uint(.max)
        writer.double(1)
        writer.bool(true)
        writer.null()
        writer.beginArray()
        writer.endArray()
        writer.endArray()
        writer.key("b")
        writer.base64(Data([0, 255]))
        writer.key("c")
        writer.raw("{\"x\":1}".utf8)
        writer.key("d")
        writer.beginObject()
        writer.endObject()
        writer.endObject()
        XCTAssertEqual(
            String(decoding: writer.bytes, as: UTF8.self),
            #"{"a":[-1,18446744073709551615,1.0,true,null,[]],"b":"AP8=","c":{"x":1},"d":{}}"#
        )
    }

    func testUnusualStringsRoundTripByteForByte() throws {
        let strings = [
            "", "plain", "\u{0}", "\u{1}\u{1F}\u{7F}", "\"\\/\n\r\t\u{8}\u{C}", "é", "e\u{301}", "漢字", "👩‍👩‍👧",
            "\u{FFFE}\u{FFFD}",
            "\u{2028}\u{2029}", "mixed \" é \\ 👩‍👩‍👧 \u{0}", "\r\n", "\u{301}starts with a mark", "x\u{1}\u{301}",
        ]
        for string in strings {
            var writer = JSONWriter()
            writer.string(string)
            var reader = JSONReader(writer.bytes)
            XCTAssertEqual(Array(try reader.string().utf8), Array(string.utf8), string)
            try reader.end()
            XCTAssertEqual(try foundationString(writer.bytes), Array(string.utf8), string)
        }
    }

    private func foundationString(_ bytes: [UInt8]) throws -> [UInt8] {
        Array(try JSONDecoder().decode(String.self, from: Data(bytes)).utf8)
    }

    func testEscapesAreRead() throws {
        var reader = JSONReader(Array(#""\"\\\/\b\f\n\r\t\u0041\uD83D\ude00\u0000""#.utf8))
        XCTAssertEqual(try reader.string(), "\"\\/\u{8}\u{C}\n\r\tA😀\u{0}")
    }

    func testTheLargestAndSmallestIntegersRoundTrip() throws {
        for value in [
            0, 1, -1, 9, 10, -10, 1_234_567_890, Int64.max, Int64.min, Int64.max - 1, Int64.min + 1,
        ] {
            var writer = JSONWriter()
            writer.int(value)
            XCTAssertEqual(String(decoding: writer.bytes, as: UTF8.self), String(value))
            var reader = JSONReader(writer.bytes)
            XCTAssertEqual(try reader.int(), value)
        }
        for value in [0, 1, UInt64.max, UInt64.max - 1] {
            var writer = JSONWriter()
            writer.uint(value)
            var reader = JSONReader(writer.bytes)
            XCTAssertEqual(try reader.uint(), value)
        }
    }

    func testDoublesRoundTripToTheLastBit() throws {
        var generator = SeededGenerator(seed: 7)
        var values: [Double] = [
            0, -0.0, 1, 0.1, 1e15, 1e16, 1e22, 1e23, 123_456.789, .leastNonzeroMagnitude,
            .leastNormalMagnitude,
            .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .pi, 9_007_199_254_740_992, 0.3,
            1 / 3,
        ]
        for _ in 0..<8000 {
            let bits = Double(bitPattern: generator.next())
            if bits.isFinite { values.append(bits) }
            values.append(Double(Int64(bitPattern: generator.next()) >> 30) / 1000)
        }
        for value in values {
            var writer = JSONWriter()
            writer.double(value)
            var reader = JSONReader(writer.bytes)
            let text = String(decoding: writer.bytes, as: UTF8.self)
            XCTAssertEqual(try reader.double().bitPattern, value.bitPattern, text)
            XCTAssertTrue(text.contains(".") || text.contains("e"), text)
        }
    }

    func testDoublesAreReadAsByTheStandardLibrary() throws {
        for text in [
            "-0", "0.1e1", "1E5", "1e-5", "123456789012345678901234567890", "0.000000000000000000000001",
            "1e-400", "2.5e+3",
        ] {
            var reader = JSONReader(Array(text.utf8))
            XCTAssertEqual(try reader.double().bitPattern, Double(text)?.bitPattern, text)
        }
    }

    func testBase64RoundTripsAndHasOneEncoding() throws {
        for count in 0..<70 {
            let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) })
            var writer = JSONWriter()
            writer.base64(data)
            XCTAssertEqual(String(decoding: writer.bytes, as: UTF8.self), "\"\(data.base64EncodedString())\"")
            var reader = JSONReader(writer.bytes)
            XCTAssertEqual(try reader.base64(), data)
        }
        var escaped = JSONReader(Array(#""\/\/\/\/""#.utf8))
        XCTAssertEqual(try escaped.base64(), Data([255, 255, 255]))
        for text in [
            "A", "AA", "AAA", "====", "A===", "AB==", "AAB=", "AA=A", "AA A", "AAAA=", "é==", "AA==AAAA",
        ] {
            var reader = JSONReader(Array("\"\(text)\"".utf8))
            XCTAssertThrowsError(try reader.base64(), text)
        }
    }

    func testInvalidJSONIsRejected() {
        let texts: [String] = [
            "", " ", "\u{FEFF}1", "01", "-", "-01", "+1", "1.", ".5", "1e", "1e+", "NaN", "Infinity", "0x10",
            "1 2", "tru", "nul",
            "truex", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:2}", "[", "{",
            "]", "}", "\"", "\"\\", "\"\\x\"",
            "\"\\u12\"", "\"\\u12G4\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\ud800x\"",
            "\"\n\"", "\"\u{1}\"", "'a'", "[1}", "{\"a\":1]",
            "1e5x", "//", "[1]]", "\u{A0}1",
        ]
        for text in texts {
            XCTAssertThrowsError(try skipAll(Array(text.utf8)), text) { XCTAssertTrue($0 is JSONError, text) }
        }
        for bytes: [UInt8] in [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xE2, 0x82, 0x22], [0x22, 0x80, 0x22],
        ] {
            XCTAssertThrowsError(try skipAll(bytes))
            var reader = JSONReader(bytes)
            XCTAssertThrowsError(try reader.string())
        }
    }

    func testIntegersOutOfRangeAreRejected() {
        for text in [
            "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1.0", "1e2", "-0",
            "\"1\"", "99999999999999999999",
        ] {
            var reader = JSONReader(Array(text.utf8))
            XCTAssertThrowsError(try reader.int(), text)
        }
        for text in ["18446744073709551616", "-1", "1.5"] {
            var reader = JSONReader(Array(text.utf8))
            XCTAssertThrowsError(try reader.uint(), text)
        }
        for text in ["1e999", "-1e999", "1e99999999999999999999"] {
            var reader = JSONReader(Array(text.utf8))
            XCTAssertThrowsError(try reader.double(), text)
        }
    }

    func testNestingBeyond64LevelsIsRejected() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(String(repeating: "[", count: depth).utf8)
                + Array(String(repeating: "]", count: depth).utf8)
        }
        XCTAssertNoThrow(try skipAll(nested(64)))
        for depth in [65, 1_000_000] {
            XCTAssertThrowsError(try skipAll(nested(depth))) {
                XCTAssertEqual($0 as? JSONError, JSONError(offset: 65, reason: "the nesting is too deep"))
            }
        }
    }

    func testRawValueReturnsTheRangeOfAValue() throws {
        let text = Array(#" [ {"a" : [1, "]"] } , 2]"#.utf8)
        var reader = JSONReader(text)
        try reader.beginArray()
        XCTAssertTrue(try reader.nextElement())
        XCTAssertEqual(String(decoding: text[try reader.rawValue()], as: UTF8.self), #"{"a" : [1, "]"] }"#)
        XCTAssertTrue(try reader.nextElement())
        XCTAssertEqual(try reader.rawValue(), 23..<24)
        XCTAssertFalse(try reader.nextElement())
        try reader.end()
    }

    func testOffsetsInAPartOfATextAreThoseOfTheWhole() throws {
        let text = Array("xxx[1,2]yyy".utf8)
        var reader = JSONReader(text, in: 3..<8)
        XCTAssertEqual(try reader.rawValue(), 3..<8)
        try reader.end()
        var cut = JSONReader(text, in: 3..<7)
        XCTAssertThrowsError(try cut.skipValue()) { XCTAssertEqual(($0 as? JSONError)?.offset, 7) }
        var outside = JSONReader(text, in: 90..<100)
        XCTAssertThrowsError(try outside.skipValue())
    }

    func testTheErrorForAWrongKindNamesTheExpectedOne() {
        let text = Array("[true,null]".utf8)
        var reader = JSONReader(text)
        XCTAssertThrowsError(try reader.beginObject()) {
            XCTAssertEqual("\($0)", "an object was expected at byte 0")
        }
        XCTAssertThrowsError(try reader.string())
        XCTAssertThrowsError(try reader.int())
        XCTAssertThrowsError(try reader.bool())
        XCTAssertNoThrow(try reader.beginArray())
    }

    /// Random changes to valid texts never trap, and Foundation accepts every text that is accepted here.
    func testMutatedTextsNeverTrapAndNothingInvalidIsAccepted() throws {
        let seeds = [
            #"{"a":[1,-2.5e3,"x\u00e9\n",true,false,null],"b":{"c":"AP8=","d":{}},"é":"👩‍👩‍👧"}"#,
            #"[[[[["\ud83d\ude00"]]]],0,-0.0,1e-7,{"":[]}]"#,
        ].map { Array($0.utf8) }
        var generator = SeededGenerator(seed: 42)
        let interesting =
            Array(#"{}[]",:\u0123456789eE+-.tfn"#.utf8) + [0, 9, 10, 32, 0x7F, 0x80, 0xC3, 0xED, 0xFF]
        for round in 0..<Cases.sample(3000, of: 30_000) {
            var bytes = seeds[round % seeds.count]
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                let byte = interesting.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[index] = byte
                case 1: bytes.insert(byte, at: index)
                case 2 where bytes.count > 1: bytes.remove(at: index)
                default: bytes = Array(bytes[..<max(index, 1)])
                }
            }
            readAllWays(bytes)
            if (try? skipAll(bytes)) != nil {
                XCTAssertNoThrow(
                    try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed),
                    String(decoding: bytes, as: UTF8.self)
                )
            }
        }
    }

    /// Calls every reading function on the same bytes; only a trap can make this fail.
    private func readAllWays(_ bytes: [UInt8]) {
        for start in [0, bytes.count / 2] {
            let readers: [(inout JSONReader) throws -> Void] = [
                { _ = try $0.string() }, { _ = try $0.int() }, { _ = try $0.uint() }, { _ = try $0.double() },
                { _ = try $0.bool() }, { _ = try $0.isNull() }, { _ = try $0.base64() },
                { _ = try $0.nextKey() },
                { _ = try $0.nextElement() }, { _ = try $0.rawValue() }, { try $0.end() },
            ]
            for read in readers {
                var reader = JSONReader(bytes, in: start..<bytes.count)
                for _ in 0..<3 {
                    do { try read(&reader) } catch { XCTAssertTrue(error is JSONError) }
                }
            }
        }
    }

    private func skipAll(_ bytes: [UInt8]) throws {
        var reader = JSONReader(bytes)
        try reader.skipValue()
        try reader.end()
    }
}
