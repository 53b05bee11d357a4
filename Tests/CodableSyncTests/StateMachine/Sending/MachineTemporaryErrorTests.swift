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
            machine.run(.records(.lookedUp(request.id, isWhole ? .failure(error) : .success(found))))
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
        let actions = machine.answerSend {
            .failed(CloudError(.serverRejectedRequest, retryAfter: waits[$0.name]))
        }
        let timers = actions.compactMap { action -> Duration? in
            if case .setTimer(.itemRetry, at: let instant) = action { instant } else { nil }
        }
        XCTAssertEqual(timers, [begin + .seconds(100)])
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

    // MARK: Rejections

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
            machine.run(.records(.lookedUp(request.id, .failure(error))))
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

    /// The names of the items of the next send request.
    fileprivate mutating func fireUntilSend() -> [String]? { fireUntilRequest()?.items.map(\.name) }
}
