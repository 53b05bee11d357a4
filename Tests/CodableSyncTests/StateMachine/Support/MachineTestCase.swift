import XCTest

@testable import CodableSync

/// A test of a machine that has fetched an empty zone; faults found by the harness fail the test.
class MachineTestCase: XCTestCase {
    var machine = MachineHarness()

    override func setUp() {
        super.setUp()
        machine = .synced()
        XCTAssertEqual(machine.state.onlyZone.stage, .ready)
        XCTAssertEqual(machine.state.onlyZone.token, ChangeToken("0"))
    }

    override func tearDown() {
        XCTAssertEqual(machine.faults, [])
        super.tearDown()
    }

    /// Answers the current request with success; versions are numbered from the given number.
    @discardableResult
    func saveAll(from number: UInt64) -> [SyncAction] {
        var next = number
        return machine.answerSend { item in
            guard item.handle != nil else { return .deleted }
            defer { next += 1 }
            return .saved(KnownVersion(next))
        }
    }
}
