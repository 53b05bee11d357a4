import Foundation
import XCTest

@testable import CodableSync

/// Stories of one machine, in which every edit is followed to its end: `SEEDS=5000..<5100` in the environment runs others.
///
/// 14 of each kind, and 40 if all cases are asked for.
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

    /// Tells each story once more for each of its batches, which the disk refuses, and up to two after it.
    private func tellWithEachBatchRefused(_ change: (inout StampWorld.Options) -> Void) throws {
        for seed in try Seeds.named(first: 2, of: 0..<40) {
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
        for seed in try Seeds.named(first: 14, of: 0..<40) {
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

    /// I-01, I-10, I-16: both sides of every conflict are kept, and nothing is ever deleted or given up.
    func testNoStampIsLostWhereNothingIsDeleted() throws { try tell(keepEverything) }

    /// I-01, I-11, I-18: where edits win over deletions elsewhere.
    func testNoStampIsLostWhereEditsWin() throws { try tell(letEditsWin) }

    /// I-11, I-19: where deletions win, and edits are given up.
    func testEverybodyHasTheSameInTheEndWhereDeletionsWin() throws { try tell { _ in } }

    /// I-20: a resolver that gives every edit up costs nobody else's.
    func testNobodyElsesStampIsLostWhereTheCloudWins() throws { try tell { $0.resolves = .cloud } }

    /// I-23: a resolver that throws loses neither side.
    func testNoStampIsLostWhereTheResolverFails() throws {
        try tell {
            keepEverything(&$0)
            $0.resolves = .fails
        }
    }

    /// I-01: what the app has taken out stays out, whatever order answers come in.
    func testNothingThatWasTakenOutComesBackWhereAnswersCross() throws {
        try tell {
            keepEverything(&$0)
            $0.faults = false
            $0.crashes = false
            $0.removes = true
        }
    }

    /// I-43: every record is shown as it is in the cloud, although pages cannot read some of their records.
    func testNoVersionIsMissedWherePagesCannotReadTheirRecords() throws {
        try tell {
            keepEverything(&$0)
            $0.faults = true
            $0.hidesRecords = true
            $0.crashes = false
        }
    }

    /// I-01, I-10: the same where the disk refuses a batch, whichever it is.
    func testNoStampIsLostWhicheverBatchIsRefused() throws {
        try tellWithEachBatchRefused(keepEverything)
    }

    /// I-01, I-11, I-18: the same where edits win over deletions elsewhere.
    func testNoStampIsLostWhereEditsWinWhicheverBatchIsRefused() throws {
        try tellWithEachBatchRefused(letEditsWin)
    }

    /// I-11, I-19: the same where deletions win, and edits are given up.
    func testEverybodyHasTheSameInTheEndWhicheverBatchIsRefused() throws {
        try tellWithEachBatchRefused { _ in }
    }
}
