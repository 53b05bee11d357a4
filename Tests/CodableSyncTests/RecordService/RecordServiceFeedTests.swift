import Foundation
import XCTest

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// Pages of changes, and positions that can't be used.
final class RecordServiceFeedTests: XCTestCase {
    private typealias Fixture = ServiceFixture

    func testAPageEndsAtItsSize() async throws {
        var options = RecordServiceOptions()
        options.maximumPageBytes = 400_000
        let fixture = Fixture(options)
        try await fixture.makeZone()
        // Written as JSON, a control character has six bytes.
        for (name, text) in [("plain", "x"), ("escaped", #"\u0001"#)] {
            let value = String(repeating: text, count: 30_000)
            for number in 0..<8 {
                let field = #""t":{"value":"\#(value)","type":"STRING"}"#
                try await fixture.modify(Fixture.operation("create", "\(name)\(number)", fields: field))
            }
        }
        var (token, names, pages): (String?, Set<String>, Int) = (nil, [], 0)
        while true {
            let position = token.map { #","syncToken":"\#($0)""# } ?? ""
            let body = #"{"zones":[{"zoneID":{"zoneName":"Notes"}\#(position)}]}"#
            let (answer, json) = try await fixture.send("changes/zone", body)
            let page = try XCTUnwrap(json["zones"]?.array?.first)
            let records = try XCTUnwrap(page["records"]?.array)
            XCTAssertLessThan(answer.body.count, options.maximumPageBytes + 500)
            XCTAssertFalse(records.isEmpty)
            names.formUnion(records.compactMap { $0["recordName"]?.string })
            pages += 1
            token = page["syncToken"]?.string
            if page["moreComing"]?.bool == false { break }
        }
        XCTAssertEqual(names.count, 16)
        XCTAssertLessThan(pages, 10)
    }

    func testALargeRecordHasAPageOfItsOwn() async throws {
        var options = RecordServiceOptions()
        options.maximumPageBytes = 10
        let fixture = Fixture(options)
        try await fixture.makeZone()
        try await fixture.modify(Fixture.operation("create", "a"), Fixture.operation("create", "b"))
        let first = try await fixture.changes()
        XCTAssertEqual(first["records"]?.array?.count, 1)
        XCTAssertEqual(first["moreComing"]?.bool, true)
        let second = try await fixture.changes(since: first["syncToken"]?.string)
        XCTAssertEqual(second["records"]?.array?.count, 1)
        XCTAssertEqual(second["moreComing"]?.bool, false)
    }

    func testAPageHas200RecordsAtMost() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        for number in 0..<201 { try await fixture.modify(Fixture.operation("create", "r\(number)")) }
        for limit in ["", #","resultsLimit":500"#] {
            let page = try await fixture.changes(limit)
            XCTAssertEqual(page["records"]?.array?.count, 200)
            XCTAssertEqual(page["moreComing"]?.bool, true)
        }
        let small = try await fixture.changes(since: nil, #","resultsLimit":3"#)
        XCTAssertEqual(small["records"]?.array?.count, 3)
    }

    func testADeletionHasNoTypeUnlessTheOptionsSaySo() async throws {
        for hasType in [false, true] {
            var options = RecordServiceOptions()
            options.deletionsHaveTypes = hasType
            let fixture = Fixture(options)
            try await fixture.makeZone()
            try await fixture.modify(Fixture.operation("create", "a"))
            let token = try await fixture.changes()["syncToken"]?.string
            try await fixture.modify(Fixture.operation("forceDelete", "a"))
            let item = try await fixture.changes(since: token)["records"]?.array?.first
            XCTAssertEqual(item?["deleted"]?.bool, true)
            XCTAssertEqual(item?["recordType"]?.string, hasType ? "Note" : nil)
            XCTAssertNil(item?["fields"])
        }
    }

    func testAnUnusableTokenIsRefusedInBothForms() async throws {
        for (form, code) in [
            (RecordServiceOptions.ExpiredToken.badRequest, "BAD_REQUEST"),
            (.changeTokenExpired, "CHANGE_TOKEN_EXPIRED"),
        ] {
            var options = RecordServiceOptions()
            options.expiredToken = form
            let fixture = Fixture(options)
            try await fixture.makeZone()
            for token in ["garbage", ""] {
                let zone = try await fixture.changes(since: token)
                XCTAssertEqual(zone.code, code)
                XCTAssertTrue(CloudError.isTokenExpired(zone))
                let (answer, json) = try await fixture.send("changes/database", #"{"syncToken":"\#(token)"}"#)
                XCTAssertEqual(answer.status, 400)
                XCTAssertTrue(CloudError.isTokenExpired(json))
            }
        }
    }

    func testATokenOfTheOtherKindIsABadRequest() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        let database = try await fixture.send("changes/database").json
        let token = try XCTUnwrap(database["syncToken"]?.string)
        let zone = try await fixture.changes(since: token)
        XCTAssertEqual(zone.code, "BAD_REQUEST")
    }

    /// An expired token would make clients delete what others still have.
    func testTokensAndTagsOfALostHistoryMeanALostZone() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        let before = try await fixture.changes()["syncToken"]?.string
        let saved = try await fixture.modify(Fixture.operation("create", "lost"))
        let tag = try XCTUnwrap(saved.first?.tag)
        let after = try await fixture.changes()["syncToken"]?.string

        let restored = Fixture(epoch: 2)
        try await restored.makeZone()
        let zone = try await restored.changes(since: after)
        XCTAssertEqual(zone.code, "ZONE_NOT_FOUND")
        let body =
            #"{"zoneID":{"zoneName":"Notes"},"operations":[\#(Fixture.operation("update", "lost", tag: tag))]}"#
        let (answer, json) = try await restored.send("records/modify", body)
        XCTAssertEqual(answer.status, 404)
        XCTAssertEqual(json.code, "ZONE_NOT_FOUND")

        let known = try await fixture.changes(since: before, #","knownChangeTags":["\#(tag)"]"#)
        XCTAssertNil(known.code)
        let foreign = try await fixture.changes(since: before, #","knownChangeTags":["zz.zz"]"#)
        XCTAssertEqual(foreign.code, "ZONE_NOT_FOUND")
    }

    func testAZoneSaysWhatTheRequestDoesNotSay() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        let fields = #""a":{"value":1,"type":"INT64"},"b":{"value":2,"type":"INT64"}"#
        try await fixture.modify(Fixture.operation("create", "r", fields: fields))
        for (zone, request, expected) in [
            ("", "", ["a", "b"]), ("", #","desiredKeys":["a"]"#, ["a"]),
            (#","desiredKeys":["b"]"#, #","desiredKeys":["a"]"#, ["b"]), (#","desiredKeys":[]"#, "", []),
        ] {
            let body = #"{"zones":[{"zoneID":{"zoneName":"Notes"}\#(zone)}]\#(request)}"#
            let json = try await fixture.send("changes/zone", body).json
            let record = json["zones"]?.array?.first?["records"]?.array?.first
            XCTAssertEqual(record?["fields"]?.object?.keys.sorted() ?? [], expected, body)
        }
    }

    // MARK: Storages

    func testAClosedStorageIsTemporarilyUnavailable() async throws {
        let fixture = Fixture()
        await fixture.storage.close()
        let (answer, json) = try await fixture.send("zones/list")
        XCTAssertEqual(answer.status, 503)
        XCTAssertEqual(answer.retryAfter, 1)
        XCTAssertEqual(json["retryAfter"]?.int, 1)
    }

    func testAnAnswerThatMayBeLostIsNone() async throws {
        let service = RecordService(storage: LosingStorage())
        do {
            let request = RecordService.Request("zones/list", [], user: "_alice")
            let answer = try await service.answer(to: request, at: Date(timeIntervalSince1970: 1))
            XCTFail("\(answer)")
        } catch {
            XCTAssertEqual(error.code, .serverResponseLost)
        }
    }

    func testAStorageSaysWhichZonesChange() async throws {
        let path = NSTemporaryDirectory() + "service-" + UUID().uuidString
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(atPath: path)) }
        let zone = ZoneID(zoneName: "Notes")
        let storages: [any LedgerStorage] = [
            LedgerMemory(CloudLedger(identifier: "memory")), LedgerDirectory(path: path),
        ]
        for storage in storages {
            let changes = storage.changes
            let make = LedgerRequest.Operation.modifyRecordZones(
                saving: [RecordZone(zoneID: zone)],
                deleting: []
            )
            let date = Date(timeIntervalSince1970: 1)
            _ = try await storage.perform(LedgerRequest(user: "_alice", operation: make), at: date)
            _ = try await storage.perform(LedgerRequest(user: "_alice", operation: .allZones), at: date)
            await storage.close()
            var found: [LedgerChange] = []
            for await change in changes { found.append(change) }
            XCTAssertEqual(found, [LedgerChange(user: "_alice", scope: .private, zoneID: zone)])
        }
    }
}

/// A storage that never knows whether it has carried out a request.
private struct LosingStorage: LedgerStorage {
    var changes: AsyncStream<LedgerChange> { AsyncStream { $0.finish() } }

    func perform(
        _ request: LedgerRequest,
        at date: Date
    ) async throws(CloudError) -> (response: LedgerResponse, entries: [LedgerEntry]) {
        throw CloudError(.serverResponseLost)
    }

    func close() async {}
}
