import Foundation
import XCTest

@testable import RecordCoding

/// Strings and base64 are written and read many bytes at a time, and no byte is overlooked.
final class JSONTextTests: XCTestCase {
    /// One special character at every place of strings of every length around the size of a step.
    func testACharacterIsEscapedAtEveryPlace() throws {
        let escapes = [
            "\"": #"\""#, "\\": #"\\"#, "\n": #"\n"#, "\u{1F}": #"\u001f"#, "\u{0}": #"\u0000"#, "/": #"\/"#,
            " ": " ", "!": "!", "#": "#", "[": "[", "]": "]", "é": "é", "\u{7F}": "\u{7F}", "漢": "漢",
        ]
        for length in 0..<20 {
            for place in 0...length {
                for (character, escape) in escapes {
                    let (start, end) = (
                        String(repeating: "a", count: place), String(repeating: "b", count: length - place)
                    )
                    let text = start + character + end
                    var writer = JSONWriter(escapesSlashes: true)
                    writer.string(text)
                    XCTAssertEqual(
                        String(decoding: writer.bytes, as: UTF8.self),
                        "\"\(start)\(escape)\(end)\""
                    )
                    // Other bytes follow, as in a line.
                    var reader = JSONReader(Array("[".utf8) + writer.bytes + Array(", \"next\\n\"]".utf8))
                    try reader.beginArray()
                    XCTAssertTrue(try reader.nextElement())
                    XCTAssertTrue(try reader.string().utf8.elementsEqual(text.utf8), "\(text)")
                    XCTAssertTrue(try reader.nextElement())
                    XCTAssertEqual(try reader.string(), "next\n")
                }
            }
        }
    }

    func testInvalidBytesAreRefusedAtEveryPlace() {
        for length in 0..<20 {
            for place in 0...length {
                for byte: UInt8 in [0, 0x1F, 0x80, 0xFF] {
                    var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                    bytes.insert(byte, at: place)
                    let json = Array("\"".utf8) + bytes + Array("\"          ".utf8)
                    var reader = JSONReader(json)
                    XCTAssertThrowsError(try reader.string(), "\(byte) at \(place) of \(length)")
                }
            }
        }
    }

    func testBase64IsThatOfFoundation() {
        var generator = SeededGenerator(seed: 13)
        for length in 0..<50 {
            let data = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
            var writer = JSONWriter()
            writer.base64(data)
            XCTAssertEqual(String(decoding: writer.bytes, as: UTF8.self), "\"\(data.base64EncodedString())\"")
        }
    }
}
