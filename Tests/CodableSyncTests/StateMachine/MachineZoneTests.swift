import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// A zone that is missing: why, and what becomes of the records.
final class MachineZoneTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.know("B", 2)
        machine.run(.streamRequested(1))
    }

    /// SN-24.
    func testZoneDeletedByAClientDeletesItsRecordsAndKeepsPendingOnes() {
        machine.upload("A", 3)
        XCTAssertEqual(machine.failSend(CloudError(.zoneNotFound)).requests, ["readDatabaseChanges"])
        let actions = fate(.deleted)
        XCTAssertEqual(actions.requests, ["saveZone"])
        XCTAssertEqual(actions.delivered, [item(deleted: "B")])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
        XCTAssertNil(machine.state["A"]?.known)
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=3@-"])
    }

    /// I-42.
    func testPurgedZoneChangesNothingAndRequestsNothing() {
        for isKnownAtOnce in [false, true] {
            var machine = machine
            machine.upload("A", 3)
            if isKnownAtOnce {
                machine.failSend(CloudError(.userDeletedZone))
            } else {
                machine.failSend(CloudError(.zoneNotFound))
                guard let request = machine.setupRequest else { return XCTFail("nothing is asked") }
                machine.run(.databaseChanged(request, .success(ZoneFate(reason: .purged, token: nil))))
            }
            XCTAssertEqual(machine.machine.reported, .waitingForDecision(.purged))
            XCTAssertEqual(machine.state.knownCount, 2)
            XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, [])
            XCTAssertEqual(machine.upload("C", 4).requests, [])
            XCTAssertEqual(machine.run(.start).requests, [])
            let sync = machine.run(.sync(machine.newCall(), [.fetch, .send]))
            XCTAssertEqual(sync.answers, [.failed(.waitingForDecision(.purged))])
            var restarted = MachineHarness(state: machine.state)
            restarted.run(.start)
            XCTAssertEqual(restarted.runAccount(), [])
            XCTAssertEqual(machine.faults, [])
        }
    }

    func testPurgeAnsweredByUploadingSendsEverythingAnew() {
        machine.upload("A", 3)
        machine.failSend(CloudError(.userDeletedZone))
        let actions = machine.run(.resolvePurge(machine.newCall(), uploadAgain: true))
        XCTAssertEqual(actions.answers, [.done])
        XCTAssertEqual(actions.requests, ["saveZone"])
        machine.finishSetup()
        XCTAssertEqual(Set(machine.answerFetch(token: "n").requests), ["send A=1@- B=2@-"])
        XCTAssertEqual(saveAll(from: 10).requests, ["send A=3@t10"])
    }

    func testPurgeAnsweredByRemovingDeliversDeletions() {
        machine.failSend(CloudError(.userDeletedZone))
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        machine.run(.fetched(request.id, .failure(CloudError(.userDeletedZone))))
        let actions = machine.run(.resolvePurge(machine.newCall(), uploadAgain: false))
        XCTAssertEqual(actions.delivered, [item(deleted: "A"), item(deleted: "B")])
        machine.finishSetup()
        machine.answerFetch(token: "n")
        XCTAssertNil(machine.sendRequest)
    }

    func testEncryptedDataResetUploadsEverythingAnew() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        let error = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        let actions = machine.run(.fetched(request.id, .failure(error)))
        XCTAssertEqual(actions.requests, ["saveZone"])
        XCTAssertEqual(actions.delivered, [])
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
    }

    func testZoneMissingWithoutAReasonUploadsEverythingAnew() {
        machine.upload("A", 3)
        machine.failSend(CloudError(.zoneNotFound))
        XCTAssertEqual(fate(nil).requests, ["saveZone"])
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
        XCTAssertEqual(saveAll(from: 10).requests, ["send A=3@t10"])
    }

    /// Between the discovery and its storing nothing leaves, and late answers are of another zone.
    func testNothingLeavesWhileTheLossIsStored() {
        machine.upload("A", 3)
        guard let send = machine.sendRequest else { return XCTFail("nothing is sent") }
        machine.run(.timerFired(.deadline(send.id)))
        machine.run(.signal(.changes(in: nil)))
        guard let fetch = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        machine.feed(.fetched(fetch.id, .failure(CloudError(.userDeletedZone))))
        XCTAssertEqual(machine.feed(.signal(.changes(in: nil))).requests, [])
        let late = SendResult(name: "A", handle: 3, outcome: .saved(KnownVersion(10)))
        XCTAssertEqual(machine.feed(.sent(send.id, .success([late]))), [])
        XCTAssertEqual(machine.commitAll().requests, [])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
    }

    func testLossThatCannotBeStoredIsMetAgain() {
        machine.upload("A", 3)
        guard let send = machine.sendRequest else { return XCTFail("nothing is sent") }
        machine.feed(.sent(send.id, .failure(CloudError(.userDeletedZone))))
        XCTAssertEqual(machine.failNextCommit().requests, [])
        XCTAssertEqual(machine.state.summary.zone, .ready)
        XCTAssertEqual(machine.fireNext().requests, [])
        XCTAssertEqual(machine.state.summary.zone, .purged)
    }

    /// A version of the former zone is not the ancestor of an edit in the new one.
    func testEditAfterTheLossOfTheZoneNeedsNoResolver() {
        for isHandedOut in [false, true] {
            var machine = machine
            if !isHandedOut { machine.run(.streamEnded(1)) }
            machine.fetch([.init("B", 5)], token: "9")
            machine.run(.signal(.changes(in: nil)))
            guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
            machine.run(.fetched(request.id, .failure(CloudError(.zoneNotFound))))
            guard let setup = machine.setupRequest else { return XCTFail("nothing is asked") }
            machine.run(.databaseChanged(setup, .success(ZoneFate(reason: nil, token: nil))))
            machine.run(.streamRequested(1))
            machine.run(.streamRequested(1))
            machine.upload("B", 7)
            XCTAssertEqual(machine.state["B"]?.isInConflict, false, "\(isHandedOut)")
            machine.finishSetup()
            XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=5@-"], "\(isHandedOut)")
            machine.answerSend { .saved(KnownVersion($0.name == "A" ? 10 : 11)) }
            XCTAssertEqual(machine.conflicts, [], "\(isHandedOut)")
        }
    }

    /// What was decided about a deletion in the former zone does not end an edit in the new one.
    func testDecisionOfTheFormerZoneIsIgnored() {
        machine.upload("A", 3)
        machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        let items = machine.conflicts
        XCTAssertEqual(items.map(\.server), [nil])
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        machine.run(.fetched(request.id, .failure(CloudError(.zoneNotFound))))
        XCTAssertEqual(fate(nil).requests, ["saveZone"])
        machine.run(.reconciled(items.map { Reconciled(item: $0, resolution: .server, wasAsked: true) }))
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=3@- B=2@-"])
    }

    func testZoneDeletedUnderAPendingDeletionLeavesNothing() {
        for reason in [DatabaseChanges.Deletion.Reason?.none, .deleted] {
            var machine = machine
            machine.run(.streamEnded(1))
            machine.fetch([.init("A", 5)], token: "9")
            machine.delete("A")
            machine.failSend(CloudError(.zoneNotFound))
            guard let setup = machine.setupRequest else { return XCTFail("nothing is asked") }
            machine.run(.databaseChanged(setup, .success(ZoneFate(reason: reason, token: nil))))
            machine.finishSetup()
            machine.answerFetch(token: "n")
            XCTAssertEqual(machine.sendRequest?.items.first { $0.name == "A" }?.handle, .some(nil))
            machine.answerSend {
                $0.name == "A" ? .failed(CloudError(.unknownItem)) : .saved(KnownVersion(7))
            }
            XCTAssertNil(machine.state["A"], "\(String(describing: reason))")
        }
    }

    /// A zone that is lost again and again is not made anew as fast as the server answers.
    func testZoneThatIsAlwaysMissingIsNotMadeWithoutAPause() {
        var rounds = 0
        machine.run(.signal(.changes(in: nil)))
        while let request = machine.fetchRequest, rounds < 20 {
            rounds += 1
            machine.run(.fetched(request.id, .failure(CloudError(.zoneNotFound))))
            guard let setup = machine.setupRequest else { break }
            machine.run(.databaseChanged(setup, .success(ZoneFate(reason: nil, token: nil))))
            machine.finishSetup()
        }
        XCTAssertLessThanOrEqual(rounds, 5)
        XCTAssertFalse(machine.timers.isEmpty)
    }

    @discardableResult
    private func fate(_ reason: DatabaseChanges.Deletion.Reason?) -> [SyncAction] {
        guard let request = machine.setupRequest else { return [] }
        return machine.run(.databaseChanged(request, .success(ZoneFate(reason: reason, token: .init("d")))))
    }
}
