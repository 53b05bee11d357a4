import CodableSync
import Foundation
import XCTest

/// Errors of an engine as an app matches and makes them.
final class SyncErrorTests: XCTestCase {
    private let date = Date(timeIntervalSince1970: 0)

    /// An app can compare an error in a test without knowing its text.
    func testAnErrorEqualsOneMadeFromItsCodeAndValues() {
        let lost = CloudError(.networkFailure)
        let rows: [(SyncError, SyncError)] = [
            (.recordNotFound("a"), SyncError(.recordNotFound, recordNames: ["a"])),
            (.waiting(until: date), SyncError(.waiting, retryDate: date)),
            (.cloud(lost), SyncError(.cloud, cloudError: lost)),
            (.waitingForDecision, SyncError(.waitingForDecision)), (.stopped, SyncError(.stopped)),
            (.closed, SyncError(.closed)),
        ]
        for (error, made) in rows { XCTAssertEqual(error, made) }
        XCTAssertEqual(Set(rows.map(\.0)).count, rows.count)
        XCTAssertNotEqual(SyncError.recordNotFound("a"), .recordNotFound("b"))
    }

    func testAnErrorAboutSeveralModelsNamesEachWithItsReason() {
        let models = [("a", "It is large."), ("", "It has no name."), ("b", "It is odd.")].map {
            SyncError.InvalidModel(recordName: $0, reason: $1)
        }
        let error = SyncError.invalidModels(models)
        XCTAssertEqual(error.recordNames, ["a", "b"])
        XCTAssertEqual(
            error.message,
            "Nothing was queued: a: It is large. a model: It has no name. b: It is odd."
        )
    }

    func testEveryCodeHasAMessageThatSaysSomethingElse() {
        let codes: [SyncError.Code] = [
            .invalidModels, .recordNotFound, .recordUndecodable, .storageFull, .stateInUse, .stateTooNew,
            .storageFailed, .configuration, .waiting, .waitingForDecision, .cloud, .stopped, .closed,
            .userChanged,
        ]
        XCTAssertEqual(Set(codes.map { SyncError($0).message }).count, codes.count)
        for code in codes { XCTAssertTrue(SyncError(code).message.hasSuffix("."), "\(code)") }
        let error = SyncError(.storageFull, message: "No space.", recordNames: ["a"])
        XCTAssertEqual(error.message, "No space.")
        XCTAssertEqual("\(error)", error.message)
    }

    func testTheMessageOfAMissingRecordQuotesItsName() {
        XCTAssertEqual(
            SyncError(.recordNotFound, recordNames: ["a\nb"]).message,
            #"There is no record "a\u{a}b" on this device. Upload the model to create it."#
        )
    }

    func testACatchClauseMatchesACode() async throws {
        let engine = SyncEngine<Named>(database: FakeCloud().database())
        do {
            try await engine.edit(named: "a") { _ in }
            XCTFail("A record that does not exist was edited.")
        } catch let error as SyncError where error.code == .recordNotFound {
            XCTAssertEqual(error, SyncError(.recordNotFound, recordNames: ["a"]))
        }
    }
}

private struct Named: RecordCodable, Identifiable {
    let id: String

    static func resolveConflict(_ conflict: Conflict<Named>) throws -> Named? { conflict.latestEdit }
}
