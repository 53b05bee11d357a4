import Foundation
import XCTest

@testable import RecordCoding

/// Random changes to the JSON of a nested value never trap, and Foundation's decoder agrees about the result.
final class MutatedJSONTests: XCTestCase {
    private struct Tree: Codable, Equatable {
        struct Point: Codable, Equatable {
            var x: Double
            var y: Int8?
        }
        enum Kind: String, Codable { case a, b }
        var points: [Point]
        var counts: [String: Int?]
        var text: String
        var kinds: [Kind]?
        var flag: Bool?
        var below: [Tree]
        var id: UUID?
    }

    private static let seeds = [
        #"{"below":[{"below":[],"counts":{"é":1},"points":[{"x":-0.5,"y":-128}],"text":"a\u00e9\n"}],"#
            + #""counts":{"":0,"a":1,"b":null,"b c":-7},"flag":true,"id":"0F3C7A52-95D1-4C1B-9E5E-2E9C7F1B6A10","#
            + #""kinds":["a","b"],"points":[{"x":1,"y":2},{"x":2.5e3,"y":null},{"x":0.1}],"text":"é👩‍👩‍👧 \"q\""}"#,
        #"{"text":"","points":[],"counts":{},"below":[{"points":[{"y":1,"x":12345678901234567890}],"text":"x","#
            + #""below":[],"counts":{"z":9,"y":8,"x":7}}]}"#,
    ].map { Array($0.utf8) }

    func testFoundationAgreesAboutMutatedTexts() throws {
        var generator = SeededGenerator(seed: 11)
        var accepted = 0
        for round in 0..<Cases.sample(1500, of: 100_000) {
            let bytes = mutated(MutatedJSONTests.seeds[round % 2], &generator)
            let text = String(decoding: bytes, as: UTF8.self)
            let mine = Result { try decoded(Box<Tree>.self, ["value": .bytes(Data(bytes))]).value }
            let theirs = Result { try JSONDecoder().decode(Tree.self, from: Data(bytes)) }
            switch (mine, theirs) {
            case (.success(let mine), .success(let theirs)):
                accepted += 1
                // Foundation keeps another one of repeated members.
                if mine != theirs { XCTAssertTrue(hasRepeatedKeys(bytes), text) }
            case (.failure(let error), .failure): XCTAssertTrue(error is DecodingError, text)
            case (.success, .failure(let error)):
                // JSONDecoder refuses 0e3, which is a JSON number, and accepts 0.0e3.
                let other = text.replacingOccurrences(of: ":0e", with: ":0.0e")
                let isAccepted = (try? JSONDecoder().decode(Tree.self, from: Data(other.utf8))) != nil
                XCTAssertTrue(isAccepted || hasRepeatedKeys(bytes), "\(text): \(error)")
            case (.failure(let error), .success):
                // JSONDecoder does not look into strings that it skips, and accepts a comma at an end.
                let whole = Result { try JSONSerialization.jsonObject(with: Data(bytes)) }
                let isValid = !hasCommaAtEnd(bytes) && (try? whole.get()) != nil
                XCTAssertTrue(!isValid || hasRepeatedKeys(bytes), "\(text): \(error)")
            }
        }
        XCTAssertGreaterThan(accepted, 100)
    }

    private func mutated(_ seed: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        let interesting =
            Array(#"{}[]",:\u0123456789eE+-.tfn abxy"#.utf8) + [0, 9, 10, 0x7F, 0x80, 0xC3, 0xED, 0xFF]
        var bytes = seed
        for _ in 0...Int.random(in: 0..<3, using: &generator) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            let byte = interesting.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<8, using: &generator) {
            case 0..<3: bytes[index] = byte
            case 3, 4: bytes.insert(byte, at: index)
            case 5: bytes.remove(at: index)
            case 6:
                // A part of the text stands twice.
                let end = min(index + Int.random(in: 1..<30, using: &generator), bytes.count)
                bytes.insert(contentsOf: bytes[index..<end], at: index)
            default: if byte < 32 { bytes = Array(bytes[..<max(index, 1)]) }
            }
        }
        return bytes
    }

    private func hasCommaAtEnd(_ bytes: [UInt8]) -> Bool {
        let written = withoutStrings(bytes).filter { $0 > 0x20 }
        return zip(written, written.dropFirst()).contains {
            $0 == UInt8(ascii: ",") && "}]".utf8.contains($1)
        }
    }

    /// A text with empty strings.
    private func withoutStrings(_ bytes: [UInt8]) -> [UInt8] {
        var rest: [UInt8] = []
        var (isInString, isEscaped) = (false, false)
        for byte in bytes {
            let isQuote = byte == UInt8(ascii: "\"") && !isEscaped
            if isQuote || !isInString { rest.append(byte) }
            isEscaped = isInString && !isEscaped && byte == UInt8(ascii: "\\")
            if isQuote { isInString.toggle() }
        }
        return rest
    }

    /// Whether an object of a text has two equal keys.
    private func hasRepeatedKeys(_ bytes: [UInt8]) -> Bool {
        var reader = JSONReader(bytes)
        do { return try hasRepeatedKeys(&reader) } catch { return false }
    }

    private func hasRepeatedKeys(_ reader: inout JSONReader) throws -> Bool {
        var isRepeated = false
        switch try reader.kind() {
        case .object:
            var keys: Set<String> = []
            try reader.beginObject()
            while let key = try reader.nextKey() {
                if !keys.insert(key).inserted { isRepeated = true }
                if try hasRepeatedKeys(&reader) { isRepeated = true }
            }
        case .array:
            try reader.beginArray()
            while try reader.nextElement() { if try hasRepeatedKeys(&reader) { isRepeated = true } }
        case .string, .number, .bool, .null: try reader.skipValue()
        }
        return isRepeated
    }
}
