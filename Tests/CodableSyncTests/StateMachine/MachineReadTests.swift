import XCTest

@testable import CodableSync

/// What the app has read, and a deletion of the same record.
final class MachineReadTests: MachineTestCase {
    /// I-01: the second of two uploads would be taken for an edit of a record that another device has deleted.
    func testARecordThatIsReadWhileItsDeletionIsStoredIsNewWhenItIsUploadedAgain() {
        machine.know("A", 1)
        machine.feed(.enqueue(machine.newCall(), [.delete("A")]))
        machine.feed(machine.reading("A"))
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

    /// I-01: what a conflict made, and the app has read and edits, is not given up for what it was made of.
    func testAMergeThatTheAppHasReadIsTheAncestorOnceItIsConfirmed() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        machine.resolve { _ in .merged(6, size: 1, edited: nil) }
        let start = machine
        for isStored in [true, false] {
            machine = start
            machine.run(machine.reading("A"))
            guard let send = machine.sendRequest?.id else { return XCTFail("nothing is sent") }
            let saved = SendResult(name: "A", handle: 6, outcome: .saved(KnownVersion(10)))
            machine.feed(.sent(send, .success([saved])))
            if isStored { machine.commitAll() }
            machine.feed(.enqueue(machine.newCall(), [.save("A", 11)]))
            let actions = machine.commitAll()
            XCTAssertEqual(actions.conflicts, [], "\(isStored)")
            XCTAssertEqual(actions.requests, ["send A=11@t10"], "\(isStored)")
            XCTAssertEqual(machine.faults, [])
        }
    }

    func testADeletionThatTheDiskRefusesForgetsNoRead() {
        machine.know("A", 1)
        machine.fetch([.init("A", 5)], token: "9")
        machine.run(machine.reading("A"))
        machine.feed(.enqueue(machine.newCall(), [.delete("A")]))
        machine.failNextCommit()
        let actions = machine.upload("A", 6)
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(actions.requests, ["send A=6@t5"])
    }

    /// A read returns while a later edit is queued: the next upload is based on what the read returned.
    func testAnEditThatTheAppHasReadIsSeenEvenAfterAnotherReplacesIt() {
        machine.know("A", 1)
        machine.run(machine.reading("A"))
        edit("A", 2)
        let reading = machine.reading("A")
        edit("A", 3)
        machine.run(reading)
        XCTAssertEqual(machine.state["A"]?.seen, 2)
    }

    private func edit(_ name: String, _ handle: ContentHandle) {
        let basis = NewChange.Basis(machine.state.editBasis(of: name).base)
        let change = NewChange(name: name, kind: .save(handle, size: 1), edited: nil, basis: basis)
        machine.run(.enqueue(machine.newCall(), [change]))
    }
}
