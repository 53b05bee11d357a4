import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Batches, partial results and rejections: the scenarios of group B, for the machine alone.
final class MachineSendingTests: MachineTestCase {
    /// SN-02.
    func testInsertUpdateDeleteEndsEmpty() {
        XCTAssertEqual(machine.upload("A", 1).requests, ["send A=1@-"])
        saveAll(from: 10)
        XCTAssertEqual(machine.upload("A", 2).requests, ["send A=2@t10"])
        saveAll(from: 11)
        XCTAssertEqual(machine.delete("A").requests, ["send A=delete@t11"])
        saveAll(from: 12)
        XCTAssertNil(machine.state["A"])
        XCTAssertEqual(machine.state.knownCount, 0)
    }

    /// SN-03.
    func testRequestsRespectTheItemLimit() {
        let harness = uploadWhileStopped(401)
        machine = harness
        machine.restart()
        XCTAssertEqual(machine.sendRequest?.items.count, 400)
        saveAll(from: 1000)
        XCTAssertEqual(machine.sendRequest?.items.count, 1)
        saveAll(from: 2000)
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    /// SN-04.
    func testRequestsRespectTheByteLimit() {
        machine = uploadWhileStopped(10, size: 300_000)
        machine.restart()
        var counts: [Int] = []
        while let request = machine.sendRequest, counts.count < 9 {
            counts.append(request.items.count)
            saveAll(from: 1000 + UInt64(counts.count) * 100)
        }
        XCTAssertEqual(counts, [6, 4])
    }

    /// SN-05, SN-07.
    func testTooLargeRequestIsHalvedUntilItSucceeds() {
        machine = uploadWhileStopped(8)
        machine.restart()
        var requests = 0
        while let request = machine.sendRequest, requests < 30 {
            requests += 1
            if request.items.count > 3 {
                machine.failSend(CloudError(.limitExceeded))
            } else {
                saveAll(from: 1000 + UInt64(requests) * 100)
            }
        }
        XCTAssertLessThanOrEqual(requests, 15)
        XCTAssertEqual(machine.state.pendingCount, 0)
        XCTAssertEqual(machine.state.knownCount, 8)
    }

    /// SN-06.
    func testSingleItemThatIsTooLargeIsParkedOnce() {
        machine = uploadWhileStopped(20)
        machine.restart()
        var requests = 0
        var parked = 0
        while let request = machine.sendRequest, requests < 60 {
            requests += 1
            if request.items.contains(where: { $0.name == "N07" }) {
                parked +=
                    machine.failSend(CloudError(.limitExceeded)).events.filter {
                        if case .parked = $0 { true } else { false }
                    }.count
            } else {
                saveAll(from: 1000 + UInt64(requests) * 100)
            }
        }
        XCTAssertEqual(parked, 1)
        let reason = machine.state["N07"]?.pending?.parked
        XCTAssertEqual(reason?.kind, .tooLarge)
        XCTAssertEqual(reason?.message.contains("100 bytes; the limit known here is 1000000"), true)
        XCTAssertEqual(machine.state.knownCount, 19)
        XCTAssertEqual(machine.upload("N07", 77).requests, ["send N07=77@-"])
    }

    /// SN-11.
    func testRejectedItemIsIsolatedWhenTheErrorNamesNone() {
        machine = uploadWhileStopped(50)
        machine.restart()
        var failures = 0
        var requests: UInt64 = 0
        while let request = machine.sendRequest, requests < 100 {
            requests += 1
            if request.items.contains(where: { $0.name == "N31" }) {
                failures += 1
                machine.failSend(CloudError(.invalidArguments))
            } else {
                saveAll(from: 1000 + requests * 100)
            }
        }
        XCTAssertLessThanOrEqual(failures, 7)
        XCTAssertEqual(machine.state["N31"]?.pending?.parked?.kind, .refused)
        XCTAssertEqual(machine.state.knownCount, 49)
    }

    /// SN-08.
    func testEachResultFollowsItsOwnRule() {
        machine.know("B", 1)
        machine.know("C", 2)
        machine.run(.calls(.stop))
        for (name, handle) in [("A", 11), ("B", 12), ("C", 13), ("D", 14)] {
            machine.upload(name, UInt64(handle))
        }
        machine.restart()
        machine.answerSend { item in
            switch item.name {
            case "A": .saved(KnownVersion(20))
            case "B": .conflict(server: KnownVersion(21))
            case "C": .failed(CloudError(.unknownItem))
            default: .failed(CloudError(.quotaExceeded))
            }
        }
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t20")
        XCTAssertEqual(machine.conflicts.map(\.name), ["B", "C"])
        XCTAssertEqual(machine.state["D"]?.isSendable, true)
        XCTAssertNil(machine.sendRequest)
    }

    /// SN-09, SN-10, I-15.
    func testOtherItemsOfAFailedAtomicRequestAreSentNext() {
        machine.know("A", 1)
        machine.know("B", 2)
        machine.run(.calls(.stop))
        machine.upload("A", 11)
        machine.delete("B")
        machine.restart()
        let actions = machine.answerSend { item in
            item.name == "A" ? .conflict(server: KnownVersion(20)) : .failed(CloudError(.batchRequestFailed))
        }
        XCTAssertEqual(actions.requests, ["send B=delete@t2"])
        XCTAssertEqual(actions.conflicts.map(\.name), ["A"])
    }

    /// If the error names no item, the machine waits before it retries.
    func testAFailedAtomicRequestWithoutAnOffenderWaits() {
        machine.upload("A", 1)
        let actions = machine.answerSend { _ in .failed(CloudError(.batchRequestFailed)) }
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(machine.fireNext().requests, ["send A=1@-"])
    }

    /// SN-13, I-14.
    func testItemThatIsNotMentionedIsSentAgain() {
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.upload("B", 2)
        machine.restart()
        guard let request = machine.sendRequest else { return XCTFail("no send request") }
        let result = SendResult(name: "B", handle: 2, outcome: .saved(KnownVersion(10)))
        let actions = machine.run(.response(request.id, .success(.sendResults([result]))))
        XCTAssertTrue(actions.events.contains(.unmentioned(recordName: "A")))
        XCTAssertEqual(machine.state.pendingNames, ["A"])
        XCTAssertEqual(machine.fireNext().requests, ["send A=1@-"])
    }

    /// SN-14, SN-15.
    func testResultsAreMatchedByNameAndUnexpectedOnesAreIgnored() {
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.upload("B", 2)
        machine.restart()
        guard let request = machine.sendRequest else { return XCTFail("no send request") }
        machine.run(
            .response(
                request.id,
                .success(
                    .sendResults([
                        SendResult(name: "X", handle: 9, outcome: .saved(KnownVersion(12))),
                        SendResult(name: "B", handle: 2, outcome: .saved(KnownVersion(11))),
                        SendResult(name: "A", handle: 1, outcome: .saved(KnownVersion(10))),
                        SendResult(name: "A", handle: 1, outcome: .failed(CloudError(.permissionFailure))),
                    ])
                )
            )
        )
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t10")
        XCTAssertEqual(machine.state["B"]?.known?.changeTag, "t11")
        XCTAssertNil(machine.state["X"])
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    func testEqualContentsAreNotSentAndCountAsSaved() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .unchanged }
        XCTAssertEqual(machine.state.pendingCount, 0)
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t1")
    }

    func testUnreadableContentsAreParked() {
        machine.upload("A", 1)
        machine.answerSend { _ in .unreadable("gone") }
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .contentsUnreadable)
    }

    /// SN-28.
    func testFullQuotaIsReportedOnceAndRetriedRarely() {
        machine.upload("A", 1)
        var events = 0
        let begin = machine.now.monotonic
        var actions = machine.answerSend { _ in .failed(CloudError(.quotaExceeded)) }
        for _ in 0..<5 {
            events += actions.events.filter { $0 == .quotaExceeded }.count
            XCTAssertNil(machine.sendRequest)
            XCTAssertEqual(machine.fireNext().requests, ["send A=1@-"])
            actions = machine.failSend(CloudError(.quotaExceeded))
        }
        XCTAssertEqual(events, 1)
        XCTAssertGreaterThanOrEqual(machine.now.monotonic - begin, .seconds(5 * 300))
        machine.run(.calls(.sync(machine.newCall(), .send)))
        // The last account check is too old, so the user is checked again.
        machine.confirmAccount()
        machine.answerFetch(token: "0")
        XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["A"])
        saveAll(from: 10)
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    /// SN-33: a failing item at the head of the queue lets the others go first.
    func testFailingItemDoesNotHoldUpOthers() {
        machine.run(.calls(.stop))
        for number in 0..<5 { machine.upload("N\(number)", UInt64(number)) }
        machine.restart()
        let actions = machine.answerSend { item in
            item.name == "N0" ? .failed(CloudError(.serviceUnavailable)) : .saved(KnownVersion(100))
        }
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(machine.state.pendingNames, ["N0"])
        XCTAssertEqual(machine.upload("Z", 9).requests, ["send Z=9@-"])
        saveAll(from: 200)
        XCTAssertEqual(machine.fireNext().requests, ["send N0=0@-"])
    }

    /// SN-34, I-12.
    func testTwoVersionsOfOneRecordAreNeverInFlightTogether() {
        machine.upload("A", 1)
        XCTAssertEqual(machine.upload("A", 2).requests, [])
        XCTAssertEqual(machine.upload("B", 3).requests, [])
        XCTAssertEqual(saveAll(from: 10).requests, ["send A=2@t10 B=3@-"])
    }

    func testParkedChangeIsSentAfterRetryAndGoneAfterDiscard() {
        machine.upload("A", 1)
        machine.upload("B", 2)
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        XCTAssertEqual(machine.state.pendingNames, ["A", "B"])
        XCTAssertNil(machine.sendRequest)
        XCTAssertEqual(machine.run(.calls(.retry(machine.newCall(), names: ["A"]))).requests, ["send A=1@-"])
        let discarded = machine.run(.calls(.discard(machine.newCall(), names: ["B"])))
        XCTAssertEqual(discarded.loading, [.discarded(name: "B", 2, .discarded)])
        XCTAssertNil(machine.state["B"]?.pending)
    }

    // MARK: -

    private func uploadWhileStopped(_ count: Int, size: Int = 100) -> MachineHarness {
        var machine = machine
        machine.run(.calls(.stop))
        let changes = (0..<count).map { number in
            let name = number < 10 ? "N0\(number)" : "N\(number)"
            return NewChange.save(name, UInt64(number), size: size)
        }
        machine.run(.calls(.enqueue(machine.newCall(), changes)))
        return machine
    }
}
