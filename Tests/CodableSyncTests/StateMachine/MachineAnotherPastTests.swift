import RecordCoding
import XCTest

@testable import CodableSync

/// The position in the database's feed is of a past that the cloud does not have.
final class MachineAnotherPastTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
        machine.know("B", 2)
    }

    /// Read from its beginning, the feed would tell of what happened before.
    func testAFeedOfAnotherPastIsALossWithoutReason() {
        machine.upload("A", 3)
        machine.failSend(CloudError(.zoneNotFound))
        guard let request = machine.setupRequest else { return XCTFail("nothing is asked") }
        let actions = machine.run(.databaseChanged(request, .failure(CloudError(.zoneNotFound))))
        XCTAssertTrue(actions.events.contains(.zoneLost(nil)))
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send A=1@- B=2@-"])
    }
}
