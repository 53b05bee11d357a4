import Foundation
import XCTest

@testable import CodableSync

/// Malformed input, group D: what an engine makes of responses of CloudKit Web Services that make no sense.
final class MalformedResponseScenarios: WebServiceScenario {
    /// D6: the next attempt finds out what the server has.
    func testASaveWithoutAChangeTagIsUnconfirmedAndLookedUp() async throws {
        let phone = try makeDevice(Note.self)
        transport.changeResponse(to: "records/modify") {
            $0.replacingOccurrences(of: "recordChangeTag", with: "other")
        }
        try await phone.engine.upload(Note("a", "mine"))
        await tryToSync(phone)
        var pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a"])
        let before = operations.count
        try await phone.engine.sendChanges()
        pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
        let looked = operations.dropFirst(before).contains("records/lookup")
        XCTAssertTrue(looked, "\(operations.dropFirst(before))")
        assertNoConflict(phone)
        let tag = try await serverRecords()["a"]?.recordChangeTag
        try await phone.engine.upload(Note("a", "last"))
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.last?.saves.first?.recordChangeTag, tag)
    }

    /// D7, D8: an unknown code of the request or of a record.
    func testAChangeWithAnUnknownErrorIsParkedAfterAFewAttempts() async throws {
        for (number, (status, text, said)) in [
            (400, #"{"serverErrorCode":"FOO_ERROR"}"#, "FOO_ERROR"),
            (200, #"{"records":[{"recordName":"a","serverErrorCode":"FOO_ERROR"}]}"#, "FOO_ERROR"),
            (200, #"{"records":[{"recordName":"a","serverErrorCode":42}]}"#, "without a code"),
            (418, #"{"serverErrorCode":{}}"#, "418"),
        ].enumerated() {
            let phone = try await makeRestingDevice { $0.storage = .inMemory }
            let before = requests("records/modify")
            answer("records/modify", status, text)
            try await phone.engine.upload(Note("a", "\(number)"))
            try await passUntil("the change is parked", phone) {
                try await !phone.engine.parkedChanges().isEmpty
            }
            XCTAssertEqual(requests("records/modify"), before + 8, text)
            let parked = try await phone.engine.parkedChanges()
            XCTAssertEqual(parked.map(\.client?.title), ["\(number)"], text)
            let reason = try XCTUnwrap(parked.first?.parkReason)
            XCTAssertEqual(reason.kind, .unknownError, text)
            XCTAssertTrue(reason.message.contains(said), reason.message)
            answerAsUsual()
            try await phone.engine.close()
        }
    }

    /// D9: a wait that is none, or has no end.
    func testNoWaitMakesALoopOrLastsForEver() async throws {
        for wait in ["-5", "0", "1e12", #""NaN""#, "null"] {
            let phone = try await makeRestingDevice { $0.storage = .inMemory }
            let before = requests("records/modify")
            answer("records/modify", 429, #"{"serverErrorCode":"THROTTLED","retryAfter":\#(wait)}"#)
            try await phone.engine.upload(Note("a", wait))
            try await quiet(phone)
            XCTAssertEqual(requests("records/modify"), before + 1, wait)
            XCTAssertGreaterThan(try nextWait(of: phone), .zero, wait)
            XCTAssertLessThanOrEqual(try nextWait(of: phone), .seconds(3600), wait)
            answerAsUsual()
            try await pass(.seconds(3600), phone)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], wait)
            try await phone.engine.close()
        }
    }

    /// D15: the fetch continues from the last position, after waits.
    func testAPageWithoutAPositionIsFetchedAgainAfterWaits() async throws {
        let phone = try await makeRestingDevice()
        try await serverSave("before", RecordEncoder().encode(Note("before")).fields)
        await phone.engine.core.process(.signal(.changes(in: nil)))
        try await quiet(phone)
        try await serverSave("after", RecordEncoder().encode(Note("after")).fields)
        answer(
            "changes/zone",
            200,
            #"{"zones":[{"zoneID":{"zoneName":"Item"},"moreComing":true,"records":[]}]}"#
        )
        let requests = requests("changes/zone")
        await phone.engine.core.process(.signal(.changes(in: nil)))
        let end = clock.now.monotonic + .seconds(3600)
        try await passUntil("an hour is over", phone) { clock.now.monotonic >= end }
        let tries = self.requests("changes/zone") - requests
        XCTAssertGreaterThan(tries, 5)
        XCTAssertLessThan(tries, 60)
        var shown = try await phone.engine.allModels()
        XCTAssertEqual(shown.map(\.id), ["before"])
        let texts = Told<[String]>([])
        answerAsUsual()
        transport.changeResponse(to: "changes/zone") { text in
            texts.withLock { $0.append(text) }
            return text
        }
        try await phone.engine.sync()
        shown = try await phone.engine.allModels()
        XCTAssertEqual(shown.map(\.id), ["after", "before"])
        let first = try XCTUnwrap(texts.withLock { $0.first })
        XCTAssertFalse(first.contains("before"), "it continued: \(first)")
    }

    /// D17.
    func testARecordWithAnUnreadableFieldIsReportedAndTheOthersAreDelivered() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.sync()
        try await serverSave(Note("a", "odd"))
        try await serverSave(Note("b", "good"))
        transport.changeResponse(to: "changes/zone") {
            $0.replacingOccurrences(of: #""value":"odd""#, with: #""value":["odd"]"#)
        }
        try await phone.engine.sync()
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("b", "good")])
        let reported = try await phone.engine.diagnostics().undecodable
        XCTAssertEqual(reported, ["a"])
        let unknown = SyncEvent.unknownValue(recordName: "a", field: "title", kind: "STRING")
        XCTAssertEqual(phone.events.count { $0 == unknown }, 1)
    }

    /// D19.
    func testARecordWhoseErrorIsInAPageIsLookedUpAndTheOthersAreDelivered() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.sync()
        try await serverSave(Note("a", "late"))
        try await serverSave(Note("b", "good"))
        transport.changeResponse(to: "changes/zone") {
            let name = #""recordName":"a""#
            return $0.replacingOccurrences(of: name, with: name + #","serverErrorCode":"INTERNAL_ERROR""#)
        }
        answer("records/lookup", 503, "")
        await tryToSync(phone)
        var shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("b", "good")])
        answerAsUsual()
        let fetches = requests("changes/zone")
        try await phone.engine.sync()
        shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("a", "late"), Note("b", "good")])
        XCTAssertEqual(requests("changes/zone"), fetches + 1, "the page was complete")
    }
}
