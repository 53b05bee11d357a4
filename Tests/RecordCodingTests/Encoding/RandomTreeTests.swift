import Foundation
import XCTest

@testable import RecordCoding

/// Random values of random types: each comes back as it was, and as Foundation's JSON coders give it back.
///
/// `SEEDS=5000..<5100` in the environment runs other seeds; `Scripts/check-trees` runs 100000.
final class RandomTreeTests: XCTestCase {
    func testRandomTreesRoundTrip() throws {
        var agreements = 0
        let seeds = try Seeds.named(first: 400, of: 0..<100_000)
        for seed in seeds {
            var random = RandomTrees(seed: seed)
            let type = random.model()
            agreements += check(type, &random, "SEEDS='\(seed)..<\(seed + 1)', \(type)") ? 1 : 0
        }
        // Foundation accepts nearly all of them.
        XCTAssertGreaterThanOrEqual(agreements, seeds.count * 9 / 10)
    }

    /// Checks a random value of a type; whether Foundation's coders code it too.
    private func check<Value: Arbitrary>(
        _ type: Value.Type,
        _ random: inout RandomTrees,
        _ story: String
    ) -> Bool {
        let value = Value.random(&random)
        do {
            let record = try RecordEncoder().encode(value, recordType: "T", recordID: someID)
            let back = try RecordDecoder().decode(type, from: record)
            XCTAssertEqual(back, value, story)
            // The collections of the decoded value have another order in memory.
            try assertIdentical(
                RecordEncoder().encode(back, recordType: "T", recordID: someID),
                record,
                story
            )

            let line = try RecordJSON.decode(RecordJSON.encode(record))
            assertIdentical(line, record, story)
            XCTAssertEqual(try RecordDecoder().decode(type, from: line), value, story)

            guard let json = foundation(value) else { return false }
            XCTAssertEqual(json, back, story)
            return true
        } catch {
            XCTFail("\(story): \(value): \(error)")
            return false
        }
    }

    private func assertIdentical(_ record: Record, _ other: Record, _ story: String) {
        XCTAssertEqual(record.fields.count, other.fields.count, story)
        for (name, value) in record.fields {
            XCTAssertTrue(other.fields[name]?.isIdentical(to: value) == true, "\(story): \(name): \(value)")
        }
    }

    /// What Foundation's coders make of a value; `nil` if they refuse it.
    private func foundation<Value: Codable>(_ value: Value) -> Value? {
        do {
            return try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
        } catch {
            return nil
        }
    }
}
