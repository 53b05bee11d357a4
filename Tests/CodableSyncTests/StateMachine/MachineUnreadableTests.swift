import RecordCoding
import XCTest

@testable import CodableSync

/// The stored copy of what the cloud has cannot be read: the record is looked up.
final class MachineUnreadableTests: MachineTestCase {
    private func readInVain() {
        machine.know("A", 1)
        machine.run(machine.reading("A"))
        let lost = ReadVersion(name: "A", handle: 1, reason: "unreadable", isLost: true)
        XCTAssertEqual(machine.run(.readInVain([lost])).requests, ["lookUp A"])
    }

    private func find(_ version: KnownVersion?) {
        guard let request = machine.lookUpRequest?.id else { return XCTFail("nothing is looked up") }
        machine.run(.lookedUp(request, .success([LookedUp(name: "A", result: .success(version))])))
    }

    private func copy(_ handle: ContentHandle) -> KnownVersion {
        var version = KnownVersion(1)
        version.handle = handle
        return version
    }

    func testAReadableCopyTakesThePlaceOfTheOther() {
        readInVain()
        find(copy(7))
        XCTAssertEqual(machine.state["A"]?.known?.handle, 7)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 7)
        XCTAssertEqual(machine.state["A"]?.undelivered, nil, "the app has seen it")
    }

    func testAnEditThatIsMadeMeanwhileIsNoConflict() {
        let start = machine
        for isUploadedFirst in [true, false] {
            machine = start
            readInVain()
            if isUploadedFirst { machine.upload("A", 5) }
            find(copy(7))
            if !isUploadedFirst { machine.upload("A", 9) }
            XCTAssertEqual(machine.conflicts, [])
            XCTAssertEqual(machine.state["A"]?.pending?.base, 7)
            XCTAssertEqual(machine.sendRequest?.items.first?.known?.handle, 7)
        }
    }

    /// What a loop still has in its hands is the version of which a copy has been read.
    func testALoopThatTakesTheVersionLateHasSeenTheCopy() {
        machine.fetch([.init("A", 1)], token: "f")
        machine.run(.streamRequested(1))
        let lost = ReadVersion(name: "A", handle: 1, reason: "unreadable", isLost: true)
        machine.run(.readInVain([lost]))
        find(copy(7))
        machine.run(.streamRequested(1))
        machine.upload("A", 9)
        XCTAssertEqual(machine.conflicts, [])
        XCTAssertEqual(machine.state["A"]?.pending?.base, 7)
    }

    func testTheAppIsToldWhereItWasDeletedElsewhere() {
        readInVain()
        find(nil)
        XCTAssertEqual(machine.state["A"]?.undelivered?.kind, .deleted)
    }

    func testAnEditOfWhatWasDeletedElsewhereIsDecidedByTheModel() {
        readInVain()
        machine.upload("A", 5)
        find(nil)
        XCTAssertEqual(machine.conflicts.map(\.server), [nil])
    }
}
