import XCTest

@testable import CodableSync

/// A test of a machine that has fetched an empty zone; what the harness finds wrong fails the test.
class MachineTestCase: XCTestCase {
    var machine = MachineHarness()

    override func setUp() {
        super.setUp()
        machine = .synced()
        XCTAssertEqual(machine.state.summary.zone, .ready)
        XCTAssertEqual(machine.state.summary.zoneToken, ChangeToken("0"))
    }

    override func tearDown() {
        XCTAssertEqual(machine.faults, [])
        super.tearDown()
    }

    /// Saves whatever is under way; the versions get numbers from the given one on.
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
