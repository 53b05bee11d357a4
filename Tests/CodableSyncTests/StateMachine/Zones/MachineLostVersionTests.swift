import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Versions that were lost with their zone, and edits of the same records.
final class MachineLostVersionTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.know("B", 2)
        machine.run(.delivery(.streamRequested(1)))
    }

    private func park(_ name: String, _ handle: UInt64) {
        machine.upload(name, handle)
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        XCTAssertNotNil(machine.state[name]?.pending?.parked)
    }

    private func loseZone() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        machine.run(.response(request.id, .failure(reset)))
        machine.finishSetup()
    }

    /// Z1: a parked edit stays parked, and the version under it is uploaded again.
    func testAParkedEditStaysParkedAndTheVersionUnderItIsUploadedAgain() {
        park("A", 3)
        loseZone()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 3)
        // The version is in flight, the edit is not.
        XCTAssertEqual(
            machine.machine.stage(of: "A"),
            (machine.state["A"]?.pending?.parked).map { .parked($0) }
        )
        saveAll(from: 10)
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t10")
        XCTAssertEqual(machine.state["A"]?.pending?.base, 10)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 3)
        XCTAssertEqual(
            machine.run(.calls(.retry(machine.newCall(), names: ["A"]))).requests,
            ["send A=3@t10"]
        )
    }

    /// Z1: the parked edit is retried before the lost version has been uploaded.
    func testARetriedEditWaitsForTheVersionUnderIt() {
        park("A", 3)
        loseZone()
        machine.run(.calls(.retry(machine.newCall(), names: ["A"])))
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
        XCTAssertEqual(saveAll(from: 10).requests, ["send A=3@t10"])
    }

    /// Z1: a new edit replaces the parked one, before or while the lost version is uploaded.
    func testANewEditIsBasedOnTheLostVersion() {
        let start = machine
        for isSent in [false, true] {
            machine = start
            park("A", 3)
            loseZone()
            if !isSent { machine.upload("A", 7) }
            machine.answerFetch(token: "n")
            if isSent { machine.upload("A", 7) }
            // The lost version is uploaded first, then the edit based on it.
            XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [1, 2])
            machine.answerSend { .saved(KnownVersion($0.name == "A" ? 10 : 11)) }
            XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [7])
            XCTAssertEqual(machine.sendRequest?.items.map { $0.known?.changeTag }, ["t10"])
            XCTAssertEqual(machine.conflicts, [])
            XCTAssertNil(machine.state["A"]?.lost)
            XCTAssertEqual(machine.faults, [])
        }
    }

    /// Z1: models from before sync are not edits of the lost version.
    func testInitialModelsAreNotBasedOnLostVersions() {
        loseZone()
        let initial = NewChange(name: "A", kind: .save(7, size: 1), edited: nil, isInitial: true)
        machine.run(.calls(.enqueue(machine.newCall(), [initial], partOf: InitialModels(testType))))
        XCTAssertNotNil(machine.state["A"]?.lost)
        XCTAssertNil(machine.state["A"]?.pending?.base)
    }

    /// Z1: the app deletes the record before or while the lost version is uploaded: the deletion wins.
    func testARecordDeletedAfterTheLossStaysDeleted() {
        for isSent in [false, true] {
            var machine = machine
            machine.run(.signal(.changes(in: nil)))
            guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
            let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
            machine.run(.response(request.id, .failure(reset)))
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

    /// Z1: without another edit of the record, a rejected upload is parked like any other.
    func testALostVersionThatTheServerRejectsIsParked() {
        loseZone()
        machine.answerFetch(token: "n")
        machine.answerSend { item in
            item.name == "A" ? .failed(CloudError(.permissionFailure)) : .saved(KnownVersion(11))
        }
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .refused)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 1)
        XCTAssertEqual(machine.run(.calls(.retry(machine.newCall(), names: ["A"]))).requests, ["send A=1@-"])
    }

    /// Z1: another device has uploaded its own version: the resolver gets both, and neither is overwritten.
    func testADifferentVersionFromAnotherDeviceIsAConflict() {
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

    /// Z1: a rejected version under a parked edit is kept, and sent again only on request.
    func testARejectedVersionUnderAParkedEditIsRetriedOnRequest() {
        park("A", 3)
        loseZone()
        machine.answerFetch(token: "n")
        machine.answerSend { item in
            item.name == "A" ? .failed(CloudError(.permissionFailure)) : .saved(KnownVersion(11))
        }
        XCTAssertNil(machine.sendRequest)
        XCTAssertEqual(machine.state["A"]?.lost?.handle, 1)
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
        XCTAssertEqual(machine.run(.calls(.retry(machine.newCall(), names: ["A"]))).requests, ["send A=1@-"])
    }

    /// Z1: another device has uploaded the same or a different version.
    func testAnotherDevicesUploadReplacesTheLostVersion() {
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

    /// Z1: the zone is lost again, and then deleted.
    func testAVersionLostTwiceIsUploadedAgainUntilTheZoneIsDeleted() {
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

    /// A deletion that the app has not received yet is still delivered after the zone is lost.
    func testAnUndeliveredDeletionSurvivesTheZone() {
        for reason in [DatabaseChanges.Deletion.Reason?.none, .deleted] {
            var machine = machine
            machine.run(.delivery(.streamEnded(1)))
            machine.fetch(deletions: ["A"], token: "9")
            machine.upload("B", 3)
            machine.failSend(CloudError(.zoneNotFound))
            guard let setup = machine.setupRequest else { return XCTFail("no setup request") }
            machine.run(.response(setup, .success(.databaseChanges(ZoneFate(reason: reason, token: nil)))))
            XCTAssertEqual(machine.run(.delivery(.streamRequested(2))).delivered, [item(deleted: "A")])
        }
    }

    /// Z1: the zone is lost during a conflict: the server's version is uploaded again, then the conflict is
    /// resolved.
    func testAnOpenConflictKeepsBothSidesWhenTheZoneIsLost() {
        for isAsked in [false, true] {
            var machine = machine
            machine.upload("A", 3)
            machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
            machine.fetch([.init("A", 8)], token: "9")
            // The contents could not be read, so the resolver runs later.
            if !isAsked { machine.run(.reconciled([])) }
            machine.run(.signal(.changes(in: nil)))
            guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
            let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
            machine.run(.response(request.id, .failure(reset)))
            // A resolution that arrives now belongs to the former zone.
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
        return machine.run(
            .response(request, .success(.databaseChanges(ZoneFate(reason: reason, token: .init("d")))))
        )
    }

    /// The newer app may have written the same fields.
    func testALostVersionIsParkedUnderAnEqualOneThatIsTooNew() {
        loseZone()
        machine.answerFetch([.init("A", 10, hash: 1, schema: 2)], token: "n")
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .serverValueUndecodable)
    }

    func testARetriedDeletionDoesNotUploadTheLostVersionAgain() {
        machine.delete("A")
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        loseZone()
        machine.run(.calls(.retry(machine.newCall(), names: ["A"])))
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=delete@- B=2@-"])
    }
}
