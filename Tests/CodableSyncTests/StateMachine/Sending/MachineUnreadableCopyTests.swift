import XCTest

@testable import CodableSync

/// A change whose stored server version cannot be read: it is looked up, but not for ever.
final class MachineUnreadableCopyTests: MachineTestCase {
    private func uploadOverKnown() {
        machine.know("A", 1)
        machine.upload("A", 2)
    }

    /// Answers the look-up with the version that is known, in another copy.
    private func lookUp(_ handle: UInt64, line: UInt = #line) {
        guard let request = machine.lookUpRequest else { return XCTFail("no look-up", line: line) }
        var version = KnownVersion(1)
        version.handle = ContentHandle(handle)
        machine.run(
            .response(request.id, .success(.records([LookedUp(name: "A", result: .success(version))])))
        )
    }

    func testACopyIsLookedUpOnce() {
        uploadOverKnown()
        machine.answerSend { _ in .copyUnreadable("damaged") }
        lookUp(10)
        XCTAssertEqual(machine.state["A"]?.known?.handle, 10)
        XCTAssertEqual(machine.state["A"]?.pending?.base, 10)
        machine.answerSend { _ in .copyUnreadable("damaged again") }
        XCTAssertNil(machine.lookUpRequest)
        XCTAssertNil(machine.sendRequest)
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .contentsUnreadable)
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.message, "damaged again")
    }

    func testAFailedLookUpIsRepeated() {
        uploadOverKnown()
        machine.answerSend { _ in .copyUnreadable("damaged") }
        guard let request = machine.lookUpRequest else { return XCTFail("no look-up") }
        machine.run(.response(request.id, .failure(CloudError(.networkUnavailable))))
        XCTAssertNil(machine.state["A"]?.pending?.parked)
        for _ in 0..<5 where machine.lookUpRequest == nil {
            // A change whose look-up failed is sent again, and then looked up again.
            if machine.sendRequest != nil {
                machine.answerSend { _ in .copyUnreadable("damaged") }
            } else {
                machine.fireNext()
            }
        }
        lookUp(10)
        XCTAssertNil(machine.state["A"]?.pending?.parked)
        machine.answerSend { _ in .saved(KnownVersion(20)) }
        XCTAssertNil(machine.state["A"]?.pending)
    }
}
