import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The disk rejects entries that have already been applied: no action depends on them, and the machine keeps
/// no trace of them.
final class MachineRefusalTests: MachineTestCase {
    // MARK: What waits for the disk

    private func makePurged() -> MachineHarness {
        var state = SyncState()
        for entry in [.claimed(by: "alice"), .zoneReady, .zoneLost(.purged)] as [StateChange] {
            state.apply(entry)
        }
        var harness = MachineHarness(state: state)
        harness.run(.calls(.start))
        harness.confirmAccount()
        XCTAssertEqual(harness.state.onlyZone.stage, .purged)
        return harness
    }

    func testTheZoneIsRecreatedOnceThePurgeAnswerIsStored() {
        var harness = makePurged()
        let answered = harness.run(.calls(.resolvePurge(harness.newCall(), uploadAgain: true)))
        guard case .store? = answered.first else { return XCTFail("\(answered)") }
        XCTAssertEqual(answered.requests, ["saveZone"])
        XCTAssertEqual(harness.faults, [])
    }

    func testAPurgeAnswerThatCannotBeStoredCreatesNoZone() {
        var harness = makePurged()
        harness.feed(.calls(.resolvePurge(harness.newCall(), uploadAgain: false)))
        let refused = harness.failNextCommit()
        XCTAssertEqual(refused.answers, [.failed(.storageFull("full"))])
        XCTAssertEqual(refused.requests, [])
        XCTAssertNil(harness.setupRequest)
        XCTAssertEqual(harness.state.onlyZone.stage, .purged)
        XCTAssertEqual(harness.faults, [])
    }

    func testTheSubscriptionIsCreatedOnceTheZoneIsStored() {
        machine.run(.signal(.changes(in: nil)))
        machine.run(.response(machine.fetchRequest?.id ?? 0, .failure(CloudError(.zoneNotFound))))
        machine.run(.response(machine.setupRequest ?? 0, .failure(CloudError(.badDatabase))))
        let saved = machine.run(.response(machine.setupRequest ?? 0, .success(.zoneSaved)))
        guard case .store? = saved.first else { return XCTFail("\(saved)") }
        XCTAssertTrue(saved.requests.contains("subscribe"))
    }

    // MARK: What streams have taken

    func testARejectedUploadRepeatsNoElement() {
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(2)))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 5)])))
        XCTAssertEqual(machine.failNextCommit().delivered + machine.commitAll().delivered, [])
        machine.run(.delivery(.streamRequested(2)))
        XCTAssertNil(machine.state.undelivered("A"))
    }

    /// A rejected acceptance is stored with the next entries; a flush alone can succeed even on a full disk.
    func testAFlushDoesNotRetryARejectedAcceptance() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.feed(.delivery(.streamRequested(1)))
        var rounds = 0
        while machine.isTurnOpen, rounds < 20 {
            rounds += 1
            machine.failNextCommit { !$0.rows.isEmpty }
        }
        XCTAssertLessThan(rounds, 20)
        machine.upload("B", 2)
        XCTAssertNil(machine.state.undelivered("A"))
    }

    /// The app edits an element that it accepted while the disk was full.
    func testAnUploadIsBasedOnARejectedAcceptance() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.feed(.delivery(.streamRequested(1)))
        machine.failNextCommit()
        machine.upload("A", 5)
        XCTAssertEqual(machine.state["A"]?.pending?.base, 1)
        XCTAssertEqual(machine.conflicts, [])
    }

    // MARK: What a restart would rebuild

    func testEntriesAreFlushedLaterIfTheirFlushFails() {
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 1)], token: "1")
        XCTAssertNotNil(machine.timers[.flush])
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("B", 2)])))
        machine.failNextCommit()
        XCTAssertNotNil(machine.timers[.flush])
        machine.upload("B", 3)
        XCTAssertNil(machine.timers[.flush])
    }

    func testAZoneLossThatCannotBeStoredForgetsNoLookUp() {
        var harness = MachineHarness()
        harness.hasFeed = true
        harness.goOnline()
        let found = ZoneFate(reason: nil, token: .init("y"))
        harness.run(.response(harness.setupRequest ?? 0, .success(.databaseChanges(found))))
        harness.run(.signal(.changes(in: nil)))
        harness.answerFetch(failed: ["B"], token: "1")
        harness.run(
            .response(harness.lookUpRequest?.id ?? 0, .failure(CloudError(.networkFailure)))
        )
        harness.run(.signal(.changes(in: nil)))
        XCTAssertTrue(harness.machine.lookingUp.queue.contains("B"))
        harness.run(.response(harness.fetchRequest?.id ?? 0, .failure(CloudError(.zoneNotFound))))
        let gone = ZoneFate(reason: .purged, token: .init("z"))
        harness.feed(.response(harness.setupRequest ?? 0, .success(.databaseChanges(gone))))
        XCTAssertEqual(harness.state.onlyZone.stage, .purged)
        harness.failNextCommit()
        XCTAssertEqual(harness.state.onlyZone.stage, .ready)
        XCTAssertTrue(harness.machine.lookingUp.queue.contains("B"))
        XCTAssertEqual(harness.faults, [])
    }

    func testResolutionsThatCannotBeStoredDoNotCountAsConflictRounds() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        var events: [SyncEvent] = []
        for _ in 0..<12 {
            let results = machine.conflicts.map { Reconciled(item: $0, resolution: .client, wasAsked: true) }
            XCTAssertFalse(results.isEmpty)
            machine.feed(.reconciled(results))
            events += machine.failNextCommit().events
            machine.fireNext { $0 == .resolveRetry }
        }
        XCTAssertFalse(events.contains(.conflictLoop(recordName: "A")))
    }

    /// The answer to a lost response is in the state, an ordered wait is not.
    func testAWaitThatTheServerOrdersHoldsAlsoIfItsResponseCannotBeStored() {
        machine.run(.signal(.changes(in: nil)))
        let busy = CloudError(.requestRateLimited, retryAfter: .seconds(30))
        machine.feed(.response(machine.fetchRequest?.id ?? 0, .failure(busy)))
        machine.failNextCommit()
        XCTAssertEqual(machine.timers[.serverWait], machine.now.monotonic + .seconds(30))
    }

    /// What it found queued may be what the disk has refused.
    func testACallThatQueuesNothingFailsWithTheOneBeforeIt() {
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 5)], partOf: InitialModels(testType))))
        machine.feed(.calls(.enqueue(machine.newCall(), [])))
        let failure = CallAnswer.failed(.storageFull("full"))
        XCTAssertEqual(machine.failNextCommit().answers, [failure, failure])
    }

    func testASignOutThatCannotBeStoredIsToldOnceItIs() {
        machine.run(.signal(.accountChanged))
        let none = CloudAccount(status: .noAccount, userRecordName: nil)
        machine.feed(.response(machine.setupRequest ?? 0, .success(.account(none))))
        let told = SyncEvent.accountChanged(from: "alice", to: nil)
        XCTAssertFalse(machine.failNextCommit().events.contains(told))
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(
            machine.run(.response(machine.setupRequest ?? 0, .success(.account(none)))).events,
            [told]
        )
    }
}
