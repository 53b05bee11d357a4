import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Answers that may be of another zone of the same name than the one that the known versions are of.
final class MachineFormerZoneTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.know("B", 2)
        var state = machine.state
        state.apply(.databaseToken(ChangeToken("p")))
        state.changeSummary { $0.isPositionLate = false }
        machine = MachineHarness(state: state)
        machine.hasFeed = true
        machine.run(.start)
        machine.confirmAccount()
        machine.answerFetch(token: "9")
        XCTAssertEqual(machine.state.knownCount, 2)
    }

    /// The feed tells what became of the zone since it was asked last.
    @discardableResult
    private func tell(_ reason: DatabaseChanges.Deletion.Reason?, token: String = "d") -> [SyncAction] {
        guard let request = machine.setupRequest else { return [] }
        return machine.run(
            .databaseChanged(request, .success(ZoneFate(reason: reason, token: .init(token))))
        )
    }

    private func expire() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        machine.run(.fetched(request.id, .failure(CloudError(.changeTokenExpired))))
    }

    /// The zone may be made anew between a question and the page: the feed is asked after the page.
    func testAListingIsTakenForOneOfTheSameZoneOnlyByAFeedThatIsReadAfterIt() {
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
                XCTAssertEqual(machine.state.summary.zoneToken, ChangeToken("n"))
            } else {
                XCTAssertEqual(machine.state["A"]?.lost?.changeTag, "t1")
                XCTAssertEqual(machine.state.summary.zone, .unreadable)
            }
            XCTAssertEqual(machine.faults, [])
            machine = start
        }
    }

    /// A record that is looked up and not found may have gone with its zone.
    func testWhatALookUpDoesNotFindMayBeOfTheFormerZone() {
        for reason in [DatabaseChanges.Deletion.Reason.encryptedDataReset, nil] {
            let start = machine
            machine.run(.signal(.changes(in: nil)))
            machine.answerFetch(failed: ["A"], token: "10")
            guard let lookUp = machine.lookUpRequest else { return XCTFail("nothing is looked up") }
            let found = [LookedUp(name: "A", result: .success(nil))]
            XCTAssertEqual(
                machine.run(.lookedUp(lookUp.id, .success(found))).requests,
                ["readDatabaseChanges"]
            )
            tell(reason)
            XCTAssertEqual(machine.state["A"]?.lost?.changeTag, reason == nil ? nil : "t1")
            XCTAssertNil(machine.state["A"]?.known)
            XCTAssertEqual(machine.faults, [])
            machine = start
        }
    }

    /// The version of a conflict may be of another zone, and the one that was edited is no ancestor then.
    func testAConflictIsDecidedOnceTheZoneIsKnownToBeTheSame() {
        for reason in [DatabaseChanges.Deletion.Reason.encryptedDataReset, nil] {
            let start = machine
            machine.run(machine.reading("A"))
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

    /// An answer that comes while the feed is being read may be newer than what the feed tells.
    func testAnAnswerThatComesWhileTheFeedIsReadWaitsForTheNextReading() {
        machine.run(machine.reading("A"))
        expire()
        machine.upload("A", 3)
        machine.answerFetch([.init("A", 1), .init("B", 2)], token: "n")
        guard let first = machine.setupRequest else { return XCTFail("the feed is not read") }
        XCTAssertNil(machine.sendRequest, "nothing new is asked for meanwhile")
        tell(nil)
        machine.upload("B", 4)
        XCTAssertNotEqual(machine.setupRequest, first)
    }

    /// The server's order to wait in an answer is obeyed before it is asked what zone the answer is of.
    func testAnOrderToWaitHoldsBackTheQuestionToo() {
        machine.run(.enqueue(machine.newCall(), [.save("A", 3), .save("B", 4)]))
        let wait = CloudError(.requestRateLimited, retryAfter: .seconds(30))
        let actions = machine.answerSend { .failed($0.name == "A" ? CloudError(.unknownItem) : wait) }
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(machine.fireNext { $0 == .serverWait }.requests, ["checkAccount"])
        machine.confirmAccount()
        tell(nil)
        XCTAssertNil(machine.state["A"]?.known)
        XCTAssertNil(machine.machine.serverWait, "the order was for once")
    }

    /// A subscription that is never answered holds up no question, and so no caller.
    func testTheFeedIsReadWhileASubscriptionIsUnderWay() {
        machine = MachineHarness()
        machine.hasFeed = true
        machine.run(.start)
        machine.confirmAccount()
        machine.run(.zoneSaved(machine.setupRequest ?? 0, nil))
        XCTAssertEqual(tell(nil).requests, ["subscribe", "fetch -"])
        XCTAssertEqual(machine.answerFetch(token: "0").requests, ["readDatabaseChanges"])
        tell(nil)
        XCTAssertEqual(machine.state.summary.zoneToken, ChangeToken("0"))
        XCTAssertEqual(machine.open.values.sorted(), ["subscription"])
    }

    // MARK: Deletions

    /// Deletions win: one that is pending is sent into the next zone, whatever became of the former one.
    func testAPendingDeletionOutlivesTheZone() {
        for reason in [DatabaseChanges.Deletion.Reason.encryptedDataReset, .deleted, .purged, nil] {
            for removes in reason == .purged ? [false, true] : [false] {
                let start = machine
                machine.delete("A")
                machine.failSend(CloudError(.zoneNotFound))
                tell(reason)
                if reason == .purged { machine.run(.resolvePurge(machine.newCall(), uploadAgain: !removes)) }
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

    /// A deletion that the server has refused stays set aside, and its record goes up again, as under a parked edit.
    func testWhatIsUnderARefusedDeletionGoesUpAgain() {
        machine.delete("A")
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        let reset = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        machine.run(.fetched(request.id, .failure(reset)))
        machine.finishSetup()
        machine.answerFetch(token: "n")
        tell(nil, token: "f")
        XCTAssertEqual(machine.sendRequest?.items.map(\.handle), [1, 2])
        machine.answerSend { .saved(KnownVersion($0.name == "A" ? 10 : 11)) }
        XCTAssertNotNil(machine.state["A"]?.pending?.parked)
        XCTAssertNil(machine.state.shownHandle(of: "A"))
        XCTAssertEqual(machine.run(.retry(machine.newCall(), names: ["A"])).requests, ["send A=delete@t10"])
    }

    // MARK: The position

    /// Known versions are worth nothing without the position, so it is read before the first of them is asked for.
    func testNothingIsAskedForBeforeThePositionIsRead() {
        machine = MachineHarness()
        machine.hasFeed = true
        machine.run(.start)
        machine.confirmAccount()
        guard let making = machine.setupRequest else { return XCTFail("no zone is made") }
        XCTAssertEqual(machine.run(.zoneSaved(making, nil)).requests, ["readDatabaseChanges"])
        guard let reading = machine.setupRequest else { return XCTFail("the feed is not read") }
        let failed = machine.run(.databaseChanged(reading, .failure(CloudError(.networkFailure))))
        XCTAssertEqual(failed.requests, [])
        XCTAssertEqual(machine.fireNext { $0 == .setupRetry }.requests, ["readDatabaseChanges"])
        XCTAssertEqual(tell(nil).requests, ["subscribe", "fetch -"])
        XCTAssertEqual(machine.state.summary.databaseToken, ChangeToken("d"))
    }

    /// A database without a feed is believed, and asked once more by the next opening.
    func testADatabaseWithoutAFeedIsBelieved() {
        for code in [CloudError.Code.badDatabase, .invalidArguments, .changeTokenExpired] {
            machine = MachineHarness()
            machine.hasFeed = true
            machine.run(.start)
            machine.confirmAccount()
            machine.run(.zoneSaved(machine.setupRequest ?? 0, nil))
            guard let reading = machine.setupRequest else { return XCTFail("the feed is not read") }
            let told = machine.run(.databaseChanged(reading, .failure(CloudError(code))))
            XCTAssertEqual(told.requests, ["subscribe", "fetch -"], "\(code)")
            var next = MachineHarness(state: machine.state)
            next.hasFeed = true
            next.run(.start)
            next.confirmAccount()
            XCTAssertEqual(next.open.values.sorted(), ["setup"], "\(code)")
            XCTAssertEqual(next.faults, [])
        }
    }

    /// A feed that tells of a loss each time is wrong; asked without a pause, it would be asked for ever.
    func testAFeedThatTellsOfALossEachTimeIsNotAskedWithoutAPause() {
        expire()
        var rounds = 0
        while rounds < 20, machine.setupRequest != nil || machine.fetchRequest != nil {
            rounds += 1
            machine.answerFetch([.init("C", 7)], token: "n\(rounds)")
            tell(.deleted, token: "d\(rounds)")
            machine.finishSetup()
        }
        XCTAssertLessThan(rounds, 10)
        XCTAssertNotNil(machine.timers[.setupRetry])
    }

    /// What was decided of a loss stays decided, also where the disk refuses to note it at first.
    func testALossThatIsNobodysConcernStaysSoOverAFullDisk() {
        expire()
        machine.answerFetch([.init("A", 1), .init("B", 2)], token: "n")
        guard let request = machine.setupRequest else { return XCTFail("the feed is not read") }
        machine.feed(.databaseChanged(request, .success(ZoneFate(reason: .purged, token: .init("d")))))
        machine.failNextCommit()
        machine.fireNext { $0 == .setupRetry }
        tell(.purged)
        XCTAssertNotEqual(machine.state.summary.zone, .purged)
        XCTAssertEqual(machine.state["A"]?.lost?.changeTag, "t1")
    }

    /// An answer that waits for the feed is no request: what keeps the feed away is said.
    func testWhileAnAnswerWaitsForTheFeedTheStatusSaysWhatItWaitsFor() {
        machine.run(machine.reading("A"))
        machine.upload("A", 3)
        machine.answerSend { _ in .conflict(server: KnownVersion(10)) }
        guard let request = machine.setupRequest else { return XCTFail("the feed is not read") }
        let actions = machine.run(.databaseChanged(request, .failure(CloudError(.networkUnavailable))))
        XCTAssertEqual(actions.statuses.last, .offline)
    }

    /// Records that became known without a position may be of a zone that went before it.
    func testAListingByAPositionThatIsYoungerThanTheRecordsDeletesNothing() {
        var state = machine.state
        state.apply(.databaseToken(nil))
        machine = MachineHarness(state: state)
        machine.hasFeed = true
        machine.run(.start)
        machine.confirmAccount()
        machine.finishSetup()
        XCTAssertEqual(machine.state.summary.databaseToken, ChangeToken("start"))
        machine.answerFetch(token: "10")
        machine = MachineHarness(state: machine.state)
        machine.hasFeed = true
        machine.run(.start)
        machine.confirmAccount()
        expire()
        machine.answerFetch([.init("B", 2)], token: "n")
        tell(nil)
        XCTAssertEqual(machine.state["A"]?.lastKnown?.changeTag, "t1")
    }
}
