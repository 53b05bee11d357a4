import XCTest

@testable import CodableSync

/// Uploads behind a deletion or a merge of the same record.
final class MachineUploadTests: MachineTestCase {
    /// I-01: otherwise the second upload would count as an edit of a record that another device deleted.
    func testAnUploadBehindADeletionIsNoEdit() {
        machine.know("A", 1)
        machine.feed(.calls(.enqueue(machine.newCall(), [.delete("A")])))
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

    /// I-01: an upload over the merged model needs no second merge.
    func testAnUploadOverAMergeIsBasedOnTheConfirmedMerge() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        machine.resolve { _ in .merged(6, size: 1, edited: nil) }
        let start = machine
        for isStored in [true, false] {
            machine = start
            guard let send = machine.sendRequest?.id else { return XCTFail("no send request") }
            let saved = SendResult(name: "A", handle: 6, outcome: .saved(KnownVersion(10)))
            machine.feed(.response(send, .success(.sendResults([saved]))))
            if isStored { machine.commitAll() }
            machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 11)])))
            let actions = machine.commitAll()
            XCTAssertEqual(actions.conflicts, [], "\(isStored)")
            XCTAssertEqual(actions.requests, ["send A=11@t10"], "\(isStored)")
            XCTAssertEqual(machine.faults, [])
        }
    }
}
