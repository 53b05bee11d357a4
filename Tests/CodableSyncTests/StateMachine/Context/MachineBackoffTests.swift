import RecordCoding
import XCTest

@testable import CodableSync

/// The waits of a subject grow until its work is stored, and are short again after that.
final class MachineBackoffTests: MachineAccountTestCase {
    private var zone: Waits.Wait { machine.machine.context.waits[.zone] }

    /// Answers the request about the zone, and refuses to store the response.
    private func refuseSetup(_ response: (RequestID) -> SyncInput) throws {
        machine.feed(response(try XCTUnwrap(machine.setupRequest)))
        machine.failNextCommit()
        machine.fireNext { $0 == .zoneRetry || $0 == .subscriptionRetry }
    }

    private func open(hasFeed: Bool) {
        machine = MachineHarness()
        machine.hasFeed = hasFeed
        machine.run(.calls(.start))
        machine.confirmAccount()
    }

    func testAPositionThatCannotBeStoredIsReadWithLongerWaits() throws {
        open(hasFeed: true)
        machine.run(.response(try XCTUnwrap(machine.setupRequest), .success(.zoneSaved)))
        let fate = ZoneFate(reason: nil, token: ChangeToken("p"))
        for attempt in 1...6 {
            try refuseSetup { .response($0, .success(.databaseChanges(fate))) }
            XCTAssertEqual(zone.backoff.attempts, attempt)
        }
        machine.run(.response(try XCTUnwrap(machine.setupRequest), .success(.databaseChanges(fate))))
        XCTAssertEqual(zone.backoff.attempts, 0)
    }

    func testAZoneThatCannotBeStoredIsSavedWithLongerWaits() throws {
        open(hasFeed: false)
        for attempt in 1...6 {
            try refuseSetup { .response($0, .success(.zoneSaved)) }
            XCTAssertEqual(zone.backoff.attempts, attempt)
        }
        machine.run(.response(try XCTUnwrap(machine.setupRequest), .success(.zoneSaved)))
        XCTAssertEqual(zone.backoff.attempts, 0)
    }

    func testASubscriptionThatCannotBeStoredIsMadeWithLongerWaits() throws {
        open(hasFeed: false)
        machine.run(.response(try XCTUnwrap(machine.setupRequest), .success(.zoneSaved)))
        machine.answerFetch(token: "0")
        for attempt in 1...6 {
            try refuseSetup { .response($0, .success(.subscriptionModified)) }
            XCTAssertEqual(machine.machine.context.waits[.subscription].backoff.attempts, attempt)
        }
        machine.run(.response(try XCTUnwrap(machine.setupRequest), .success(.subscriptionModified)))
        XCTAssertEqual(machine.machine.context.waits[.subscription].backoff.attempts, 0)
    }

    func testALookUpThatCannotBeStoredIsMadeWithLongerWaits() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        let found = [LookedUp(name: "A", result: .success(KnownVersion(3)))]
        for attempt in 1...6 {
            machine.feed(.response(try XCTUnwrap(machine.lookUpRequest).id, .success(.records(found))))
            machine.failNextCommit()
            XCTAssertEqual(machine.machine.context.waits[.lookingUp].backoff.attempts, attempt)
            machine.fireNext { $0 == .lookUpRetry }
        }
        machine.run(.response(try XCTUnwrap(machine.lookUpRequest).id, .success(.records(found))))
        XCTAssertEqual(machine.machine.context.waits[.lookingUp].backoff.attempts, 0)
    }

    func testARecordThatCannotBeLookedUpIsLookedUpWithLongerWaits() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        for attempt in 1...6 {
            let failed = LookedUp(name: "A", result: .failure(CloudError(.serviceUnavailable)))
            machine.run(.response(try XCTUnwrap(machine.lookUpRequest).id, .success(.records([failed]))))
            XCTAssertEqual(machine.machine.context.waits[.lookingUp].backoff.attempts, attempt)
            machine.fireNext { $0 == .lookUpRetry }
        }
    }

    /// They wait once, and neither delay nor follow the others.
    func testRecordsThatCannotBeLookedUpWaitOnce() throws {
        let names = (0..<20).map { "N\($0)" }
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: names, token: "1")
        let failed = names.map { LookedUp(name: $0, result: .failure(CloudError(.serviceUnavailable))) }
        machine.run(.response(try XCTUnwrap(machine.lookUpRequest).id, .success(.records(failed))))
        XCTAssertEqual(machine.machine.context.waits[.lookingUp].backoff.attempts, 1)
        XCTAssertEqual(machine.lookUpRequest?.names, nil)
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "2")
        XCTAssertEqual(machine.lookUpRequest?.names.count, 21, "a new record does not wait")
        let found = LookedUp(name: "A", result: .success(KnownVersion(3)))
        let results = failed.dropLast() + [found]
        machine.run(.response(try XCTUnwrap(machine.lookUpRequest).id, .success(.records(Array(results)))))
        XCTAssertEqual(machine.machine.context.waits[.lookingUp].backoff.attempts, 0, "one was found")
        XCTAssertNotNil(machine.timers[.lookUpRetry])
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t3")
        machine.fireNext { $0 == .lookUpRetry }
        XCTAssertEqual(machine.lookUpRequest?.names.count, 20)
    }

    /// Fetches succeed, and every send is refused.
    func testAnAccountThatSendsRefuseIsLookedUpWithLongerWaits() throws {
        machine.upload("A", 1)
        for attempt in 1...6 {
            machine.failSend(CloudError(.notAuthenticated))
            XCTAssertEqual(machine.machine.context.waits[.account].backoff.attempts, attempt)
            machine.fireNext { $0 == .accountRetry }
            machine.confirmAccount()
            machine.answerFetch(token: "\(attempt)")
        }
        saveAll(from: 2)
        XCTAssertEqual(machine.machine.context.waits[.account].backoff.attempts, 0)
    }

    func testADeletionThatCannotBeConfirmedIsSentWithLongerWaits() {
        machine.know("A", 1)
        machine.delete("A")
        for attempt in 1...4 {
            guard let request = machine.sendRequest else { return XCTFail("no request") }
            let results = [SendResult(name: "A", handle: nil, outcome: .deleted)]
            machine.feed(.response(request.id, .success(.sendResults(results))))
            machine.failNextCommit()
            XCTAssertEqual(machine.machine.context.waits[.sending].backoff.attempts, attempt)
            machine.fireNext { $0 == .sendRetry }
        }
        machine.answerSend { _ in .deleted }
        XCTAssertEqual(machine.machine.context.waits[.sending].backoff.attempts, 0)
    }

    /// The account looks available, and every request is refused: a session that has expired.
    func testAnAccountThatRequestsRefuseIsLookedUpWithLongerWaits() throws {
        for attempt in 1...6 {
            machine.run(.signal(.changes(in: nil)))
            let request = try XCTUnwrap(machine.fetchRequest)
            machine.run(.response(request.id, .failure(CloudError(.notAuthenticated))))
            XCTAssertEqual(machine.machine.context.waits[.account].backoff.attempts, attempt)
            machine.fireNext { $0 == .accountRetry }
            machine.confirmAccount()
        }
        machine.answerFetch(token: "1")
        XCTAssertEqual(machine.machine.context.waits[.account].backoff.attempts, 0)
    }

    func testTheWaitsOfAZoneThatKeptDisappearingAreShortAgainOnceItIsFound() throws {
        var rounds = 0
        while zone.backoff.attempts < 3, rounds < 20 {
            rounds += 1
            if machine.fetchRequest == nil { machine.run(.signal(.changes(in: nil))) }
            if let request = machine.fetchRequest {
                machine.run(.response(request.id, .failure(CloudError(.zoneNotFound))))
            }
            machine.fireNext { $0 == .zoneRetry }
            if let request = machine.setupRequest, machine.open[request] == "account" {
                machine.confirmAccount()
            }
            if let request = machine.setupRequest {
                machine.run(
                    .response(request, .success(.databaseChanges(ZoneFate(reason: .deleted, token: nil))))
                )
            }
            machine.finishSetup()
        }
        XCTAssertEqual(zone.backoff.attempts, 3)
        machine.answerFetch(token: "1")
        XCTAssertEqual(zone.backoff.attempts, 0)
    }

    func testTheResolversWaitsAreShortAgainAfterAResolution() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(3)) }
        for attempt in 1...4 {
            XCTAssertEqual(machine.conflicts.map(\.name), ["A"])
            machine.run(.reconciled([]))
            XCTAssertEqual(machine.machine.context.waits[.resolving].backoff.attempts, attempt)
            machine.fireNext { $0 == .resolveRetry }
        }
        machine.resolve { _ in .client }
        XCTAssertEqual(machine.machine.context.waits[.resolving].backoff.attempts, 0)
    }

    /// The end of an outage is no change of the account, so nothing else would look it up.
    func testTheAccountIsLookedUpWhenTheNetworkIsBack() {
        for status in [AccountStatus.couldNotDetermine, .temporarilyUnavailable, .noAccount] {
            machine = MachineHarness()
            machine.run(.calls(.start))
            XCTAssertEqual(answer(status).requests, [])
            XCTAssertEqual(machine.run(.signal(.reachable)).requests, ["checkAccount"], status.rawValue)
        }
    }

    func testTheNextZonesSubscriptionWaitsForItself() throws {
        open(hasFeed: false)
        machine.run(.response(try XCTUnwrap(machine.setupRequest), .success(.zoneSaved)))
        let request = try XCTUnwrap(machine.setupRequest)
        machine.run(.response(request, .failure(CloudError(.serviceUnavailable))))
        XCTAssertNotNil(machine.timers[.subscriptionRetry])
        machine.run(
            .response(try XCTUnwrap(machine.fetchRequest).id, .failure(CloudError(.zoneNotFound)))
        )
        machine.run(
            .response(
                try XCTUnwrap(machine.setupRequest),
                .success(.databaseChanges(ZoneFate(reason: .deleted, token: nil)))
            )
        )
        XCTAssertNil(machine.timers[.subscriptionRetry])
    }

    func testALookUpThatFailedAsAWholeDelaysNewOnes() {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        let busy = [LookedUp(name: "A", result: .failure(CloudError(.zoneBusy)))]
        machine.run(.response(machine.lookUpRequest?.id ?? 0, .success(.records(busy))))
        machine.fireNext { $0 == .lookUpRetry }
        let failure = CloudError(.networkFailure)
        machine.run(.response(machine.lookUpRequest?.id ?? 0, .failure(failure)))
        machine.run(.signal(.changes(in: nil)))
        XCTAssertEqual(machine.answerFetch(failed: ["B"], token: "2").requests, [])
    }
}
