import RecordCoding
import XCTest

@testable import CodableSync

/// The stored copy of a server version cannot be read: the record is looked up.
final class MachineUnreadableTests: MachineTestCase {
    private func decodeFailed() {
        machine.know("A", 1)
        let lost = ReadVersion(name: "A", handle: 1, reason: "unreadable", isLost: true)
        XCTAssertEqual(machine.run(.calls(.decodeFailed([lost]))).requests, ["lookUp A"])
    }

    private func find(_ version: KnownVersion?) {
        guard let request = machine.lookUpRequest?.id else { return XCTFail("no look-up request") }
        machine.run(.response(request, .success(.records([LookedUp(name: "A", result: .success(version))]))))
    }

    private func copy(_ handle: ContentHandle) -> KnownVersion {
        var version = KnownVersion(1)
        version.handle = handle
        return version
    }

    func testAReadableCopyReplacesTheUnreadableOne() {
        decodeFailed()
        find(copy(7))
        XCTAssertEqual(machine.state["A"]?.known?.handle, 7)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 7)
        XCTAssertEqual(machine.state.undelivered("A"), nil, "the app has seen it")
    }

    func testAnEditMadeMeanwhileIsNotAConflict() {
        let start = machine
        for isUploadedFirst in [true, false] {
            machine = start
            decodeFailed()
            if isUploadedFirst { machine.upload("A", 5) }
            find(copy(7))
            if !isUploadedFirst { machine.upload("A", 9) }
            XCTAssertEqual(machine.conflicts, [])
            XCTAssertEqual(machine.state["A"]?.pending?.base, 7)
            XCTAssertEqual(machine.sendRequest?.items.first?.known?.handle, 7)
        }
    }

    /// The loop still handles the version whose copy was looked up.
    func testALoopThatAcceptsLateHasSeenTheCopy() {
        machine.fetch([.init("A", 1)], token: "f")
        machine.run(.delivery(.streamRequested(1)))
        let lost = ReadVersion(name: "A", handle: 1, reason: "unreadable", isLost: true)
        machine.run(.calls(.decodeFailed([lost])))
        find(copy(7))
        machine.run(.delivery(.streamRequested(1)))
        machine.upload("A", 9)
        XCTAssertEqual(machine.conflicts, [])
        XCTAssertEqual(machine.state["A"]?.pending?.base, 7)
    }

    func testADeletionElsewhereIsDelivered() {
        decodeFailed()
        find(nil)
        XCTAssertEqual(machine.state.undelivered("A"), .deleted)
    }

    func testAnEditOfARecordDeletedElsewhereGoesToTheResolver() {
        decodeFailed()
        machine.upload("A", 5)
        find(nil)
        XCTAssertEqual(machine.conflicts.map(\.server), [nil])
    }

    func testARecordThatIsGoneDelaysNoCreation() {
        machine.upload("A", 5)
        machine.failSend(CloudError(.networkFailure))
        machine.fetch([], token: "1")
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "2")
        let request = machine.lookUpRequest?.id ?? 0
        machine.run(.response(request, .success(.records([LookedUp(name: "A", result: .success(nil))]))))
        XCTAssertNil(machine.timers[.itemRetry])
        XCTAssertEqual(machine.state["A"]?.mustLookUp, false)
    }

    /// The look-up was refused, not answered.
    func testACopyWhoseLookUpHasParkedTheEditIsLookedUpAgain() {
        decodeFailed()
        machine.upload("A", 5)
        let refused = LookedUp(name: "A", result: .failure(CloudError(.permissionFailure)))
        machine.run(.response(machine.lookUpRequest?.id ?? 0, .success(.records([refused]))))
        XCTAssertNotNil(machine.state["A"]?.pending?.parked)
        machine.run(.calls(.retry(machine.newCall(), names: ["A"])))
        XCTAssertEqual(machine.answerSend { _ in .copyUnreadable("damaged") }.requests, ["lookUp A"])
    }
}
