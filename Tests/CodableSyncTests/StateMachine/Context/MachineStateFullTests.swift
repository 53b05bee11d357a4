import RecordCoding
import XCTest

@testable import CodableSync

/// When the disk is full, callers and events get the storage error, not a cloud error.
final class MachineStateFullTests: MachineTestCase {
    /// Fails the next commit, and checks the answers and events.
    private func assertTold(_ row: String, line: UInt = #line) {
        var answers: [CallAnswer] = []
        var events: [SyncEvent] = []
        for _ in 0..<5 where answers.isEmpty {
            let actions = machine.failNextCommit()
            answers += actions.answers
            events += actions.events
        }
        XCTAssertEqual(answers, [.failed(.storageFull("full"))], row, line: line)
        XCTAssertTrue(events.contains(.storageFailed("full")), row, line: line)
        XCTAssertFalse(
            events.contains { if case .failed = $0 { true } else { false } },
            "\(row): \(events)",
            line: line
        )
    }

    func testAPageThatCannotBeStoredFailsTheCall() {
        machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        var page = FetchedPage(token: .init("9"), moreComing: false)
        page.records = [.init("A", 1)]
        machine.feed(.response(request.id, .success(.page(page))))
        assertTold("page")
    }

    func testAnAnnouncementThatCannotBeStoredFailsTheCall() {
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.restart()
        machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        machine.feed(.calls(.sync(machine.newCall(), .send)))
        assertTold("announcement")
    }

    func testResultsThatCannotBeStoredFailTheCall() {
        machine.upload("A", 1)
        machine.feed(.calls(.sync(machine.newCall(), .send)))
        guard let request = machine.sendRequest else { return XCTFail("no send request") }
        let saved = SendResult(name: "A", handle: 1, outcome: .saved(KnownVersion(10)))
        machine.feed(.response(request.id, .success(.sendResults([saved]))))
        assertTold("results")
    }

    func testUnreadableContentsAreNotSentAndAreRetried() {
        machine.upload("A", 1)
        machine.feed(.calls(.sync(machine.newCall(), .send)))
        guard let request = machine.sendRequest else { return XCTFail("no send request") }
        let actions = machine.run(.sendLoadFailed(request.id, .unreadable("broken")))
        XCTAssertEqual(actions.answers, [.failed(.storageFailed("broken"))])
        XCTAssertEqual(actions.events, [.storageFailed("broken")])
        XCTAssertEqual(machine.state.pendingNames, ["A"])
        XCTAssertEqual(machine.fireNext().requests, ["send A=1@-"])
    }

    func testAnOwnerThatCannotBeStoredFailsTheCall() {
        machine = MachineHarness()
        machine.run(.calls(.start))
        machine.feed(.calls(.sync(machine.newCall(), [.fetch, .send])))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let account = CloudAccount(status: .available, userRecordName: "alice")
        machine.feed(.response(request, .success(.account(account))))
        assertTold("owner")
    }
}
