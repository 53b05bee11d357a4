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
        XCTAssertEqual(Set(machine.answerFetch(token: "n").requests), ["send A=3@- B=2@-"])
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
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=3@- B=2@-"])
    }

    /// Between the discovery and its storing nothing leaves, and late answers are of another zone.
    func testNothingLeavesWhileTheLossIsStored() {
        machine.run(.signal(.changes(in: nil)))
        machine.upload("A", 3)
        guard let fetch = machine.fetchRequest, let send = machine.sendRequest else {
            return XCTFail("two requests are under way")
        }
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
            XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=7@-"], "\(isHandedOut)")
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

    // MARK: The database's feed

    private let zone = ZoneID(zoneName: "Item")

    private func page(
        deleted: DatabaseChanges.Deletion.Reason? = nil,
        isMade: Bool = false,
        token: String,
        moreComing: Bool = false
    ) -> DatabaseChanges {
        let other = ZoneID(zoneName: "Other")
        return DatabaseChanges(
            modifications: isMade ? [zone, other] : [other],
            deletions: [.init(zoneID: other, reason: .purged)]
                + (deleted.map { [.init(zoneID: zone, reason: $0)] } ?? []),
            changeToken: .init(token),
            moreComing: moreComing
        )
    }

    /// Z1: several pages, other zones, and a deletion that a later page follows up.
    func testTheFateOfTheZoneIsReadOffAllPages() {
        var fate = ZoneFate(reason: nil, token: .init("0"))
        XCTAssertTrue(fate.take(page(token: "1", moreComing: true), about: zone))
        XCTAssertNil(fate.reason, "other zones are none of its business")
        XCTAssertTrue(fate.take(page(deleted: .deleted, token: "2", moreComing: true), about: zone))
        XCTAssertFalse(fate.take(page(token: "3"), about: zone))
        XCTAssertEqual(fate, ZoneFate(reason: .deleted, token: .init("3")).after("0"))
        // The same position and more to come: it would never end.
        XCTAssertFalse(fate.take(page(token: "3", moreComing: true), about: zone))
    }

    /// Z1, I-42: made anew since; a purge is asked about, and what is older than the zone is no reason.
    func testAZoneMadeAnewIsNoReasonToForgetWhyItWasLost() {
        for isKnown in [false, true] {
            for reason in [DatabaseChanges.Deletion.Reason.deleted, .purged, .encryptedDataReset] {
                for isOnePage in [false, true] {
                    var fate = ZoneFate(reason: nil, token: isKnown ? .init("0") : nil)
                    if isOnePage {
                        _ = fate.take(page(deleted: reason, isMade: true, token: "2"), about: zone)
                    } else {
                        _ = fate.take(page(deleted: reason, token: "1", moreComing: true), about: zone)
                        _ = fate.take(page(isMade: true, token: "2"), about: zone)
                    }
                    let isReason = isKnown || reason == .purged
                    XCTAssertEqual(fate.reason, isReason ? reason : nil, "\(reason), known \(isKnown)")
                }
            }
        }
    }

    /// Z1: the feed's token is kept, and the next look goes on from it.
    func testTheFeedIsReadOnFromWhereItWasReadTo() {
        machine.upload("A", 3)
        let first = machine.failSend(CloudError(.zoneNotFound))
        XCTAssertEqual(first.databaseTokens, [nil])
        fate(.deleted)
        XCTAssertEqual(machine.state.summary.databaseToken, ChangeToken("d"))
        machine.finishSetup()
        machine.answerFetch(token: "n")
        XCTAssertEqual(machine.failSend(CloudError(.zoneNotFound)).databaseTokens, [ChangeToken("d")])
        var restarted = MachineHarness(state: machine.state)
        restarted.goOnline()
        restarted.upload("B", 5)
        XCTAssertEqual(restarted.failSend(CloudError(.zoneNotFound)).databaseTokens, [ChangeToken("d")])
    }

    /// Z1: where the feed's own token has expired, the feed is read from its beginning.
    func testAnExpiredTokenOfTheFeedIsForgottenAndTheFeedStillTells() {
        for code in [CloudError.Code.changeTokenExpired, .invalidArguments] {
            var machine = machine
            machine.upload("A", 3)
            machine.failSend(CloudError(.zoneNotFound))
            guard let first = machine.setupRequest else { return XCTFail("nothing is asked") }
            machine.run(.databaseChanged(first, .success(ZoneFate(reason: nil, token: .init("d")))))
            machine.finishSetup()
            machine.answerFetch(token: "n")
            machine.failSend(CloudError(.zoneNotFound))
            guard let second = machine.setupRequest else { return XCTFail("nothing is asked") }
            let actions = machine.run(.databaseChanged(second, .failure(CloudError(code))))
            XCTAssertEqual(actions.databaseTokens, [nil])
            guard let third = machine.setupRequest else { return XCTFail("nothing is asked") }
            machine.run(.databaseChanged(third, .success(ZoneFate(reason: .purged, token: .init("e")))))
            XCTAssertEqual(machine.state.summary.zone, .purged)
            XCTAssertEqual(machine.state.summary.databaseToken, ChangeToken("e"))
            XCTAssertEqual(machine.faults, [])
        }
    }

    /// Z1: a feed that cannot tell, from its beginning either, leaves the loss without a reason.
    func testAFeedThatCannotTellLeavesNoReason() {
        machine.upload("A", 3)
        machine.failSend(CloudError(.zoneNotFound))
        guard let request = machine.setupRequest else { return XCTFail("nothing is asked") }
        let actions = machine.run(.databaseChanged(request, .failure(CloudError(.changeTokenExpired))))
        XCTAssertTrue(actions.events.contains(.zoneLost(nil)))
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=3@- B=2@-"])
    }

    /// Z1: the set-up's own requests meet it, too, and callers get the right answer.
    func testRequestsOfTheSetUpMeetTheLoss() {
        // A zone whose key was reset cannot be made before it is deleted.
        var fresh = MachineHarness()
        fresh.run(.start)
        fresh.confirmAccount()
        guard let making = fresh.setupRequest else { return XCTFail("no zone is made") }
        let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        let actions = fresh.run(.zoneSaved(making, reset))
        XCTAssertEqual(actions.replacements, [true])
        guard let replacing = fresh.setupRequest else { return XCTFail("no zone is made") }
        XCTAssertEqual(fresh.run(.zoneSaved(replacing, reset)).requests, [], "not without a pause")
        XCTAssertEqual(fresh.fireNext().replacements, [true])
        // The feed itself answers that the user has purged.
        machine.upload("A", 3)
        let call = machine.newCall()
        machine.run(.sync(call, [.fetch, .send]))
        machine.failSend(CloudError(.zoneNotFound))
        guard let request = machine.setupRequest else { return XCTFail("nothing is asked") }
        let purged = machine.run(.databaseChanged(request, .failure(CloudError(.userDeletedZone))))
        XCTAssertEqual(purged.answers, [.failed(.waitingForDecision(.purged))])
        XCTAssertEqual(fresh.faults, [])
    }

    // MARK: What is lost with an edit that is set aside

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

    /// Z1: replaced by a new edit, on its way or not.
    func testANewEditReplacesBothSidesOfWhatWasLost() {
        for isSent in [false, true] {
            var machine = machine
            machine.upload("A", 3)
            machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
            machine.run(.signal(.changes(in: nil)))
            guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
            let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
            machine.run(.fetched(request.id, .failure(reset)))
            machine.finishSetup()
            machine.run(.read(["A"]))
            if !isSent { machine.upload("A", 7) }
            machine.answerFetch(token: "n")
            if isSent {
                machine.upload("A", 7)
                machine.answerSend { .saved(KnownVersion($0.name == "A" ? 10 : 11)) }
                XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [7])
                XCTAssertEqual(machine.sendRequest?.items.map { $0.known?.changeTag }, ["t10"])
            } else {
                XCTAssertEqual(machine.sendRequest?.items.first { $0.name == "A" }?.handle, 7)
            }
            XCTAssertEqual(machine.conflicts, [])
            XCTAssertNil(machine.state["A"]?.lost)
            XCTAssertEqual(machine.faults, [])
        }
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
        for isSame in [true, false] {
            var machine = machine
            machine.upload("A", 3)
            machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
            machine.run(.signal(.changes(in: nil)))
            guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
            let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
            machine.run(.fetched(request.id, .failure(reset)))
            machine.finishSetup()
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
        loseZone()
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

    @discardableResult
    private func fate(_ reason: DatabaseChanges.Deletion.Reason?) -> [SyncAction] {
        guard let request = machine.setupRequest else { return [] }
        return machine.run(.databaseChanged(request, .success(ZoneFate(reason: reason, token: .init("d")))))
    }
}

extension [SyncAction] {
    /// The positions from which the database's feed is read.
    fileprivate var databaseTokens: [ChangeToken?] {
        compactMap { if case .readDatabaseChanges(_, let token) = $0 { .some(token) } else { nil } }
    }

    /// Whether each zone that is made replaces one.
    fileprivate var replacements: [Bool] {
        compactMap { if case .saveZone(_, let replacing) = $0 { replacing } else { nil } }
    }
}

extension ZoneFate {
    /// The same, read on from a position that was known.
    fileprivate func after(_ token: String) -> ZoneFate {
        var fate = ZoneFate(reason: nil, token: .init(token))
        fate.reason = reason
        fate.token = self.token
        return fate
    }
}
