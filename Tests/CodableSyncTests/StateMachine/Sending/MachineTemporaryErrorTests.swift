import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Errors with a wait, and rejections, which may be an outage.
final class MachineTemporaryErrorTests: MachineTestCase {
    private let codes = CloudError.Code.known + [.unknown("tomorrow")]

    private func id(_ name: String) -> RecordID {
        RecordID(recordName: name, zoneID: ZoneID(zoneName: "Note"))
    }

    // MARK: Errors with a wait

    func testNothingIsParkedOrAskedOrDeletedAfterAnErrorWithAWait() {
        for code in codes {
            for isWhole in [false, true] {
                let name = "\(code.name) \(isWhole)"
                var machine = machine
                machine.know("A", 1)
                machine.upload("A", 2)
                let error = CloudError(code, retryAfter: .seconds(100), userDidResetEncryptedData: true)
                if isWhole { machine.failSend(error) } else { machine.answerSend { _ in .failed(error) } }
                XCTAssertEqual(machine.state["A"]?.pending?.handle, 2, name)
                XCTAssertNil(machine.state["A"]?.pending?.parked, name)
                XCTAssertEqual(machine.conflicts.count, 0, name)
                XCTAssertEqual(machine.state.onlyZone.stage, self.machine.state.onlyZone.stage, name)
                XCTAssertEqual(machine.faults, [], name)
            }
        }
    }

    func testALookUpWithAWaitParksNothing() {
        for isWhole in [false, true] {
            var machine = machine
            machine.know("A", 1)
            machine.upload("A", 2)
            machine.answerSend { _ in .conflict(server: nil) }
            guard let request = machine.lookUpRequest else { return XCTFail("no look-up") }
            let error = CloudError(.invalidArguments, retryAfter: .seconds(100))
            let found = [LookedUp(name: "A", result: .failure(error))]
            machine.run(.response(request.id, isWhole ? .failure(error) : .success(.records(found))))
            XCTAssertEqual(machine.state["A"]?.pending?.handle, 2)
            XCTAssertNil(machine.state["A"]?.pending?.parked)
        }
    }

    func testItemsWithWaitsWaitOnceAndForTheLongest() {
        let begin = machine.now.monotonic
        machine.upload("0", 1)
        for name in ["A", "B", "C"] { machine.upload(name, 2) }
        machine.answerSend { _ in .saved(KnownVersion(10)) }
        let waits: [String: Duration] = ["A": .seconds(10), "B": .seconds(100), "C": .seconds(50)]
        machine.answerSend {
            .failed(CloudError(.serverRejectedRequest, retryAfter: waits[$0.name]))
        }
        XCTAssertEqual(machine.timers[.itemRetry], begin + .seconds(100))
        while machine.sendRequest == nil, !machine.isWithoutTimers { machine.fireNext() }
        XCTAssertEqual(machine.now.monotonic, begin + .seconds(100))
        XCTAssertEqual(machine.sendRequest?.items.map(\.name).sorted(), ["A", "B", "C"])
    }

    func testALaterWaitDelaysItemsThatWaitAlready() {
        let begin = machine.now.monotonic
        machine.upload("A", 1)
        machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }
        machine.upload("B", 2)
        machine.answerSend { _ in .failed(CloudError(.zoneBusy, retryAfter: .seconds(100))) }
        XCTAssertEqual(machine.timers[.itemRetry], begin + .seconds(100))
    }

    func testTheWaitOfAPartialFailureIsThatOfItsItems() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.failSend(
            CloudError(
                .partialFailure,
                retryAfter: .seconds(100),
                itemErrors: [id("A"): CloudError(.invalidArguments)]
            )
        )
        XCTAssertNil(machine.state["A"]?.pending?.parked)
        XCTAssertEqual(machine.fireUntilSend(), ["A"])
        machine.failSend(CloudError(.partialFailure, itemErrors: [id("A"): CloudError(.invalidArguments)]))
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .refused)
    }

    func testTheWaitOfAConflictDelaysItsLookUp() {
        machine.know("A", 1)
        machine.upload("A", 2)
        guard let request = machine.sendRequest else { return XCTFail("no send request") }
        let result = SendResult(
            key: RecordKey("A"),
            handle: 2,
            outcome: .conflict(server: nil),
            retryAfter: .seconds(100)
        )
        let end = machine.now.monotonic + .seconds(100)
        XCTAssertEqual(machine.run(.response(request.id, .success(.sendResults([result])))).requests, [])
        XCTAssertEqual(machine.fireNext { $0 == .serverWait }.requests, ["lookUp A"])
        XCTAssertEqual(machine.now.monotonic, end)
    }

    func testTheWaitOfAPageDelaysItsLookUps() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        var page = FetchedPage(token: .init("1"), moreComing: false)
        page.failed = [RecordKey("A")]
        for seconds in [10, 100, 50] { page.extendWait(to: .seconds(seconds)) }
        let end = machine.now.monotonic + .seconds(100)
        XCTAssertEqual(machine.run(.response(request.id, .success(.page(page)))).requests, [])
        XCTAssertEqual(machine.fireNext { $0 == .serverWait }.requests, ["lookUp A"])
        XCTAssertEqual(machine.now.monotonic, end)
    }

    func testARequestForOneItemThatIsRefusedWithAWaitDelaysNoOther() {
        for code in [CloudError.Code.limitExceeded, .invalidArguments, .unknownItem, .serverRejectedRequest] {
            var machine = machine
            let error = CloudError(code, retryAfter: .seconds(1))
            machine.upload("A", 1)
            for _ in 1...6 {
                machine.failSend(error)
                XCTAssertEqual(machine.fireUntilSend(), ["A"], code.name)
            }
            machine.failSend(error)
            XCTAssertNil(machine.timers[.sendRetry], code.name)
            machine.upload("B", 2)
            XCTAssertEqual(machine.fireUntilSend()?.first, "B", code.name)
            XCTAssertEqual(machine.faults, [], code.name)
        }
    }

    func testARequestThatIsRefusedWithAWaitIsNarrowedToTheItemThatCausesIt() {
        for code in [CloudError.Code.invalidArguments, .serverRejectedRequest] {
            var machine = machine
            machine.run(.calls(.stop))
            machine.run(.calls(.enqueue(machine.newCall(), (0..<20).map { .save("N\($0)", $0) })))
            machine.run(.calls(.start))
            machine.answerFetch(token: "0")
            var requests = 0
            while machine.state.pendingCount > 1, requests < 40,
                let request = machine.sendRequest ?? machine.fireUntilRequest()
            {
                requests += 1
                if request.items.contains(where: { $0.name == "N7" }) {
                    machine.failSend(CloudError(code, retryAfter: .seconds(5)))
                } else {
                    machine.answerSend { _ in .saved(KnownVersion(UInt64(1000 + requests))) }
                }
            }
            XCTAssertEqual(machine.state.pendingCount, 1, code.name)
            XCTAssertNotNil(machine.state["N7"]?.pending, code.name)
            XCTAssertNil(machine.state["N7"]?.pending?.parked, code.name)
            XCTAssertEqual(machine.faults, [], code.name)
        }
    }

    // MARK: Rejections

    func testARejectionOfOneItemFailsNoCallWhetherOrNotItIsAlone() {
        var rows: [[CallAnswer]] = []
        for isWhole in [false, true] {
            var machine = machine
            machine.upload("A", 1)
            machine.run(.calls(.sync(machine.newCall(), .send)))
            let error = CloudError(.serverRejectedRequest)
            var answers: [CallAnswer] = []
            for _ in 1...3 {
                let actions = isWhole ? machine.failSend(error) : machine.answerSend { _ in .failed(error) }
                answers += actions.answers
                _ = machine.fireUntilRequest()
            }
            rows.append(answers)
        }
        XCTAssertEqual(rows.first, rows.last)
        XCTAssertFalse(rows.joined().contains { if case .failed = $0 { true } else { false } })
    }

    func testARejectedLookUpOfARecordWithoutAChangeEnds() {
        let error = CloudError(.serverRejectedRequest)
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        var actions = machine.rejectLookUps(3, error)
        XCTAssertEqual(actions.events, [])
        guard let request = machine.lookUpRequest else { return XCTFail("no look-up") }
        machine.run(
            .response(request.id, .success(.records([.init(name: "A", result: .success(KnownVersion(1)))])))
        )
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "2")
        actions = machine.rejectLookUps(7, error)
        XCTAssertNotNil(machine.lookUpRequest, "only errors in a row count")
        actions = machine.rejectLookUps(1, error)
        XCTAssertTrue(actions.events.contains(.failed(error)))
        XCTAssertNil(machine.lookUpRequest)
        XCTAssertNil(machine.timers[.lookUpRetry])
        XCTAssertEqual(machine.machine.lookingUp.queue.count, 0)
    }

    func testARejectedLookUpOfARecordInConflictParksTheChange() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(3)) }
        XCTAssertEqual(machine.state["A"]?.isSendable, false)
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        _ = machine.rejectLookUps(8, CloudError(.serverRejectedRequest))
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 2)
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .refused)
        XCTAssertNil(machine.lookUpRequest)
    }

    func testARejectedItemIsTriedAgainBeforeItIsParked() {
        machine.upload("A", 1)
        var tries = 0
        while machine.sendRequest != nil, tries < 20 {
            tries += 1
            machine.answerSend { _ in .failed(CloudError(.serverRejectedRequest)) }
            machine.fireNext()
        }
        XCTAssertEqual(tries, 8)
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .refused)
    }

    func testARejectionOfTheWholeRequestParksOnlyTheItemThatCausesIt() {
        for code in [CloudError.Code.serverRejectedRequest, .unknown("tomorrow")] {
            var machine = machine
            machine.run(.calls(.stop))
            machine.run(.calls(.enqueue(machine.newCall(), (0..<20).map { .save("N\($0)", $0) })))
            machine.run(.calls(.start))
            machine.answerFetch(token: "0")
            var requests = 0
            while let request = machine.sendRequest ?? machine.fireUntilRequest(), requests < 100 {
                requests += 1
                if request.items.contains(where: { $0.name == "N7" }) {
                    machine.failSend(CloudError(code))
                } else {
                    machine.answerSend { _ in .saved(KnownVersion(UInt64(1000 + requests))) }
                }
            }
            XCTAssertEqual(machine.state.pendingCount, 1, code.name)
            XCTAssertNotNil(machine.state["N7"]?.pending?.parked, code.name)
            XCTAssertLessThan(requests, 40, code.name)
            XCTAssertEqual(machine.faults, [], code.name)
        }
    }

    func testAnOutageThatRejectsRequestsParksNothingThatIsSentAfterIt() {
        machine.run(.calls(.stop))
        machine.run(.calls(.enqueue(machine.newCall(), (0..<20).map { .save("N\($0)", $0) })))
        machine.run(.calls(.start))
        machine.answerFetch(token: "0")
        for _ in 0..<6 {
            machine.failSend(CloudError(.serverRejectedRequest))
            _ = machine.fireUntilRequest()
        }
        var requests = 0
        while machine.sendRequest ?? machine.fireUntilRequest() != nil, requests < 40 {
            requests += 1
            machine.answerSend { _ in .saved(KnownVersion(UInt64(1000 + requests))) }
        }
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    func testALookUpThatIsRejectedAgainAndAgainParksTheChange() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: nil) }
        var requests = 0
        while machine.state["A"]?.pending?.parked == nil, requests < 40 {
            if machine.sendRequest != nil { machine.answerSend { _ in .conflict(server: nil) } }
            guard let request = machine.lookUpRequest else {
                machine.fireNext()
                continue
            }
            requests += 1
            let error = CloudError(.serverRejectedRequest)
            machine.run(.response(request.id, .failure(error)))
        }
        XCTAssertEqual(requests, 8)
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .refused)
    }
}

extension MachineHarness {
    /// Lets time pass until the next send request.
    fileprivate mutating func fireUntilRequest() -> (id: RequestID, items: [SendItem])? {
        var fired = 0
        while sendRequest == nil, !isWithoutTimers, fired < 50 {
            fireNext()
            fired += 1
        }
        return sendRequest
    }

    /// Refuses look-ups item by item, and lets time pass after each.
    ///
    /// - Returns: What the machine does.
    fileprivate mutating func rejectLookUps(_ times: Int, _ error: CloudError) -> [SyncAction] {
        var actions: [SyncAction] = []
        for _ in 0..<times {
            guard let request = lookUpRequest else { return actions }
            let found = request.names.map { LookedUp(name: $0, result: .failure(error)) }
            actions += run(.response(request.id, .success(.records(found))))
            actions += fireNext { $0 == .lookUpRetry }
        }
        return actions
    }

    /// The names of the items of the next send request.
    fileprivate mutating func fireUntilSend() -> [String]? { fireUntilRequest()?.items.map(\.name) }
}
