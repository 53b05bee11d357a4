import Foundation
import XCTest

@testable import CodableSync

/// Random stories, repeated by their seed: `SEEDS=5000..<5100` in the environment runs others.
///
/// 10 of each kind, and 40 if all cases are asked for.
final class RandomSyncTests: XCTestCase {
    private func tell<Model: RandomModel>(_ model: Model.Type) async throws {
        var failed: [UInt64] = []
        for seed in try Seeds.named(first: 10, of: 0..<40) {
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

    /// No edit is lost where both sides of a conflict are kept.
    func testEverySetStampThatACallReturnedForIsOnTheServerAtTheEnd() async throws {
        try await tell(StampSet.self)
    }

    /// Nobody's field is set back by somebody else's edit of another field, where no answer is lost.
    func testNoEditOfOneFieldTakesAnotherDevicesFieldBack() async throws {
        try await tell(FieldPerDevice.self)
    }
}
