import Foundation
import XCTest

@testable import CodableSync

/// Scenarios, group O: what an engine makes of the errors of CloudKit Web Services.
final class WebServiceScenarios: WebServiceScenario {
    private func error(_ code: String, _ more: String = "") -> String {
        #"{"serverErrorCode":"\#(code)","reason":"for a test"\#(more)}"#
    }

    // WS-01
    func testTheWaitInTheBodyOfAThrottledResponseIsKept() async throws {
        let phone = try await makeRestingDevice()
        answer("records/modify", 429, error("THROTTLED", #","retryAfter":30"#))
        try await phone.engine.upload(Note("a"))
        try await quiet(phone)
        let before = operations.count
        answerAsUsual()
        await phone.engine.core.process(.signal(.changes(in: nil)))
        try await pass(.milliseconds(29_999), phone)
        XCTAssertEqual(operations.count, before)
        try await pass(.milliseconds(1), phone)
        XCTAssertEqual(requests("records/modify"), 2)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }

    // WS-02
    func testTemporaryErrorsAreRetriedAfterGrowingWaits() async throws {
        for (status, code) in [
            (503, "TRY_AGAIN_LATER"), (503, "SERVICE_UNAVAILABLE"), (500, "INTERNAL_ERROR"),
        ] {
            let phone = try await makeRestingDevice { $0.storage = .inMemory }
            let before = requests("records/modify")
            answer("records/modify", status, error(code))
            try await phone.engine.upload(Note(code))
            var waits: [Duration] = []
            for failure in 1...6 {
                try await quiet(phone)
                XCTAssertEqual(requests("records/modify"), before + failure, code)
                waits.append(try nextWait(of: phone))
                XCTAssertLessThanOrEqual(try nextWait(of: phone), .seconds(1 << (failure - 1)), code)
                if failure == 6 { answerAsUsual() }
                clock.advance(by: try nextWait(of: phone))
            }
            try await quiet(phone)
            XCTAssertGreaterThan(waits.suffix(3).reduce(.zero, +), waits.prefix(3).reduce(.zero, +), code)
            XCTAssertEqual(requests("records/modify"), before + 7, code)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], code)
            try await phone.engine.close()
        }
    }

    // WS-02
    func testTheWaitInTheHeaderIsKept() async throws {
        for text in ["", error("TRY_AGAIN_LATER")] {
            let phone = try await makeRestingDevice { $0.storage = .inMemory }
            answer("records/modify", 503, text, ["Retry-After": "30"])
            try await phone.engine.upload(Note("a", text))
            try await quiet(phone)
            XCTAssertEqual(try nextWait(of: phone), .seconds(30), text)
            answerAsUsual()
            try await pass(.seconds(30), phone)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], text)
            try await phone.engine.close()
        }
    }

    // WS-03: a conflict of the record, and of the request as a whole.
    func testAConflictWithoutTheRecordIsLookedUpMergedAndSaved() async throws {
        for isOfTheItem in [true, false] {
            let phone = try makeDevice(Note.self) { $0.storage = .inMemory }
            let name = "\(isOfTheItem)"
            try await phone.engine.upload(Note(name, "old"))
            try await phone.engine.sync()
            pass()
            try await serverSave(name, ["note": "theirs"])
            pass()
            try await phone.engine.upload(Note(name, "mine"))
            if !isOfTheItem {
                let text = error("CONFLICT")
                let isFirst = Told(true)
                transport.answer { request throws(CloudError) in
                    guard request.url.path.hasSuffix("records/modify") else { return nil }
                    let isFirst = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                    return isFirst ? StubTransport.json(409, text) : nil
                }
            }
            let before = operations.count
            try await phone.engine.sendChanges()
            XCTAssertEqual(
                operations.dropFirst(before).filter { $0.hasPrefix("records/") },
                ["records/modify", "records/lookup", "records/modify"],
                name
            )
            XCTAssertEqual(
                phone.events.count { if case .conflictResolved = $0 { true } else { false } },
                1,
                name
            )
            let server = try await serverRecords()
            XCTAssertEqual(server[name]?.fields["title"], "mine", name)
            XCTAssertEqual(server[name]?.fields["note"], "theirs", name)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], name)
        }
    }

    // WS-04
    func testARefusedTokenIsReportedOnceWithThePageForSigningIn() async throws {
        let page = "https://idmsa.apple.com/sign-in"
        let redirect = #","redirectURL":"\#(page)""#
        for (status, code, more, url) in [
            (421, "AUTHENTICATION_REQUIRED", redirect, page), (401, "AUTHENTICATION_FAILED", "", nil),
        ] {
            let phone = try await makeRestingDevice { $0.storage = .inMemory }
            answer("", status, error(code, more))
            try await phone.engine.upload(Note("a", code))
            try await quiet(phone)
            let end = clock.now.monotonic + .seconds(3600)
            try await passUntil("an hour is over", phone) { clock.now.monotonic >= end }
            let failures = phone.events.all.compactMap { event -> CloudError? in
                if case .failed(let error) = event { error } else { nil }
            }
            XCTAssertEqual(failures.map(\.code), [.accountTemporarilyUnavailable], code)
            XCTAssertEqual(failures.map { $0.redirectURL?.absoluteString }, [url], code)
            let status = try await phone.engine.diagnostics().status
            XCTAssertEqual(status, .paused(.account(.temporarilyUnavailable)), code)
            answerAsUsual()
            await phone.engine.core.process(.signal(.accountChanged))
            try await quiet(phone)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], code)
            try await phone.engine.close()
        }
    }

    // WS-05
    func testAnAtomicErrorKeepsAllChangesAndFindsTheOneToBlame() async throws {
        let phone = try await makeRestingDevice()
        let text = error("ATOMIC_ERROR")
        transport.answer { request throws(CloudError) in
            let hasBad = String(decoding: request.body, as: UTF8.self).contains(#""recordName":"bad""#)
            let isAnswered = hasBad && request.url.path.hasSuffix("records/modify")
            return isAnswered ? StubTransport.json(400, text) : nil
        }
        let names = (0..<8).map { "n\($0)" }
        try await phone.engine.upload(names.map { Note($0) } + [Note("bad")])
        try await quiet(phone)
        var pending = try await phone.pendingNames()
        XCTAssertTrue(pending.contains("bad"), "\(pending)")
        try await passUntil("the change is parked", phone) {
            try await phone.engine.parkedChanges().map(\.recordName) == ["bad"]
        }
        pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["bad"])
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), names)
        XCTAssertLessThanOrEqual(requests("records/modify"), 20)
    }

    // WS-06, as SN-28
    func testAFullQuotaIsReportedOnceAndRetriedRarely() async throws {
        let phone = try await makeRestingDevice()
        answer("records/modify", 413, error("QUOTA_EXCEEDED"))
        try await phone.engine.upload([Note("a"), Note("b")])
        for number in 1...3 {
            try await quiet(phone)
            let status = try await phone.engine.diagnostics().status
            XCTAssertEqual(status, .paused(.quotaExceeded))
            try await pass(.seconds(599), phone)
            XCTAssertEqual(requests("records/modify"), number, "no retry before ten minutes")
            clock.advance(by: .seconds(1))
        }
        try await quiet(phone)
        XCTAssertEqual(phone.events.count { $0 == .quotaExceeded }, 1)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a", "b"])
        answerAsUsual()
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a", "b"])
    }

    // WS-07, as SN-24
    func testAMissingZoneIsCreatedAndStaleTagsAreDropped() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload([Note("a", "old"), Note("b")])
        try await phone.engine.sync()
        let other = try makeDevice(Note.self).database.base
        _ = try await other.modifyRecordZones(saving: [], deleting: [ZoneID(zoneName: "Item")])
        let refusals = Told<[Int]>([])
        transport.changeResponse(to: "records/modify") { text in
            refusals.withLock { $0.append(text.contains("ZONE_NOT_FOUND") ? 1 : 0) }
            return text
        }
        try await phone.engine.upload(Note("a", "new"))
        try await phone.engine.sendChanges()
        XCTAssertEqual(refusals.withLock { $0 }, [1])
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a"])
        XCTAssertEqual(server["a"]?.fields["title"], "new")
        XCTAssertNil(phone.database.modifies.last?.saves.first?.recordChangeTag)
    }

    // WS-08
    func testEachRecordOfASuccessfulResponseFollowsItsOwnCode() async throws {
        let phone = try await makeRestingDevice()
        let items = [
            #"{"recordName":"saved","recordType":"Item","recordChangeTag":"k1","fields":{}}"#,
            #"{"recordName":"denied","serverErrorCode":"ACCESS_DENIED"}"#,
            #"{"recordName":"busy","serverErrorCode":"TRY_AGAIN_LATER"}"#,
        ]
        answer("records/modify", 200, #"{"records":[\#(items.joined(separator: ","))]}"#)
        try await phone.engine.upload([Note("saved"), Note("denied"), Note("busy")])
        try await quiet(phone)
        var pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["busy", "denied"])
        XCTAssertEqual(phone.events.parkedNames, ["denied"])
        answerAsUsual()
        try await pass(.seconds(1), phone)
        pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["denied"])
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["busy"], "the other two were answered by the test")
    }

    // WS-09, D2
    func testAPageOfANetworkConfirmsNothing() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload([Note("a"), Note("deleted")])
        try await phone.engine.sync()
        let page = "<html><body>Sign in to this network</body></html>"
        for (status, headers, text) in [
            (200, ["Content-Type": "text/html"], page), (302, ["Location": "https://portal.example"], page),
            (307, ["Location": "http://portal.example"], ""),
        ] {
            try await phone.engine.upload(Note("a", "\(status)"))
            if status == 200 { try await phone.engine.delete(named: ["deleted"]) }
            let before = try await phone.pendingNames()
            answer("", status, text, headers)
            let error = await tryToSync(phone)
            let codes: [CloudError.Code] = [.serverResponseLost, .networkFailure]
            XCTAssertTrue(error.map { codes.contains($0.code) } ?? false, "\(String(describing: error))")
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, before, "\(status)")
            let parked = try await phone.engine.parkedChanges()
            XCTAssertEqual(parked.count, 0, "\(status)")
            answerAsUsual()
            try await phone.engine.sync()
            let server = try await serverRecords()
            XCTAssertEqual(server["a"]?.fields["title"], .string("\(status)"))
            XCTAssertEqual(server.keys.sorted(), ["a"])
        }
    }

    // WS-10, D3, as SN-17
    func testASaveWhoseResponseWasCutIsRecognized() async throws {
        let phone = try makeDevice(Note.self)
        for title in ["created", "edited"] {
            transport.changeResponse(to: "records/modify") { String($0.prefix($0.count / 2)) }
            try await phone.engine.upload(Note("a", title))
            await tryToSync(phone)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, ["a"], title)
            let server = try await serverRecords()
            XCTAssertEqual(server["a"]?.fields["title"], .string(title), "it was carried out")
            try await phone.engine.sync()
            let left = try await phone.pendingNames()
            XCTAssertEqual(left, [], title)
        }
        assertNoConflict(phone)
        let tag = try await serverRecords()["a"]?.recordChangeTag
        try await phone.engine.upload(Note("a", "last"))
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.last?.saves.first?.recordChangeTag, tag)
        let server = try await serverRecords()
        XCTAssertEqual(server.mapValues { $0.fields["title"] }, ["a": "last"])
    }

    // WS-12
    func test201ChangesAreTwoRequests() async throws {
        let phone = try makeDevice(Note.self)
        let counts = Told<[Int]>([])
        transport.answer { request throws(CloudError) in
            guard request.url.path.hasSuffix("records/modify") else { return nil }
            let json: WebJSON?
            do { json = try WebJSON(Array(request.body)) } catch { json = nil }
            counts.withLock { $0.append(json?["operations"]?.array?.count ?? 0) }
            return nil
        }
        try await phone.engine.upload((0..<201).map { Note("n\($0)") })
        try await phone.engine.sync()
        XCTAssertEqual(counts.withLock { $0 }, [200, 1])
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 201)
    }
}
