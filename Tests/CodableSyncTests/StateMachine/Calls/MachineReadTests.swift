import XCTest

@testable import CodableSync

/// Reads around a deletion, a merge or an edit of the same record.
final class MachineReadTests: MachineTestCase {
    /// I-01: otherwise the second upload would count as an edit of a record that another device deleted.
    func testAReadDuringADeletionDoesNotMakeALaterUploadAnEdit() {
        machine.know("A", 1)
        machine.feed(.calls(.enqueue(machine.newCall(), [.delete("A")])))
        machine.feed(machine.reading("A"))
        machine.commitAll()
        saveAll(from: 10)
        XCTAssertNil(machine.state["A"])
        machine.run(.calls(.stop))
        machine.upload("A", 7)
        machine.upload("A", 8)
        let actions = machine.run(.calls(.start))
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertNil(machine.state["A"]?.pending?.base)
    }

    /// I-01: the app has read the merged model and edits it; that edit needs no second merge.
    func testAnEditOfAReadMergeIsBasedOnTheConfirmedMerge() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        machine.resolve { _ in .merged(6, size: 1, edited: nil) }
        let start = machine
        for isStored in [true, false] {
            machine = start
            machine.run(machine.reading("A"))
            guard let send = machine.sendRequest?.id else { return XCTFail("no send request") }
            let saved = SendResult(name: "A", handle: 6, outcome: .saved(KnownVersion(10)))
            machine.feed(.records(.sent(send, .success([saved]))))
            if isStored { machine.commitAll() }
            machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 11)])))
            let actions = machine.commitAll()
            XCTAssertEqual(actions.conflicts, [], "\(isStored)")
            XCTAssertEqual(actions.requests, ["send A=11@t10"], "\(isStored)")
            XCTAssertEqual(machine.faults, [])
        }
    }

    func testADeletionThatCannotBeStoredForgetsNoRead() {
        machine.know("A", 1)
        machine.fetch([.init("A", 5)], token: "9")
        machine.run(machine.reading("A"))
        machine.feed(.calls(.enqueue(machine.newCall(), [.delete("A")])))
        machine.failNextCommit()
        let actions = machine.upload("A", 6)
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(actions.requests, ["send A=6@t5"])
    }

    /// A read returns after a later edit was queued: the app has seen the model that the read returned.
    func testAReadMarksItsEditAsSeenEvenIfAnotherReplacedIt() {
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
        machine.run(.calls(.enqueue(machine.newCall(), [change])))
    }
}
