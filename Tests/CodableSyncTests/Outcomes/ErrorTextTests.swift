import CodableSync
import Foundation
import XCTest

/// Errors as an alert shows them.
final class ErrorTextTests: XCTestCase {
    private static let codes: [SyncError.Code] = [
        .invalidModels, .recordNotFound, .recordUndecodable, .storageFull, .stateInUse, .stateTooNew,
        .storageFailed, .configuration, .waiting, .waitingForDecision, .cloud, .stopped, .closed,
        .userChanged,
    ]

    /// The names of records, the library's words and the cloud's message are for developers.
    func testLocalizedDescriptionIsASentenceForTheUserByCode() {
        let secret = "secret"
        let date = Date(timeIntervalSince1970: 0)
        let cloudErrors = (CloudError.Code.known + [.unknown(secret)]).map { CloudError($0, message: secret) }
        var errors: [any Error] = cloudErrors + cloudErrors.map { SyncError.cloud($0) }
        errors += Self.codes.map {
            SyncError($0, message: secret, recordNames: [secret], retryDate: date)
        }
        let jargon = [
            secret, "engine", "record", "zone", "token", "queue", "server", "request", "call", "start",
            "container", "entitlement", "1970", "/", "(", "\"",
        ]
        for error in errors {
            let text = error.localizedDescription
            XCTAssertTrue(text.hasSuffix(".") && !text.dropLast().contains("."), text)
            XCTAssertNotEqual(text, "\(error)")
            for word in jargon { XCTAssertFalse(text.lowercased().contains(word), "\(word): \(text)") }
        }
        let texts = Self.codes.map { SyncError($0).localizedDescription }
        XCTAssertEqual(Set(texts).count, texts.count)
    }

    func testAnErrorOfTheCloudIsTheSameForTheUserWhoeverThrowsIt() {
        for code in CloudError.Code.known {
            let error = CloudError(code)
            XCTAssertEqual(SyncError.cloud(error).localizedDescription, error.localizedDescription)
        }
    }

    func testAModelWithoutANameIsCalledAModel() {
        let model = SyncError.InvalidModel(recordName: "", reason: "It has no name.")
        XCTAssertEqual("\(SyncError.invalidModels([model]))", "Nothing was queued: a model: It has no name.")
    }

    func testAModelWithoutANameIsIdentifiedByItsPositionInTheCall() async throws {
        let engine = SyncEngine<Named>(database: FakeCloud().database())
        do {
            try await engine.upload([Named(id: "a"), Named(id: "")])
            XCTFail("A model without a name was accepted.")
        } catch let error as SyncError where error.code == .invalidModels {
            XCTAssertEqual(error.recordNames, [])
            XCTAssertTrue(error.message.hasSuffix(" It is model 2 of 2."), error.message)
        }
    }

    func testAnUnknownAccountStatusIsNotReportedAsSignedOut() async throws {
        let database = FakeCloud().database()
        database.account = .couldNotDetermine
        let engine = SyncEngine<Named>(database: database)
        do {
            try await engine.sync()
            XCTFail("The sync succeeded without an account.")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertTrue(error.message.hasPrefix("Can't determine who is signed in."), error.message)
        }
    }

    func testEachInvalidModelGetsItsOwnSentence() {
        let models = ["a", "b"].map { SyncError.InvalidModel(recordName: $0, reason: "It is wrong.") }
        XCTAssertEqual(
            "\(SyncError.invalidModels(models))",
            "Nothing was queued: a: It is wrong. b: It is wrong."
        )
    }

    func testCloudErrorsSayWhatToDo() {
        let rows: [(CloudError.Code, String)] = [
            (.networkUnavailable, "There is no network. No edit is lost; try again later."),
            (.quotaExceeded, "No edit is lost; sending resumes when the user has freed space."),
            (.notAuthenticated, "No edit is lost; sending resumes when the user signs in."),
            (
                .badContainer,
                "or the app may not use it. No edit is lost; add the capability iCloud to the app's target, with "
                    + "CloudKit and the container."
            ),
        ]
        for (code, text) in rows {
            XCTAssertTrue("\(SyncError.cloud(CloudError(code)))".hasSuffix(text), "\(code)")
        }
        let own = CloudError(.serviceUnavailable, message: "The path is wrong. Use another one.")
        XCTAssertTrue("\(SyncError.cloud(own))".hasSuffix("Use another one."))
    }

    /// The underlying message already ends with the remedy.
    func testTheRemedyAppearsOnlyOnce() {
        let text = "\"a\" has format version 2. Update the app."
        XCTAssertEqual(
            "\(SyncError.stateTooNew(text))",
            "The state was written by a newer version of the library; nothing was changed: \(text)"
        )
        XCTAssertEqual(
            "\(SyncError.storageFull("No space. Free some."))",
            "The disk is full, and the engine's state can't be stored: No space. Free some."
        )
    }
}

private struct Named: RecordCodable, Identifiable {
    let id: String

    static func resolveConflict(_ conflict: Conflict<Named>) throws -> Named? { conflict.latestEdit }
}
