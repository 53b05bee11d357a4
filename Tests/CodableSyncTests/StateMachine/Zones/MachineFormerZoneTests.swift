import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Answers that may come from a re-created zone with the same name.
final class MachineFormerZoneTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.know("B", 2)
        var state = machine.state
        state.apply(.databaseToken(ChangeToken("p")))
        state.changeZone(.first) { $0.isPositionLate = false }
        machine = MachineHarness(state: state)
        machine.hasFeed = true
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.answerFetch(token: "9")
        XCTAssertEqual(machine.state.knownCount, 2)
    }

    /// The feed reports what has happened to the zone since the last read.
    @discardableResult
    private func tell(_ reason: DatabaseChanges.Deletion.Reason?, token: String = "d") -> [SyncAction] {
        guard let request = machine.setupRequest else { return [] }
        return machine.run(
            .response(request, .success(.databaseChanges(ZoneFate(reason: reason, token: .init(token)))))
        )
    }

    private func expire() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        machine.run(.response(request.id, .failure(CloudError(.changeTokenExpired))))
    }

    /// The zone may be re-created before the page is read, so the feed is read after the page.
    func testAListingCountsOnceTheFeedConfirmsTheZone() {
        for reason in [DatabaseChanges.Deletion.Reason.encryptedDataReset, nil] {
            let start = machine
            expire()
            XCTAssertEqual(machine.fetchRequest?.since, nil)
            XCTAssertEqual(machine.answerFetch([.init("B", 2)], token: "n").requests, ["readDatabaseChanges"])
            XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t1")
            tell(reason)
            XCTAssertEqual(machine.state.summary.databaseToken, ChangeToken("d"))
            if reason == nil {
                XCTAssertNil(machine.state["A"]?.known, "deleted elsewhere")
                XCTAssertEqual(machine.state.onlyZone.token, ChangeToken("n"))
            } else {
                XCTAssertEqual(machine.state["A"]?.lost?.changeTag, "t1")
                XCTAssertEqual(machine.state.onlyZone.stage, .unreadable)
            }
            XCTAssertEqual(machine.faults, [])
            machine = start
        }
    }

    /// A look-up may find no record because the zone was lost with it.
    func testAMissingRecordMayHaveBeenLostWithItsZone() {
        for reason in [DatabaseChanges.Deletion.Reason.encryptedDataReset, nil] {
            let start = machine
            machine.run(.signal(.changes(in: nil)))
            machine.answerFetch(failed: ["A"], token: "10")
            guard let lookUp = machine.lookUpRequest else { return XCTFail("no look-up request") }
            let found = [LookedUp(name: "A", result: .success(nil))]
            XCTAssertEqual(
                machine.run(.response(lookUp.id, .success(.records(found)))).requests,
                ["readDatabaseChanges"]
            )
            tell(reason)
            XCTAssertEqual(machine.state["A"]?.lost?.changeTag, reason == nil ? nil : "t1")
            XCTAssertNil(machine.state["A"]?.known)
            XCTAssertEqual(machine.faults, [])
            machine = start
        }
    }

    /// The conflicting version may belong to a re-created zone; then the edited version is not an ancestor.
    func testAConflictIsResolvedOnceTheFeedConfirmsTheZone() {
        for reason in [DatabaseChanges.Deletion.Reason.encryptedDataReset, nil] {
            let start = machine
            machine.upload("A", 3)
            let answer = machine.answerSend { _ in .conflict(server: KnownVersion(10)) }
            XCTAssertEqual(answer.requests, ["readDatabaseChanges"])
            XCTAssertEqual(machine.conflicts, [])
            tell(reason)
            if reason == nil {
                XCTAssertEqual(machine.conflicts.map(\.ancestor), [1])
                XCTAssertEqual(machine.conflicts.map(\.server), [10])
            } else {
                machine.finishSetup()
                machine.answerFetch([.init("A", 10)], token: "n")
                tell(nil, token: "f")
                XCTAssertEqual(machine.conflicts.map(\.ancestor), [nil])
            }
            XCTAssertEqual(machine.faults, [])
            machine = start
        }
    }

    /// An answer that arrives while the feed is being read may be newer than the feed's report.
    func testAnAnswerDuringAFeedReadWaitsForTheNextRead() {
        expire()
        machine.upload("A", 3)
        machine.answerFetch([.init("A", 1), .init("B", 2)], token: "n")
        guard let first = machine.setupRequest else { return XCTFail("no setup request") }
        XCTAssertNil(machine.sendRequest, "no other request meanwhile")
        tell(nil)
        machine.upload("B", 4)
        XCTAssertNotEqual(machine.setupRequest, first)
    }

    /// A retry-after in an answer also delays reading the feed for that answer.
    func testARetryAfterAlsoDelaysReadingTheFeed() {
        machine.run(.calls(.enqueue(machine.newCall(), [.save("A", 3), .save("B", 4)])))
        let wait = CloudError(.requestRateLimited, retryAfter: .seconds(30))
        let actions = machine.answerSend { .failed($0.name == "A" ? CloudError(.unknownItem) : wait) }
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(machine.fireNext { $0 == .serverWait }.requests, ["checkAccount"])
        machine.confirmAccount()
        tell(nil)
        XCTAssertNil(machine.state["A"]?.known)
        XCTAssertNil(machine.machine.context.serverWait.until, "the wait applies only once")
    }

    /// A dictionary has no order, and equal answers must lead to equal actions.
    func testRetryAftersOfItemsAreAppliedInTheOrderOfTheirNames() {
        let names = (0..<8).map { "N\($0)" }
        machine.run(.calls(.enqueue(machine.newCall(), names.map { .save($0, 3) })))
        var error = CloudError(.partialFailure)
        for (index, name) in names.enumerated() {
            let id = RecordID(recordName: name, zoneID: ZoneID(zoneName: "Item"))
            let wait = Duration.seconds(10 + index)
            // Without a wait, a missing record is in doubt, so the response is held.
            error.itemErrors[id] =
                index == 0 ? CloudError(.unknownItem) : CloudError(.zoneBusy, retryAfter: wait)
        }
        let waits = machine.failSend(error).compactMap { action -> Date? in
            if case .report(.event(.waiting(let date))) = action { date } else { nil }
        }
        XCTAssertTrue(machine.machine.zone.holdsResponse)
        XCTAssertEqual(waits.count, names.count - 1, "each one is longer than those before it")
        XCTAssertEqual(waits, waits.sorted())
    }

    /// A subscription request that is never answered does not delay reading the feed.
    func testTheFeedIsReadDuringAPendingSubscription() {
        machine = MachineHarness()
        machine.hasFeed = true
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.run(.response(machine.setupRequest ?? 0, .success(.zoneSaved)))
        XCTAssertEqual(tell(nil).requests, ["subscribe", "fetch -"])
        XCTAssertEqual(machine.answerFetch(token: "0").requests, ["readDatabaseChanges"])
        tell(nil)
        XCTAssertEqual(machine.state.onlyZone.token, ChangeToken("0"))
        XCTAssertEqual(machine.open.values.sorted(), ["subscription"])
    }

    // MARK: Deletions

    /// Deletions win: a pending deletion is sent to the next zone, whatever happened to the former one.
    func testAPendingDeletionSurvivesTheZone() {
        for reason in [DatabaseChanges.Deletion.Reason.encryptedDataReset, .deleted, .purged, nil] {
            for removes in reason == .purged ? [false, true] : [false] {
                let start = machine
                machine.delete("A")
                machine.failSend(CloudError(.zoneNotFound))
                tell(reason)
                if reason == .purged {
                    machine.run(.calls(.resolvePurge(machine.newCall(), uploadAgain: !removes)))
                }
                machine.finishSetup()
                machine.answerFetch([.init("A", 10)], token: "n")
                tell(nil, token: "f")
                let row = "\(reason.map { $0.rawValue } ?? "no reason"), removes \(removes)"
                let deletions = machine.sendRequest?.items.filter { $0.name == "A" }.map(\.handle)
                XCTAssertEqual(deletions, [nil], row)
                XCTAssertNil(machine.state.shownHandle(of: "A"), row)
                machine.answerSend { $0.handle == nil ? .deleted : .saved(KnownVersion(11)) }
                XCTAssertNil(machine.state["A"]?.known, row)
                XCTAssertEqual(machine.faults, [], row)
                machine = start
            }
        }
    }

    /// A rejected deletion stays parked, and its record is uploaded again, as under a parked edit.
    func testTheRecordUnderARejectedDeletionIsUploadedAgain() {
        machine.delete("A")
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        machine.run(.response(request.id, .failure(reset)))
        machine.finishSetup()
        machine.answerFetch(token: "n")
        tell(nil, token: "f")
        XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [1, 2])
        machine.answerSend { .saved(KnownVersion($0.name == "A" ? 10 : 11)) }
        XCTAssertNotNil(machine.state["A"]?.pending?.parked)
        XCTAssertNil(machine.state.shownHandle(of: "A"))
        XCTAssertEqual(
            machine.run(.calls(.retry(machine.newCall(), names: ["A"]))).requests,
            ["send A=delete@t10"]
        )
    }

    // MARK: The position

    /// Known versions are useless without a database token, so the token is read before any record is
    /// fetched.
    func testTheDatabaseTokenIsReadBeforeTheFirstFetch() {
        machine = MachineHarness()
        machine.hasFeed = true
        machine.run(.calls(.start))
        machine.confirmAccount()
        guard let making = machine.setupRequest else { return XCTFail("no setup request") }
        XCTAssertEqual(machine.run(.response(making, .success(.zoneSaved))).requests, ["readDatabaseChanges"])
        guard let reading = machine.setupRequest else { return XCTFail("no setup request") }
        let failed = machine.run(.response(reading, .failure(CloudError(.networkFailure))))
        XCTAssertEqual(failed.requests, [])
        XCTAssertEqual(machine.fireNext { $0 == .zoneRetry }.requests, ["readDatabaseChanges"])
        XCTAssertEqual(tell(nil).requests, ["subscribe", "fetch -"])
        XCTAssertEqual(machine.state.summary.databaseToken, ChangeToken("d"))
    }

    /// If the database says that it has no feed, the engine continues without one and asks again at the next
    /// opening.
    func testTheEngineContinuesWithoutAFeed() {
        for code in [CloudError.Code.badDatabase, .invalidArguments, .changeTokenExpired] {
            machine = MachineHarness()
            machine.hasFeed = true
            machine.run(.calls(.start))
            machine.confirmAccount()
            machine.run(.response(machine.setupRequest ?? 0, .success(.zoneSaved)))
            guard let reading = machine.setupRequest else { return XCTFail("no setup request") }
            let told = machine.run(.response(reading, .failure(CloudError(code))))
            XCTAssertEqual(told.requests, ["subscribe", "fetch -"], "\(code)")
            var next = MachineHarness(state: machine.state)
            next.hasFeed = true
            next.run(.calls(.start))
            next.confirmAccount()
            XCTAssertEqual(next.open.values.sorted(), ["setup"], "\(code)")
            XCTAssertEqual(next.faults, [])
        }
    }

    /// A feed that reports a loss every time must not be read forever without a pause.
    func testAFeedThatAlwaysReportsALossIsReadWithPauses() {
        expire()
        var rounds = 0
        while rounds < 20, machine.setupRequest != nil || machine.fetchRequest != nil {
            rounds += 1
            machine.answerFetch([.init("C", 7)], token: "n\(rounds)")
            tell(.deleted, token: "d\(rounds)")
            machine.finishSetup()
        }
        XCTAssertLessThan(rounds, 10)
        XCTAssertNotNil(machine.timers[.zoneRetry])
    }

    /// The listing has every known record, so the purge is of a former zone; a failed commit does not change
    /// that.
    func testAPurgeOfAFormerZoneIsIgnoredEvenAfterAFailedCommit() {
        expire()
        machine.answerFetch([.init("A", 1), .init("B", 2)], token: "n")
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        machine.feed(
            .response(request, .success(.databaseChanges(ZoneFate(reason: .purged, token: .init("d")))))
        )
        machine.failNextCommit()
        machine.fireNext { $0 == .zoneRetry }
        tell(.purged)
        XCTAssertNotEqual(machine.state.onlyZone.stage, .purged)
        XCTAssertEqual(machine.state["A"]?.lost?.changeTag, "t1")
    }

    /// While an answer waits for the feed, the status gives the reason why the feed cannot be read.
    func testTheStatusShowsWhyTheFeedCannotBeRead() {
        machine.upload("A", 3)
        machine.answerSend { _ in .conflict(server: KnownVersion(10)) }
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let actions = machine.run(.response(request, .failure(CloudError(.networkUnavailable))))
        XCTAssertEqual(actions.statuses.last, .offline)
    }

    /// Records fetched before there was a database token may belong to an earlier zone.
    func testAListingDeletesNothingIfTheDatabaseTokenIsNewerThanTheRecords() {
        var state = machine.state
        state.apply(.databaseToken(nil))
        machine = MachineHarness(state: state)
        machine.hasFeed = true
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.finishSetup()
        XCTAssertEqual(machine.state.summary.databaseToken, ChangeToken("start"))
        machine.answerFetch(token: "10")
        machine = MachineHarness(state: machine.state)
        machine.hasFeed = true
        machine.run(.calls(.start))
        machine.confirmAccount()
        expire()
        machine.answerFetch([.init("B", 2)], token: "n")
        tell(nil)
        XCTAssertEqual(machine.state["A"]?.lastKnown?.changeTag, "t1")
    }

    /// Only a listing shows which records a zone lacks.
    func testAMissingRecordIsNoLostZoneAlthoughThePositionIsLate() {
        var state = machine.state
        state.changeZone(.first) { $0.isPositionLate = true }
        machine = MachineHarness(state: state)
        machine.hasFeed = true
        machine.goOnline()
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "11")
        let found = [LookedUp(name: "A", result: .success(nil))]
        machine.run(.response(machine.lookUpRequest?.id ?? 0, .success(.records(found))))
        tell(nil)
        XCTAssertEqual(machine.state["B"]?.known?.changeTag, "t2")
    }

    /// A tag is the only sign that a listing has the same version.
    func testAVersionWithoutATagIsOfTheFormerZone() {
        let version = KnownVersion(changeTag: "", handle: 3, hash: 3, modified: nil)
        let records = [FetchedRecord("A", 1), FetchedRecord("B", 2), .init(name: "C", version: version)]
        machine.fetch([records[2]], token: "10")
        expire()
        machine.answerFetch(records, token: "n")
        tell(.deleted)
        XCTAssertNil(machine.state["C"]?.lost, "another device has deleted it with the zone")
    }

    /// The version that was deleted may be the base of an edit.
    func testAVersionOfARecordWhoseDeletionIsYetToBeToldMayBeOfAnotherZone() {
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("C", 3)], token: "10")
        machine.fetch(deletions: ["A"], token: "11")
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "12")
        let found = [LookedUp(name: "A", result: .success(KnownVersion(5)))]
        let response = SyncInput.response(machine.lookUpRequest?.id ?? 0, .success(.records(found)))
        XCTAssertEqual(machine.run(response).requests, ["readDatabaseChanges"])
    }
}
