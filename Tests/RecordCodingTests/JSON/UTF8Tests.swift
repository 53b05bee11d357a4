import XCTest

@testable import RecordCoding

/// The check of UTF-8, compared with the standard library, which replaces what is not UTF-8.
final class UTF8Tests: XCTestCase {
    private func check(_ bytes: [UInt8]) {
        let isValid = Array(String(decoding: bytes, as: UTF8.self).utf8) == bytes
        let found = bytes.withUnsafeBufferPointer { JSONText.isUTF8($0[...]) }
        XCTAssertEqual(found, isValid, "\(bytes)")
    }

    func testSequencesOfOneToThreeBytes() {
        // The bounds of the ranges that some rule names, and their neighbours.
        let bytes: [UInt8] = [
            0x00, 0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC,
            0xED,
            0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        check([])
        for first in 0...UInt8.max {
            check([first])
            for second in bytes {
                check([first, second])
                for third in bytes { check([first, second, third]) }
            }
        }
    }

    func testSequencesOfFourBytes() {
        let rest: [UInt8] = [0x61, 0x7F, 0x80, 0x8F, 0x90, 0xBF, 0xC0]
        for first: UInt8 in 0xE0...0xF8 {
            for second in rest {
                for third in rest {
                    for fourth in rest {
                        check([first, second, third, fourth])
                        check([first, second, third, fourth, 0x61])
                    }
                }
            }
        }
    }
}
