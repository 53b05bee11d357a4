import Foundation
import XCTest

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// References in requests, and the public database, of which one user owns everything.
final class RecordServiceReferenceTests: XCTestCase {
    private typealias Fixture = ServiceFixture

    private static func reference(_ target: String, _ action: String, zone: String = "") -> String {
        #"{"recordName":"\#(target)","action":"\#(action)"\#(zone)}"#
    }

    private static func field(_ value: String) -> String {
        #""to":{"value":\#(value),"type":"REFERENCE\#(value.hasPrefix("[") ? "_LIST" : "")"}"#
    }

    // MARK: VALIDATE

    func testATargetToValidateMustExistOrBeSavedToo() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        try await fixture.modify(Fixture.operation("create", "there"))
        for (value, code) in [
            (Self.reference("missing", "VALIDATE"), "VALIDATING_REFERENCE_ERROR"),
            (
                "[\(Self.reference("there", "NONE")),\(Self.reference("missing", "VALIDATE"))]",
                "VALIDATING_REFERENCE_ERROR"
            ),
            (Self.reference("there", "VALIDATE"), nil), (Self.reference("missing", "NONE"), nil),
            (Self.reference("holder", "VALIDATE"), nil), (Self.reference("created", "VALIDATE"), nil),
        ] as [(String, String?)] {
            let items = try await fixture.modify(
                Fixture.operation(
                    "forceUpdate",
                    "holder",
                    fields: value.hasPrefix("[")
                        ? #""list":{"value":\#(value),"type":"REFERENCE_LIST"}"# : Self.field(value)
                ),
                Fixture.operation("forceUpdate", "created")
            )
            XCTAssertEqual(items.map(\.code), [code, nil], value)
            try await fixture.modify(Fixture.operation("forceDelete", "created"))
        }
    }

    func testATargetToValidateOfARequestWithoutAZoneIsTheZonesFault() async throws {
        let fixture = Fixture()
        let operation = Fixture.operation("create", "a", fields: Self.field(Self.reference("b", "VALIDATE")))
        let body = #"{"zoneID":{"zoneName":"No"},"operations":[\#(operation)]}"#
        let (answer, json) = try await fixture.send("records/modify", body)
        XCTAssertEqual(answer.status, 404)
        XCTAssertEqual(json.code, "ZONE_NOT_FOUND")
    }

    // MARK: Zones

    /// CloudKit: a reference links records of one zone.
    func testAReferenceIntoAnotherZoneIsRefusedWhoeverOwnsIt() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        try await fixture.makeZone("Other")
        for (zone, isSame) in [
            (#"{"zoneName":"Notes"}"#, true), (#"{"zoneName":"Notes","ownerRecordName":"_alice"}"#, true),
            (#"{"zoneName":"Notes","ownerRecordName":"_bob"}"#, false),
            (#"{"zoneName":"Other"}"#, false), (#"{"zoneName":"Other","ownerRecordName":"_alice"}"#, false),
        ] {
            let value = Self.reference("target", "NONE", zone: #","zoneID":\#(zone)"#)
            let items = try await fixture.modify(
                Fixture.operation("forceUpdate", "holder", fields: Self.field(value))
            )
            XCTAssertEqual(items.first?.code, isSame ? nil : "BAD_REQUEST", zone)
            let answered = items.first?["fields"]?["to"]?["value"]?["recordName"]?.string
            XCTAssertEqual(answered, isSame ? "target" : nil, zone)
        }
    }

    // MARK: The public database

    func testThePublicDatabaseHasItsDefaultZoneOnly() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        for user in ["_alice", RecordService.developer] {
            let zones = try await fixture.send("zones/list", scope: .public, as: user).json["zones"]?.array
            XCTAssertEqual(zones?.count, 1, user)
            XCTAssertEqual(zones?.first?["zoneID"]?["zoneName"]?.string, "_defaultZone", user)
            let owner = zones?.first?["zoneID"]?["ownerRecordName"]?.string
            XCTAssertEqual(owner, RecordService.developer, user)
        }
    }

    func testTheDeveloperWritesThePublicDatabaseAndUsersReadIt() async throws {
        let fixture = Fixture()
        let save = #"{"operations":[\#(Fixture.operation("create", "news"))]}"#
        let lookup = #"{"records":[{"recordName":"news"}]}"#
        let refused = try await fixture.send("records/modify", save, scope: .public)
        XCTAssertEqual(refused.answer.status, 403)
        XCTAssertEqual(refused.json.code, "ACCESS_DENIED")
        let saved = try await fixture.send(
            "records/modify",
            save,
            scope: .public,
            as: RecordService.developer
        )
        XCTAssertNil(saved.json["records"]?.array?.first?.code)
        for user in ["_alice", "_bob", RecordService.developer] {
            let (answer, json) = try await fixture.send("records/lookup", lookup, scope: .public, as: user)
            XCTAssertEqual(answer.status, 200, user)
            let record = json["records"]?.array?.first
            XCTAssertEqual(record?["created"]?["userRecordName"]?.string, RecordService.developer, user)
        }
        let own = try await fixture.send("records/lookup", lookup)
        XCTAssertEqual(
            own.json["records"]?.array?.first?.code,
            "NOT_FOUND",
            "the private database has none of it"
        )
    }
}
