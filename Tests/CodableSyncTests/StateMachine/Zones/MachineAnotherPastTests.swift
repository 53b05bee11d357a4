import RecordCoding
import XCTest

@testable import CodableSync

/// The database token comes from a history that the cloud does not have.
final class MachineAnotherPastTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.know("B", 2)
    }

    /// Read from its beginning, the feed would report what happened before.
    func testAFeedOfAnotherHistoryIsAZoneLossWithoutReason() {
        machine.upload("A", 3)
        machine.failSend(CloudError(.zoneNotFound))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let actions = machine.run(.response(request, .failure(CloudError(.zoneNotFound))))
        XCTAssertTrue(actions.events.contains(.zoneLost(nil)))
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
    }
}
