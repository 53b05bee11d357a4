import Foundation
import XCTest

@testable import CodableSync

/// Random stories, reproducible by seed.
///
/// `SEEDS=5000..<5100` in the environment runs other seeds.
///
/// Runs 4 stories of each kind, or 40 in an exhaustive run.
final class RandomSyncTests: XCTestCase {
    private func tell<Model: RandomModel>(_ model: Model.Type) async throws {
        var failed: [UInt64] = []
        for seed in try Seeds.named(first: 4, of: 0..<40) {
            let story = RandomStory<Model>(seed: seed)
            try await story.run()
            if story.failures.isEmpty { continue }
            if failed.isEmpty {
                let lines = ["seed \(seed)"] + story.log + story.failures
                XCTFail(lines.joined(separator: "\n"))
            }
            failed.append(seed)
        }
        XCTAssertEqual(failed, [])
    }

    /// No edit is lost if the resolver keeps both sides of a conflict.
    func testEveryAcknowledgedStampIsOnTheServerAtTheEnd() async throws {
        try await tell(StampSet.self)
    }

    /// An edit of one field never reverts another device's field, as long as no answer is lost.
    func testAnEditOfOneFieldRevertsNoOtherDevicesField() async throws {
        try await tell(FieldPerDevice.self)
    }
}
