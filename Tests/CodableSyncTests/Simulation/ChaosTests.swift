import Foundation
import XCTest

@testable import CodableSync

/// Stories in which everything may happen: `SEEDS=5000..<5100` in the environment runs others.
///
/// 6 of each kind, and 15 if all cases are asked for.
final class ChaosTests: XCTestCase {
    /// No edit is lost, no device stands still, and nobody works without an end.
    func testWhateverHappensNoEditIsLostAndEverybodyComesToRest() async throws {
        var failed: [UInt64] = []
        for seed in try Seeds.named(first: 6, of: 0..<15) {
            let story = ChaosStory(seed: seed)
            try await story.run()
            if story.failures.isEmpty { continue }
            if failed.count < 3 {
                let lines = ["seed \(seed)"] + story.log + story.failures
                XCTFail(lines.joined(separator: "\n"))
            }
            failed.append(seed)
            if failed.count > 50 { break }
        }
        XCTAssertEqual(failed, [])
    }
}
