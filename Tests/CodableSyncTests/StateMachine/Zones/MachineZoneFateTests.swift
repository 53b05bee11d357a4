import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Why a zone is missing, from the database's feed and from setup requests.
final class MachineZoneFateTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.know("B", 2)
        machine.run(.delivery(.streamRequested(1)))
    }

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

    /// Z1: several pages, other zones, and a deletion followed by another page.
    func testTheZonesFateIsReadFromAllPages() {
        var fate = ZoneFate(reason: nil, token: .init("0"))
        XCTAssertTrue(fate.take(page(token: "1", moreComing: true), about: zone))
        XCTAssertNil(fate.reason, "other zones don't matter")
        XCTAssertTrue(fate.take(page(deleted: .deleted, token: "2", moreComing: true), about: zone))
        XCTAssertFalse(fate.take(page(token: "3"), about: zone))
        XCTAssertEqual(fate, ZoneFate(reason: .deleted, token: .init("3")).after("0"))
        // The token repeats with more to come: reading on would never end.
        XCTAssertFalse(fate.take(page(token: "3", moreComing: true), about: zone))
    }

    /// Z1, I-42: the zone was re-created: a purge still needs a decision; other deletions count only after a
    /// known token.
    func testARecreatedZoneKeepsTheReasonOfItsLoss() {
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

    /// I-42: a deletion that replaces the zone is not a deliberate deletion.
    func testADeletionWithAReplacementMarkIsAReset() {
        let mark = zone.replacementMark(7)
        for (told, expected) in [
            (DatabaseChanges.Deletion.Reason.deleted, DatabaseChanges.Deletion.Reason.encryptedDataReset),
            (.encryptedDataReset, .encryptedDataReset), (.purged, .purged),
        ] {
            for isMarkFirst in [false, true] {
                var fate = ZoneFate(reason: nil, token: .init("0"))
                var pages = [page(deleted: told, token: "1", moreComing: true), page(token: "2")]
                pages[isMarkFirst ? 0 : 1].modifications.append(mark)
                for page in pages { _ = fate.take(page, about: zone) }
                XCTAssertEqual(fate.reason, expected, "\(told), mark first: \(isMarkFirst)")
            }
        }
    }

    /// If the zone has been re-created, the feed may omit the deletion but still shows the mark.
    func testAReplacementMarkAloneIsAReset() {
        for isKnown in [false, true] {
            var fate = ZoneFate(reason: nil, token: isKnown ? .init("0") : nil)
            var page = page(isMade: true, token: "1")
            page.modifications.append(zone.replacementMark(7))
            _ = fate.take(page, about: zone)
            // Without a known token, the mark may be older than everything this device has fetched.
            XCTAssertEqual(fate.reason, isKnown ? .encryptedDataReset : nil)
        }
    }

    func testAReplacementMarkBelongsToOneZoneAndHasAValidName() throws {
        let names = ["Item", "Item.7", String(repeating: "x", count: 255)]
        for name in names {
            let mark = ZoneID(zoneName: name).replacementMark(.max)
            try RecordLimits.checkZoneName(mark.zoneName)
            let marked = names.filter { mark.isReplacementMark(of: ZoneID(zoneName: $0)) }
            XCTAssertEqual(marked, [name])
        }
        XCTAssertFalse(zone.isReplacementMark(of: zone))
    }

    /// Z1: the database token is stored, and the next read continues from it.
    func testTheFeedIsReadFromTheStoredToken() {
        machine.hasFeed = true
        machine.upload("A", 3)
        let first = machine.failSend(CloudError(.zoneNotFound))
        XCTAssertEqual(first.databaseTokens, [nil])
        fate(.deleted)
        XCTAssertEqual(machine.state.summary.databaseToken, ChangeToken("d"))
        machine.finishSetup()
        machine.answerFetch(token: "n")
        fate(nil)
        XCTAssertEqual(machine.failSend(CloudError(.zoneNotFound)).databaseTokens, [ChangeToken("d")])
        var restarted = MachineHarness(state: machine.state)
        restarted.goOnline()
        restarted.upload("B", 5)
        XCTAssertEqual(restarted.failSend(CloudError(.zoneNotFound)).databaseTokens, [ChangeToken("d")])
    }

    /// Z1: if the database token has expired, the feed is read from its beginning.
    func testAnExpiredDatabaseTokenRestartsTheFeed() {
        for code in [CloudError.Code.changeTokenExpired, .invalidArguments] {
            var machine = machine
            machine.hasFeed = true
            machine.upload("A", 3)
            machine.failSend(CloudError(.zoneNotFound))
            guard let first = machine.setupRequest else { return XCTFail("no setup request") }
            machine.run(
                .response(first, .success(.databaseChanges(ZoneFate(reason: nil, token: .init("d")))))
            )
            machine.finishSetup()
            machine.answerFetch(token: "n")
            guard let asked = machine.setupRequest else { return XCTFail("no setup request") }
            machine.run(
                .response(asked, .success(.databaseChanges(ZoneFate(reason: nil, token: .init("d")))))
            )
            machine.failSend(CloudError(.zoneNotFound))
            guard let second = machine.setupRequest else { return XCTFail("no setup request") }
            let actions = machine.run(.response(second, .failure(CloudError(code))))
            XCTAssertEqual(actions.databaseTokens, [nil])
            guard let third = machine.setupRequest else { return XCTFail("no setup request") }
            machine.run(
                .response(third, .success(.databaseChanges(ZoneFate(reason: .purged, token: .init("e")))))
            )
            XCTAssertEqual(machine.state.onlyZone.stage, .purged)
            XCTAssertEqual(machine.state.summary.databaseToken, ChangeToken("e"))
            XCTAssertEqual(machine.faults, [])
        }
    }

    /// Z1: if the feed cannot be read even from its beginning, the reason of the loss is unknown.
    func testAnUnreadableFeedLeavesTheReasonUnknown() {
        machine.upload("A", 3)
        machine.failSend(CloudError(.zoneNotFound))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let actions = machine.run(.response(request, .failure(CloudError(.changeTokenExpired))))
        XCTAssertTrue(actions.events.contains(.zoneLost(nil)))
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
    }

    /// Z1: an unknown error is retried eight times, not forever.
    func testRepeatedUnknownErrorsOfTheFeedLeaveTheReasonUnknown() {
        machine.upload("A", 3)
        machine.failSend(CloudError(.zoneNotFound))
        var actions: [SyncAction] = []
        for attempt in 1...8 {
            guard let request = machine.setupRequest else { return XCTFail("no setup request") }
            actions = machine.run(.response(request, .failure(CloudError(.unknown("new")))))
            XCTAssertEqual(actions.events.contains(.zoneLost(nil)), attempt == 8, "\(attempt)")
            if attempt < 8 { XCTAssertEqual(machine.fireNext().requests, ["readDatabaseChanges"]) }
        }
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
        XCTAssertEqual(machine.machine.zone.unknownFeedErrors, 0)
    }

    /// Z1: only the stored position may be what the server rejects.
    func testAFeedThatIsRejectedAgainAndAgainIsReadFromItsBeginning() {
        machine.hasFeed = true
        machine.upload("A", 3)
        machine.failSend(CloudError(.zoneNotFound))
        fate(nil)
        machine.finishSetup()
        machine.answerFetch(token: "n")
        fate(nil)
        machine.failSend(CloudError(.zoneNotFound))
        let rejection = CloudError(.serverRejectedRequest)
        for attempt in 1...8 {
            guard let request = machine.setupRequest else { return XCTFail("no setup request") }
            let actions = machine.run(.response(request, .failure(rejection)))
            if attempt == 8 { XCTAssertEqual(actions.databaseTokens, [nil]) }
            if attempt < 8 { XCTAssertEqual(machine.fireNext().databaseTokens, [ChangeToken("d")]) }
        }
        fate(.purged)
        XCTAssertEqual(machine.state.onlyZone.stage, .purged)
        XCTAssertEqual(machine.faults, [])
    }

    /// Z1: setup requests detect the loss as well, and callers get the right error.
    func testSetupRequestsDetectTheLoss() {
        // After a reset of the encryption key, the zone must be deleted before it can be created.
        var fresh = MachineHarness()
        fresh.run(.calls(.start))
        fresh.confirmAccount()
        guard let making = fresh.setupRequest else { return XCTFail("no setup request") }
        let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        let actions = fresh.run(.response(making, .failure(reset)))
        XCTAssertEqual(actions.replacements, [true])
        guard let replacing = fresh.setupRequest else { return XCTFail("no setup request") }
        XCTAssertEqual(
            fresh.run(.response(replacing, .failure(reset))).requests,
            [],
            "the next attempt waits"
        )
        XCTAssertEqual(fresh.fireNext().replacements, [true])
        // The zone is lost before the subscription is created: the next zone gets one.
        var late = MachineHarness()
        late.run(.calls(.start))
        late.confirmAccount()
        guard let zone = late.setupRequest else { return XCTFail("no setup request") }
        late.run(.response(zone, .success(.zoneSaved)))
        guard let subscribing = late.setupRequest else { return XCTFail("no setup request") }
        late.run(.response(subscribing, .failure(CloudError(.zoneNotFound))))
        XCTAssertEqual(late.answerFetch(token: "0").requests, ["readDatabaseChanges"])
        guard let reading = late.setupRequest else { return XCTFail("no setup request") }
        late.run(.response(reading, .success(.databaseChanges(ZoneFate(reason: .deleted, token: nil)))))
        guard let next = late.setupRequest else { return XCTFail("no setup request") }
        XCTAssertTrue(late.run(.response(next, .success(.zoneSaved))).requests.contains("subscribe"))
        // Reading the feed itself fails because the user has purged the zone.
        machine.upload("A", 3)
        let call = machine.newCall()
        machine.run(.calls(.sync(call, [.fetch, .send])))
        machine.failSend(CloudError(.zoneNotFound))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let purged = machine.run(.response(request, .failure(CloudError(.userDeletedZone))))
        XCTAssertEqual(purged.answers, [.failed(.waitingForDecision)])
        XCTAssertEqual(fresh.faults, [])
    }

    @discardableResult
    private func fate(_ reason: DatabaseChanges.Deletion.Reason?) -> [SyncAction] {
        guard let request = machine.setupRequest else { return [] }
        return machine.run(
            .response(request, .success(.databaseChanges(ZoneFate(reason: reason, token: .init("d")))))
        )
    }
}

extension [SyncAction] {
    /// The tokens from which the database's feed is read.
    fileprivate var databaseTokens: [ChangeToken?] {
        compactMap { if case .request(_, .readDatabaseChanges(let token)) = $0 { .some(token) } else { nil } }
    }

    /// For each zone that is saved, whether it replaces one.
    fileprivate var replacements: [Bool] {
        compactMap { if case .request(_, .saveZone(let mark)) = $0 { mark != nil } else { nil } }
    }
}

extension ZoneFate {
    /// The same fate, read from a known token.
    fileprivate func after(_ token: String) -> ZoneFate {
        var fate = ZoneFate(reason: nil, token: .init(token))
        fate.reason = reason
        fate.token = self.token
        return fate
    }
}
