import CodableSync
import XCTest

/// Random stories of devices on the adapter, fewer than on the fake; `SEEDS=5000..<5100` runs other seeds.
final class CloudKitStoryTests: XCTestCase {
    private func tell<Model: RandomModel>(_ model: Model.Type) async throws {
        var failed: [UInt64] = []
        for seed in try Seeds.named(first: 8, of: 0..<40) {
            var options = RandomStory<Model>.Options()
            // What is uncertain about CloudKit varies with the seed, and is the same for all devices of a story.
            let differences = FakeCloudKit.Differences(
                throwsItemErrors: seed & 1 == 1,
                listsSiblings: seed & 2 == 0,
                hasPlaceholderForUser: seed & 4 == 0,
                namesOwner: seed & 2 == 2,
                wrapsZoneErrors: seed & 4 == 4
            )
            options.connect = { FakeCloudKit($0, differences).database() }
            let story = RandomStory<Model>(seed: seed, options)
            try await story.run()
            if story.failures.isEmpty { continue }
            if failed.isEmpty {
                XCTFail((["seed \(seed)"] + story.log + story.failures).joined(separator: "\n"))
            }
            failed.append(seed)
        }
        XCTAssertEqual(failed, [])
    }

    func testEveryAcknowledgedStampIsOnTheServerAtTheEnd() async throws {
        try await tell(StampSet.self)
    }

    func testAnEditOfOneFieldRevertsNoOtherDevicesField() async throws {
        try await tell(FieldPerDevice.self)
    }
}
