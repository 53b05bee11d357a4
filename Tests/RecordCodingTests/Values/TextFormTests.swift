import Foundation
import XCTest

@testable import RecordCoding

/// The texts of UUIDs and URLs are made and read faster than by Foundation, and are the same.
final class TextFormTests: XCTestCase {
    func testTheTextOfAUUIDIsThatOfFoundation() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            let id = UUID.random(using: &generator)
            XCTAssertEqual(id.text, id.uuidString)
            XCTAssertEqual(UUID(text: id.uuidString), id)
            XCTAssertEqual(UUID(text: id.uuidString.lowercased()), id)
        }
    }

    func testTextsThatAreNoUUIDsAreRefused() {
        let text = "0F3C7A52-95D1-4C1B-9E5E-2E9C7F1B6A10"
        var wrong = ["", "0F3C7A52", text + "0", " " + text.dropFirst(), "{\(text.dropFirst(2))}"]
        for index in text.indices {
            var changed = text
            changed.replaceSubrange(index...index, with: text[index] == "-" ? "0" : "-")
            wrong.append(changed)
            changed = text
            changed.replaceSubrange(index...index, with: "g")
            wrong.append(changed)
            changed = text
            changed.replaceSubrange(index...index, with: "é")
            wrong.append(changed)
        }
        for text in wrong {
            XCTAssertNil(UUID(text: text), text)
        }
    }

    /// The shorter way must lead to the same text as the longer one.
    func testAPlainAddressIsTheTextOfItsURL() throws {
        var generator = SeededGenerator(seed: 12)
        let characters = Array("aZ09-._~/?=&+,#%: @[]é\\")
        var plain = 0
        for _ in 0..<3000 {
            let rest = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
                characters[Int.random(in: 0..<characters.count, using: &generator)]
            }
            for prefix in ["https://a", "http://0", "https://", "file:///a", ""] {
                let text = prefix + String(rest)
                guard text.isPlainWebAddress else { continue }
                plain += 1
                let url = try XCTUnwrap(URL(string: text), text)
                XCTAssertEqual(url.absoluteString, text)
                XCTAssertFalse(url.isFileURL, text)
            }
        }
        XCTAssertGreaterThan(plain, 300)
        XCTAssertTrue("https://example.org/a?b=c".isPlainWebAddress)
        for text in [
            "", "https://", "https:/a", "HTTPS://a", "file:///a", "https://a b", "https://a#b",
            "https://[::1]",
        ] {
            XCTAssertFalse(text.isPlainWebAddress, text)
        }
    }
}

extension UUID {
    fileprivate static func random(using generator: inout SeededGenerator) -> UUID {
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
