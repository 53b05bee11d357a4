import Foundation
import XCTest

@testable import CodableSync

/// Random stories of one state machine that account for every edit.
///
/// Most tests run 5 seeds, or 40 in an exhaustive run. `SEEDS=5000..<5100` in the environment selects
/// others.
final class StampTests: XCTestCase {
    private func story(_ seed: UInt64, _ change: (inout StampWorld.Options) -> Void) -> StampWorld {
        var options = StampWorld.Options()
        options.consumes = seed % 2 == 0
        change(&options)
        var world = StampWorld(seed: seed, options)
        for _ in 0..<80 where world.faults.isEmpty { world.step() }
        if world.faults.isEmpty { world.calmDown() }
        return world
    }

    /// Repeats each story once for each of its batches; the disk rejects that batch and up to two after it.
    private func tellWithEachBatchRefused(_ change: (inout StampWorld.Options) -> Void) throws {
        for seed in try Seeds.named(first: 1, of: 0..<40) {
            for batch in 1...story(seed, change).batchCount {
                let world = story(seed) {
                    change(&$0)
                    $0.hasSecondStream = batch % 2 == 0
                    $0.refusedBatches = batch..<(batch + 1 + batch % 3)
                }
                if world.faults.isEmpty { continue }
                let lines = ["seed \(seed), batch \(batch)"] + world.log + world.faults
                return XCTFail(lines.joined(separator: "\n"))
            }
        }
    }

    private func tell(_ change: (inout StampWorld.Options) -> Void) throws {
        var failed: [UInt64] = []
        for seed in try Seeds.named(first: 5, of: 0..<40) {
            let world = story(seed, change)
            if world.faults.isEmpty { continue }
            if failed.isEmpty {
                XCTFail((["seed \(seed)"] + world.log + world.faults).joined(separator: "\n"))
            }
            failed.append(seed)
        }
        XCTAssertEqual(failed, [])
    }

    private func keepEverything(_ options: inout StampWorld.Options) {
        options.deletes = false
        options.discards = false
    }

    private func letEditsWin(_ options: inout StampWorld.Options) {
        options.discards = false
        options.keepsDeleted = true
    }

    /// I-01, I-10, I-16: the model keeps both sides of every conflict, and the app discards no edits.
    func testNoStampIsLostIfNothingIsDeleted() throws { try tell(keepEverything) }

    /// I-01, I-11, I-18: edits win over deletions on other devices.
    func testNoStampIsLostIfEditsWinOverDeletions() throws { try tell(letEditsWin) }

    /// I-11, I-19: deletions on other devices win, and the app may discard edits.
    func testDeviceAndCloudConvergeIfDeletionsWin() throws { try tell { _ in } }

    /// I-20: a resolver that always keeps the server's record loses no edits of other devices.
    func testNoOtherDevicesStampIsLostIfTheServerWins() throws { try tell { $0.resolves = .cloud } }

    /// I-23: a resolver that throws loses neither side.
    func testNoStampIsLostIfTheResolverFails() throws {
        try tell {
            keepEverything(&$0)
            $0.resolves = .fails
        }
    }

    /// I-01: stamps that the app removed stay removed, in any order of answers.
    func testRemovedStampsStayRemovedInAnyOrderOfAnswers() throws {
        try tell {
            keepEverything(&$0)
            $0.faults = false
            $0.crashes = false
            $0.removes = true
        }
    }

    /// I-43: reads show every record as it is in the cloud, even if pages fail to read some of their records.
    func testNoVersionIsMissedIfPagesFailToReadRecords() throws {
        try tell {
            keepEverything(&$0)
            $0.faults = true
            $0.hidesRecords = true
            $0.crashes = false
        }
    }

    /// I-01, I-10: the same with the disk rejecting each batch in turn.
    func testNoStampIsLostIfTheDiskRejectsABatch() throws {
        try tellWithEachBatchRefused(keepEverything)
    }

    /// I-01, I-11, I-18: the same if edits win over deletions on other devices.
    func testNoStampIsLostIfEditsWinAndTheDiskRejectsABatch() throws {
        try tellWithEachBatchRefused(letEditsWin)
    }

    /// I-11, I-19: the same if deletions win and the app may discard edits.
    func testDeviceAndCloudConvergeIfTheDiskRejectsABatch() throws {
        try tellWithEachBatchRefused { _ in }
    }
}
