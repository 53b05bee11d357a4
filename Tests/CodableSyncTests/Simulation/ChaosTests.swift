import Foundation
import XCTest

@testable import CodableSync

/// Stories with every kind of fault.
///
/// `SEEDS=5000..<5100` in the environment runs other seeds.
///
/// Runs 4 stories of each kind, or 15 in an exhaustive run.
final class ChaosTests: XCTestCase {
    /// No edit is lost, every device becomes idle, and no engine runs forever.
    func testNoEditIsLostAndAllDevicesBecomeIdle() async throws {
        var failed: [UInt64] = []
        for seed in try Seeds.named(first: 4, of: 0..<15) {
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
