import CodableSync
import XCTest

/// Errors as an alert shows them.
final class ErrorTextTests: XCTestCase {
    func testAnAlertShowsTheWordsOfAnError() {
        let errors: [any Error] = [
            SyncError.waitingForDecision(.purged), SyncError.stateInUse(by: "process 7"), SyncError.closed,
            SyncError.cloud(CloudError(.quotaExceeded)), CloudError(.networkFailure, message: "No line."),
        ]
        for error in errors { XCTAssertEqual(error.localizedDescription, "\(error)") }
        XCTAssertEqual(SyncError.closed.localizedDescription, "The engine is closed. Make a new one.")
    }

    func testAModelWithoutANameIsNamedInWords() {
        let model = SyncError.InvalidModel(recordName: "", reason: "It has no name.")
        XCTAssertEqual("\(SyncError.invalidModels([model]))", "Nothing was queued: a model: It has no name.")
    }
}
