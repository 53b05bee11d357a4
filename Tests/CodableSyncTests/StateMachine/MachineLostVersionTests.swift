import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// What the cloud had of a record when its zone was lost, where an edit has its place.
final class MachineLostVersionTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.know("B", 2)
        machine.run(.streamRequested(1))
    }

    private func park(_ name: String, _ handle: UInt64) {
        machine.upload(name, handle)
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        XCTAssertNotNil(machine.state[name]?.pending?.parked)
    }

    private func loseZone() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        machine.run(.fetched(request.id, .failure(reset)))
        machine.finishSetup()
    }

    /// Z1: what is parked stays parked, and what was known below it goes up again.
    func testAParkedEditStaysParkedAndWhatWasBelowItGoesUpAgain() {
        park("A", 3)
        loseZone()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 3)
        saveAll(from: 10)
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t10")
        XCTAssertEqual(machine.state["A"]?.pending?.base, 10)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 3)
        XCTAssertEqual(machine.run(.retry(machine.newCall(), names: ["A"])).requests, ["send A=3@t10"])
    }

    /// Z1: tried again before what was lost has gone up.
    func testAParkedEditThatIsTriedAgainWaitsForWhatWasBelowIt() {
        park("A", 3)
        loseZone()
        machine.run(.retry(machine.newCall(), names: ["A"]))
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
        XCTAssertEqual(saveAll(from: 10).requests, ["send A=3@t10"])
    }

    /// Z1: the parked edit is replaced by a new one, before what was lost is sent, or meanwhile.
    func testANewEditIsMadeOnWhatWasLost() {
        let start = machine
        for isSent in [false, true] {
            machine = start
            park("A", 3)
            loseZone()
            machine.run(machine.reading("A"))
            if !isSent { machine.upload("A", 7) }
            machine.answerFetch(token: "n")
            if isSent { machine.upload("A", 7) }
            // What was lost goes up first, and the edit on top of it.
            XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [1, 2])
            machine.answerSend { .saved(KnownVersion($0.name == "A" ? 10 : 11)) }
            XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [7])
            XCTAssertEqual(machine.sendRequest?.items.map { $0.known?.changeTag }, ["t10"])
            XCTAssertEqual(machine.conflicts, [])
            XCTAssertNil(machine.state["A"]?.lost)
            XCTAssertEqual(machine.faults, [])
        }
    }

    /// Z1: handed out while it is stored that the zone is gone, and taken when another device has made it anew.
    func testWhatIsHandedOutWhileALossIsStoredIsNobodysAncestor() {
        machine.run(.streamEnded(1))
        machine.fetch([.init("A", 3)], token: "3")
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        machine.feed(.fetched(request.id, .failure(reset)))
        machine.feed(.streamRequested(2))
        XCTAssertEqual(machine.commitAll().delivered, [item("A", updated: 3)])
        machine.finishSetup()
        machine.answerFetch([.init("A", 20)], token: "n")
        machine.resolve { _ in .server }
        XCTAssertEqual(machine.state["A"]?.undelivered?.kind, .updated(20))
        machine.run(.streamRequested(2))
        XCTAssertNil(machine.state["A"]?.seen)
    }

    /// Z1: what the app was shown in the place of an edit that a conflict has parked.
    func testWhatWasBelowAnEditThatAConflictHasParkedStaysSeen() {
        machine.upload("A", 3)
        machine.answerSend { _ in .conflict(server: KnownVersion(4)) }
        machine.resolve { _ in .failed(ParkReason(kind: .resolverFailed, message: "no")) }
        machine.run(.streamRequested(1))
        XCTAssertEqual(machine.state["A"]?.seen, 4)
        loseZone()
        machine.answerFetch(token: "n")
        saveAll(from: 10)
        XCTAssertEqual(machine.state["A"]?.known?.handle, 10)
        XCTAssertEqual(machine.state["A"]?.seen, 10)
    }

    /// Z1: models from before sync are no edit of what the cloud had.
    func testModelsFromBeforeSyncAreNotMadeOnWhatWasLost() {
        loseZone()
        let initial = NewChange(name: "A", kind: .save(7, size: 1), edited: nil, isInitial: true)
        machine.run(.enqueue(machine.newCall(), [initial]))
        XCTAssertNotNil(machine.state["A"]?.lost)
        XCTAssertNil(machine.state["A"]?.pending?.base)
    }

    /// Z1: deleted by the app before it has gone up, or meanwhile: it does not stay in the cloud.
    func testWhatIsDeletedHereAfterTheLossStaysAway() {
        for isSent in [false, true] {
            var machine = machine
            machine.run(.signal(.changes(in: nil)))
            guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
            let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
            machine.run(.fetched(request.id, .failure(reset)))
            machine.finishSetup()
            if !isSent { machine.delete("A") }
            machine.answerFetch(token: "n")
            if isSent { machine.delete("A") }
            XCTAssertEqual(machine.sendRequest?.items.first { $0.name == "A" }?.handle, isSent ? 1 : nil)
            machine.answerSend { item in
                item.handle == nil ? .deleted : .saved(KnownVersion(item.name == "A" ? 10 : 11))
            }
            if isSent { machine.answerSend { _ in .deleted } }
            XCTAssertNil(machine.state["A"])
            XCTAssertEqual(machine.state.pendingCount, 0)
            XCTAssertEqual(machine.faults, [])
        }
    }

    /// Z1: refused where no edit stands beside it: it is set aside like any other.
    func testWhatTheServerDoesNotTakeBackIsParked() {
        loseZone()
        machine.answerFetch(token: "n")
        machine.answerSend { item in
            item.name == "A" ? .failed(CloudError(.permissionFailure)) : .saved(KnownVersion(11))
        }
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .refused)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 1)
        XCTAssertEqual(machine.run(.retry(machine.newCall(), names: ["A"])).requests, ["send A=1@-"])
    }

    /// Z1: another device's version of what is on its way meets the resolver, and neither is overwritten.
    func testWhatAnotherDeviceHasUploadedDifferentlyIsAConflict() {
        loseZone()
        let actions = machine.answerFetch([.init("A", 12), .init("B", 13, hash: 2)], token: "n")
        XCTAssertEqual(actions.conflicts.map(\.name), ["A"])
        XCTAssertEqual(actions.conflicts.map(\.client), [1])
        XCTAssertEqual(actions.conflicts.map(\.server), [12])
        XCTAssertEqual(actions.conflicts.map(\.ancestor), [nil])
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(machine.state["B"]?.known?.changeTag, "t13")
        XCTAssertEqual(actions.delivered, [])
    }

    /// Z1: the server does not take back what was lost: not sent for ever, and not forgotten.
    func testWhatTheServerDoesNotTakeBackIsKeptAndTriedOnRequest() {
        park("A", 3)
        loseZone()
        machine.answerFetch(token: "n")
        machine.answerSend { item in
            item.name == "A" ? .failed(CloudError(.permissionFailure)) : .saved(KnownVersion(11))
        }
        XCTAssertNil(machine.sendRequest)
        XCTAssertEqual(machine.state["A"]?.lost?.handle, 1)
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
        XCTAssertEqual(machine.run(.retry(machine.newCall(), names: ["A"])).requests, ["send A=1@-"])
    }

    /// Z1: another device has uploaded its own version, the same or another one.
    func testWhatAnotherDeviceHasUploadedTakesThePlaceOfWhatWasLost() {
        let start = machine
        for isSame in [true, false] {
            machine = start
            park("A", 3)
            loseZone()
            let actions = machine.answerFetch([.init("A", 12, hash: isSame ? 1 : 99)], token: "n")
            XCTAssertEqual(actions.requests, ["send B=2@-"])
            XCTAssertEqual(actions.delivered, isSame ? [] : [item("A", updated: 12)])
            XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t12")
            XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
            XCTAssertEqual(machine.state.shownHandle(of: "A"), isSame ? 3 : 12)
        }
    }

    /// Z1: the zone is lost once more, and then deleted.
    func testWhatWasLostTwiceGoesUpAndWhatIsDeletedThenIsTold() {
        park("A", 3)
        loseZone()
        machine.answerFetch(token: "n")
        machine.failSend(CloudError(.zoneNotFound, userDidResetEncryptedData: true))
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "m").requests, ["send A=1@- B=2@-"])
        machine.failSend(CloudError(.zoneNotFound))
        XCTAssertEqual(fate(.deleted).requests, ["saveZone"])
        XCTAssertNil(machine.state["A"]?.lost)
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 3)
    }

    /// A deletion of which the app has not been told yet is told also if the zone goes afterwards.
    func testAnUndeliveredDeletionOutlivesTheZone() {
        for reason in [DatabaseChanges.Deletion.Reason?.none, .deleted] {
            var machine = machine
            machine.run(.streamEnded(1))
            machine.fetch(deletions: ["A"], token: "9")
            machine.upload("B", 3)
            machine.failSend(CloudError(.zoneNotFound))
            guard let setup = machine.setupRequest else { return XCTFail("nothing is asked") }
            machine.run(.databaseChanged(setup, .success(ZoneFate(reason: reason, token: nil))))
            XCTAssertEqual(machine.run(.streamRequested(2)).delivered, [item(deleted: "A")])
        }
    }

    /// Z1: a conflict that is open when the zone is lost: both sides go up, one after the other, and then it is decided.
    func testAConflictThatIsOpenWhenTheZoneIsLostKeepsBothSides() {
        for isAsked in [false, true] {
            var machine = machine
            machine.upload("A", 3)
            machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
            machine.fetch([.init("A", 8)], token: "9")
            // Its contents could not be read, so the resolver is asked later.
            if !isAsked { machine.run(.reconciled([])) }
            machine.run(.signal(.changes(in: nil)))
            guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
            let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
            machine.run(.fetched(request.id, .failure(reset)))
            // What is decided now is decided about the former zone.
            let items = machine.conflicts
            machine.run(.reconciled(items.map { Reconciled(item: $0, resolution: .server, wasAsked: true) }))
            machine.finishSetup()
            XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
            machine.answerFetch(token: "n")
            if machine.sendRequest == nil { machine.fireNext { $0 == .sendRetry } }
            XCTAssertEqual(machine.sendRequest?.items.first { $0.name == "A" }?.handle, 8, "\(isAsked)")
            machine.answerSend { .saved(KnownVersion($0.name == "A" ? 20 : 21)) }
            if !isAsked { machine.fireNext { $0 == .resolveRetry } }
            XCTAssertEqual(machine.conflicts.map(\.client), [3])
            XCTAssertEqual(machine.conflicts.map(\.server), [20])
            XCTAssertEqual(machine.faults, [])
        }
    }

    @discardableResult
    private func fate(_ reason: DatabaseChanges.Deletion.Reason?) -> [SyncAction] {
        guard let request = machine.setupRequest else { return [] }
        return machine.run(.databaseChanged(request, .success(ZoneFate(reason: reason, token: .init("d")))))
    }
}
