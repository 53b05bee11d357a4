import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Responses with waits that are held until the database's feed shows from which zone they are.
final class MachineHeldWaitTests: MachineTestCase {
    private let wait = Duration.seconds(100)

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
        machine.run(.calls(.enqueue(machine.newCall(), [.save("A", 11), .save("B", 12)])))
    }

    private func id(_ name: String) -> RecordID {
        RecordID(recordName: name, zoneID: ZoneID(zoneName: "Item"))
    }

    /// Waits as ordered, and confirms the zone.
    private func release() {
        XCTAssertNil(machine.setupRequest, "the feed is read after the wait")
        machine.fireNext { $0 == .serverWait }
        machine.confirmAccount()
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let fate = ZoneFate(reason: nil, token: .init("d"))
        machine.run(.response(request, .success(.databaseChanges(fate))))
    }

    private func assertBWaits(_ row: String) {
        XCTAssertEqual(machine.state["B"]?.pending?.handle, 12, row)
        XCTAssertNil(machine.state["B"]?.pending?.parked, row)
        XCTAssertEqual(machine.state["B"]?.known?.handle, 2, row)
        XCTAssertEqual(machine.faults, [], row)
    }

    func testAnErrorWithAWaitBesideAConflictGivesNothingUp() {
        let start = machine
        for code in [CloudError.Code.unknownItem, .invalidArguments, .serverRejectedRequest] {
            machine = start
            let error = CloudError(code, retryAfter: wait)
            machine.answerSend { $0.name == "A" ? .conflict(server: KnownVersion(20)) : .failed(error) }
            release()
            XCTAssertEqual(machine.conflicts.map(\.name), ["A"], code.name)
            assertBWaits(code.name)
        }
    }

    func testAnErrorWithAWaitBesideAMissingRecordGivesNothingUp() {
        let start = machine
        for code in [CloudError.Code.unknownItem, .invalidArguments] {
            machine = start
            let errors = [id("A"): CloudError(.unknownItem), id("B"): CloudError(code, retryAfter: wait)]
            machine.failSend(CloudError(.partialFailure, itemErrors: errors))
            release()
            XCTAssertEqual(machine.conflicts.map(\.name), ["A"], code.name)
            assertBWaits(code.name)
        }
    }

    func testTheWaitOfAPartialFailureIsThatOfMissingRecords() {
        let errors = [id("A"): CloudError(.unknownItem), id("B"): CloudError(.unknownItem)]
        machine.failSend(CloudError(.partialFailure, retryAfter: wait, itemErrors: errors))
        XCTAssertFalse(machine.machine.zone.holdsResponse, "nothing is doubtful")
        machine.fireNext { $0 == .serverWait }
        XCTAssertEqual(machine.conflicts, [])
        XCTAssertEqual(machine.state["A"]?.known?.handle, 1)
        assertBWaits("")
    }

    func testTheWaitOfAHeldPageBeginsWhenItArrives() {
        machine.answerSend { _ in .failed(CloudError(.networkFailure)) }
        machine.run(.signal(.changes(in: nil)))
        guard let expired = machine.fetchRequest else { return XCTFail("no fetch request") }
        machine.run(.response(expired.id, .failure(CloudError(.changeTokenExpired))))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        var page = FetchedPage(token: .init("n"), moreComing: false)
        page.records = [.init("B", 2)]
        page.failed = [RecordKey("A")]
        page.retryAfter = wait
        let begin = machine.now.monotonic
        XCTAssertEqual(machine.run(.response(request.id, .success(.page(page)))).requests, [])
        XCTAssertEqual(machine.timers[.serverWait], begin + wait)
        release()
        XCTAssertEqual(machine.lookUpRequest?.names, ["A"], "the wait applies only once")
    }
}
