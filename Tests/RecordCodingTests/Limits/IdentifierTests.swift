import XCTest

@testable import RecordCoding

/// The check of names, which tests eight bytes at a time.
final class IdentifierTests: XCTestCase {
    private func isIdentifier(_ bytes: [UInt8]) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { "a"..."z" ~= Character(Unicode.Scalar(byte | 0x20)) }
        func isLegal(_ byte: UInt8) -> Bool {
            byte < 0x80 && (isLetter(byte) || "0"..."9" ~= Character(Unicode.Scalar(byte)) || byte == 0x5F)
        }
        guard let first = bytes.first, bytes.count <= 255 else { return false }
        return first < 0x80 && isLetter(first) && bytes.allSatisfy(isLegal)
    }

    func testEachByteIsTestedAtEachPositionOfEachLength() {
        for length in Array(1...18) + [31, 32, 33, 254, 255, 256] {
            for position in [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, length / 2, length - 1] where position < length {
                for byte: UInt8 in 0..<0x80 {
                    var bytes = [UInt8](repeating: UInt8(ascii: "z"), count: length)
                    bytes[position] = byte
                    let name = String(decoding: bytes, as: UTF8.self)
                    XCTAssertEqual(name.isIdentifier, isIdentifier(bytes), "\(length) \(position) \(byte)")
                }
                var scalars = Array(String(repeating: "z", count: length).unicodeScalars)
                for scalar in ["\u{E9}", "\u{212A}", "\u{10FFFF}"] as [Unicode.Scalar] {
                    scalars[position] = scalar
                    var name = ""
                    name.unicodeScalars.append(contentsOf: scalars)
                    XCTAssertFalse(name.isIdentifier, name)
                }
            }
        }
        XCTAssertFalse("".isIdentifier)
    }
}
