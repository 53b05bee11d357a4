import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// A missing zone: the reason, and what happens to its records.
final class MachineZoneTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.know("B", 2)
        machine.run(.delivery(.streamRequested(1)))
    }

    /// SN-24.
    func testADeletedZoneRemovesItsRecordsAndKeepsPendingEdits() {
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
    func testAPurgedZoneChangesNothingAndSendsNoRequest() {
        for isKnownAtOnce in [false, true] {
            var machine = machine
            machine.upload("A", 3)
            if isKnownAtOnce {
                machine.failSend(CloudError(.userDeletedZone))
            } else {
                machine.failSend(CloudError(.zoneNotFound))
                guard let request = machine.setupRequest else { return XCTFail("no setup request") }
                machine.run(
                    .response(request, .success(.databaseChanges(ZoneFate(reason: .purged, token: nil))))
                )
            }
            XCTAssertEqual(machine.machine.reported, .waitingForDecision)
            XCTAssertEqual(machine.state.knownCount, 2)
            XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, [])
            XCTAssertEqual(machine.upload("C", 4).requests, [])
            XCTAssertEqual(machine.run(.calls(.start)).requests, [])
            let sync = machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
            XCTAssertEqual(sync.answers, [.failed(.waitingForDecision)])
            var restarted = MachineHarness(state: machine.state)
            restarted.run(.calls(.start))
            XCTAssertEqual(restarted.runAccount(), [])
            XCTAssertEqual(machine.faults, [])
        }
    }

    func testAnsweringAPurgeWithUploadSendsEveryRecordAgain() {
        machine.upload("A", 3)
        machine.failSend(CloudError(.userDeletedZone))
        let actions = machine.run(.calls(.resolvePurge(machine.newCall(), uploadAgain: true)))
        XCTAssertEqual(actions.answers, [.done])
        XCTAssertEqual(actions.requests, ["saveZone"])
        machine.finishSetup()
        XCTAssertEqual(Set(machine.answerFetch(token: "n").requests), ["send A=1@- B=2@-"])
        XCTAssertEqual(saveAll(from: 10).requests, ["send A=3@t10"])
    }

    func testAnsweringAPurgeWithRemovalDeliversDeletions() {
        machine.failSend(CloudError(.userDeletedZone))
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        machine.run(.response(request.id, .failure(CloudError(.userDeletedZone))))
        let actions = machine.run(.calls(.resolvePurge(machine.newCall(), uploadAgain: false)))
        XCTAssertEqual(actions.delivered, [item(deleted: "A"), item(deleted: "B")])
        machine.finishSetup()
        machine.answerFetch(token: "n")
        XCTAssertNil(machine.sendRequest)
    }

    func testAnEncryptedDataResetUploadsEveryRecordAgain() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        let error = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        let actions = machine.run(.response(request.id, .failure(error)))
        XCTAssertEqual(actions.requests, ["saveZone"])
        XCTAssertEqual(actions.delivered, [])
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
    }

    func testAZoneLostForUnknownReasonUploadsEveryRecordAgain() {
        machine.upload("A", 3)
        machine.failSend(CloudError(.zoneNotFound))
        XCTAssertEqual(fate(nil).requests, ["saveZone"])
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
        XCTAssertEqual(saveAll(from: 10).requests, ["send A=3@t10"])
    }

    /// While the loss is being stored, no request is sent, and late answers belong to the lost zone.
    func testNoRequestIsSentWhileTheLossIsStored() {
        machine.upload("A", 3)
        guard let send = machine.sendRequest else { return XCTFail("no send request") }
        machine.missDeadline(send.id)
        machine.run(.signal(.changes(in: nil)))
        guard let fetch = machine.fetchRequest else { return XCTFail("no fetch request") }
        machine.feed(.response(fetch.id, .failure(CloudError(.userDeletedZone))))
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, [])
        let late = SendResult(name: "A", handle: 3, outcome: .saved(KnownVersion(10)))
        XCTAssertEqual(machine.run(.response(send.id, .success(.sendResults([late])))), [])
        XCTAssertEqual(machine.commitAll().requests, [])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
    }

    func testALossThatCannotBeStoredIsStoredLater() {
        machine.upload("A", 3)
        guard let send = machine.sendRequest else { return XCTFail("no send request") }
        machine.feed(.response(send.id, .failure(CloudError(.userDeletedZone))))
        XCTAssertEqual(machine.failNextCommit().requests, [])
        XCTAssertEqual(machine.state.onlyZone.stage, .ready)
        XCTAssertEqual(machine.fireNext().requests, [])
        XCTAssertEqual(machine.state.onlyZone.stage, .purged)
    }

    /// A version of the former zone is not the ancestor of an edit in the new one.
    func testAnEditAfterALossNeedsNoResolver() {
        for isHandedOut in [false, true] {
            var machine = machine
            if !isHandedOut { machine.run(.delivery(.streamEnded(1))) }
            machine.fetch([.init("B", 5)], token: "9")
            machine.run(.signal(.changes(in: nil)))
            guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
            machine.run(.response(request.id, .failure(CloudError(.zoneNotFound))))
            guard let setup = machine.setupRequest else { return XCTFail("no setup request") }
            machine.run(.response(setup, .success(.databaseChanges(ZoneFate(reason: nil, token: nil)))))
            machine.run(.delivery(.streamRequested(1)))
            machine.run(.delivery(.streamRequested(1)))
            machine.upload("B", 7)
            XCTAssertEqual(machine.state["B"]?.isInConflict, false, "\(isHandedOut)")
            machine.finishSetup()
            XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=5@-"], "\(isHandedOut)")
            machine.answerSend { .saved(KnownVersion($0.name == "A" ? 10 : 11)) }
            XCTAssertEqual(machine.conflicts, [], "\(isHandedOut)")
        }
    }

    /// A resolution about a deletion in the former zone does not end an edit in the new one.
    func testAResolutionFromTheFormerZoneIsIgnored() {
        machine.upload("A", 3)
        machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        let items = machine.conflicts
        XCTAssertEqual(items.map(\.server), [nil])
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        machine.run(.response(request.id, .failure(CloudError(.zoneNotFound))))
        XCTAssertEqual(fate(nil).requests, ["saveZone"])
        machine.run(.reconciled(items.map { Reconciled(item: $0, resolution: .server, wasAsked: true) }))
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=3@- B=2@-"])
    }

    func testAPendingDeletionInALostZoneLeavesNothing() {
        for reason in [DatabaseChanges.Deletion.Reason?.none, .deleted] {
            var machine = machine
            machine.run(.delivery(.streamEnded(1)))
            machine.fetch([.init("A", 5)], token: "9")
            machine.delete("A")
            machine.failSend(CloudError(.zoneNotFound))
            guard let setup = machine.setupRequest else { return XCTFail("no setup request") }
            machine.run(.response(setup, .success(.databaseChanges(ZoneFate(reason: reason, token: nil)))))
            machine.finishSetup()
            machine.answerFetch(token: "n")
            XCTAssertEqual(machine.sendRequest?.items.first { $0.name == "A" }?.handle, .some(nil))
            machine.answerSend {
                $0.name == "A" ? .failed(CloudError(.unknownItem)) : .saved(KnownVersion(7))
            }
            XCTAssertNil(machine.state["A"], "\(String(describing: reason))")
        }
    }

    /// A zone that is lost again and again is not re-created without pauses.
    func testAZoneThatIsAlwaysMissingIsRecreatedWithPauses() {
        var rounds = 0
        machine.run(.signal(.changes(in: nil)))
        while let request = machine.fetchRequest, rounds < 20 {
            rounds += 1
            machine.run(.response(request.id, .failure(CloudError(.zoneNotFound))))
            guard let setup = machine.setupRequest else { break }
            machine.run(.response(setup, .success(.databaseChanges(ZoneFate(reason: nil, token: nil)))))
            machine.finishSetup()
        }
        XCTAssertLessThanOrEqual(rounds, 5)
        XCTAssertFalse(machine.isWithoutTimers)
    }

    @discardableResult
    private func fate(_ reason: DatabaseChanges.Deletion.Reason?) -> [SyncAction] {
        guard let request = machine.setupRequest else { return [] }
        return machine.run(
            .response(request, .success(.databaseChanges(ZoneFate(reason: reason, token: .init("d")))))
        )
    }

    /// A call that only sends waits for no fetch, which would extend what it waits for.
    func testACallThatSendsWaitsForWhatIsUploadedAgain() {
        machine = .synced { $0.maximumItems = 1 }
        machine.know("A", 1)
        machine.upload("B", 2)
        machine.run(.calls(.sync(machine.newCall(), .send)))
        machine.failSend(CloudError(.zoneNotFound))
        machine.run(.response(machine.setupRequest ?? 0, .failure(CloudError(.badDatabase))))
        machine.finishSetup()
        machine.answerFetch(token: "n")
        XCTAssertEqual(saveAll(from: 10).answers, [])
        XCTAssertEqual(saveAll(from: 11).answers.count, 1)
    }

    /// The app does not know the merged model, which is the first of its next zone.
    func testAModelThatAConflictHasMadeIsStillToldIfItsZoneIsDeleted() {
        var state = SyncState()
        let edit = LocalChange(kind: .save(2, size: 1), edited: nil, base: 1)
        let entries: [StateChange] = [
            .followed, .fetched(name: "A", KnownVersion(1)), .held([], accepted: 1),
            .queued(name: "A", edit), .fetched(name: "A", KnownVersion(3)),
            .resolved(name: "A", client: 2, server: 3, .merged(4, size: 1, edited: nil)),
            .zoneLost(.deleted),
        ]
        for entry in entries { state.apply(entry) }
        XCTAssertEqual(state.undelivered("A"), .updated(4))
    }
}
