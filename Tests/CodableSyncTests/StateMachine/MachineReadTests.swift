import XCTest

@testable import CodableSync

/// What the app has read, and a deletion of the same record.
final class MachineReadTests: MachineTestCase {
    /// I-01: the second of two uploads would be taken for an edit of a record that another device has deleted.
    func testARecordThatIsReadWhileItsDeletionIsStoredIsNewWhenItIsUploadedAgain() {
        machine.know("A", 1)
        machine.feed(.enqueue(machine.newCall(), [.delete("A")]))
        machine.feed(.read(["A"]))
        machine.commitAll()
        saveAll(from: 10)
        XCTAssertNil(machine.state["A"])
        machine.run(.stop)
        machine.upload("A", 7)
        machine.upload("A", 8)
        let actions = machine.run(.start)
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertNil(machine.state["A"]?.pending?.base)
    }

    func testADeletionThatTheDiskRefusesForgetsNoRead() {
        machine.know("A", 1)
        machine.fetch([.init("A", 5)], token: "9")
        machine.run(.read(["A"]))
        machine.feed(.enqueue(machine.newCall(), [.delete("A")]))
        machine.failNextCommit()
        let actions = machine.upload("A", 6)
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(actions.requests, ["send A=6@t5"])
    }
}
