import Foundation
import XCTest

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// A record service over memory, and requests of one user.
struct ServiceFixture {
    let storage: LedgerMemory
    let service: RecordService
    let user: String

    init(
        _ options: RecordServiceOptions = RecordServiceOptions(),
        ledger: CloudLedger = CloudLedger(identifier: "service", options: .webServices),
        epoch: UInt64 = 1,
        user: String = "_alice"
    ) {
        storage = LedgerMemory(ledger, epoch: epoch)
        service = RecordService(storage: storage, options: options, newRecordName: { "made" })
        self.user = user
    }

    /// Sends a body, and returns the answer with its JSON.
    func send(
        _ operation: String,
        _ body: String = "{}",
        scope: DatabaseScope = .private,
        as sender: String? = nil
    ) async throws -> (answer: RecordService.Answer, json: WebJSON) {
        let request = RecordService.Request(
            operation,
            Array(body.utf8),
            user: sender ?? user,
            scope: scope
        )
        let answer = try await service.answer(to: request, at: Date(timeIntervalSince1970: 1))
        return (answer, try WebJSON(answer.body))
    }

    func makeZone(_ name: String = "Notes") async throws {
        _ = try await send(
            "zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"\#(name)"}}}]}"#
        )
    }

    /// Sends operations on records of the zone, and returns their items.
    @discardableResult
    func modify(_ operations: String..., atomically: Bool = false) async throws -> [WebJSON] {
        let list = operations.joined(separator: ",")
        let body = #"{"zoneID":{"zoneName":"Notes"},"atomic":\#(atomically),"operations":[\#(list)]}"#
        let (answer, json) = try await send("records/modify", body)
        XCTAssertEqual(answer.status, 200, "\(json)")
        return json["records"]?.array ?? []
    }

    /// The page of the zone, after a token.
    func changes(since token: String? = nil, _ more: String = "") async throws -> WebJSON {
        let position = token.map { #","syncToken":"\#($0)""# } ?? ""
        let body = #"{"zones":[{"zoneID":{"zoneName":"Notes"}\#(position)\#(more)}]}"#
        let (answer, json) = try await send("changes/zone", body)
        XCTAssertEqual(answer.status, 200, "\(json)")
        return try XCTUnwrap(json["zones"]?.array?.first)
    }

    /// An operation on a record.
    static func operation(
        _ type: String,
        _ name: String,
        tag: String? = nil,
        fields: String = #""n":{"value":1,"type":"INT64"}"#
    ) -> String {
        let tag = tag.map { #","recordChangeTag":"\#($0)""# } ?? ""
        return #"{"operationType":"\#(type)","record":{"recordName":"\#(name)","recordType":"Note"\#(tag),"#
            + #""fields":{\#(fields)}}}"#
    }
}

extension WebJSON {
    var code: String? { self["serverErrorCode"]?.string }
    var tag: String? { self["recordChangeTag"]?.string }
}
