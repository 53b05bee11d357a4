import Foundation
import XCTest

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// What the server answers, by the reference of CloudKit Web Services.
final class RecordServiceTests: XCTestCase {
    private typealias Fixture = ServiceFixture

    // MARK: The operations of records/modify

    func testEachOperationFollowsTheReferencesTable() async throws {
        // The code for the right tag, for an old one, for none, and for a missing record; nil is success.
        let table: [(String, [String?])] = [
            ("create", ["EXISTS", "EXISTS", "EXISTS", nil]),
            ("update", [nil, "CONFLICT", "CONFLICT", "NOT_FOUND"]),
            ("forceUpdate", [nil, nil, nil, nil]),
            ("replace", [nil, "CONFLICT", "CONFLICT", "NOT_FOUND"]),
            ("forceReplace", [nil, nil, nil, nil]),
            ("delete", [nil, "CONFLICT", "CONFLICT", "NOT_FOUND"]),
            ("forceDelete", [nil, nil, nil, nil]),
        ]
        for (type, codes) in table {
            let fixture = Fixture()
            try await fixture.makeZone()
            for (index, name) in ["right", "old", "none"].enumerated() {
                let made = try await fixture.modify(Fixture.operation("create", name))
                let old = try XCTUnwrap(made.first?.tag)
                let new = try await fixture.modify(Fixture.operation("update", name, tag: old))
                let tag = [new.first?.tag, old, nil][index]
                let items = try await fixture.modify(Fixture.operation(type, name, tag: tag))
                XCTAssertEqual(items.first?.code, codes[index], "\(type) \(name)")
            }
            let missing = try await fixture.modify(Fixture.operation(type, "missing", tag: "a"))
            XCTAssertEqual(missing.first?.code, codes[3], "\(type) of a missing record")
        }
    }

    func testAnUpdateKeepsFieldsAndAReplacementRemovesThem() async throws {
        let fields = #""a":{"value":"x","type":"STRING"},"b":{"value":2,"type":"INT64"}"#
        for (type, expected) in [
            ("update", ["a", "n"]), ("forceUpdate", ["a", "n"]), ("replace", ["n"]), ("forceReplace", ["n"]),
        ] {
            let fixture = Fixture()
            try await fixture.makeZone()
            let made = try await fixture.modify(Fixture.operation("create", "r", fields: fields))
            let change = #""n":{"value":1},"b":{"value":null}"#
            let operation = Fixture.operation(type, "r", tag: made.first?.tag, fields: change)
            let items = try await fixture.modify(operation)
            XCTAssertEqual(items.first?["fields"]?.object?.keys.sorted(), expected, type)
        }
    }

    func testAnswersStandInTheOrderOfTheOperations() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        try await fixture.modify(Fixture.operation("create", "b"))
        let items = try await fixture.modify(
            Fixture.operation("create", "z"),
            Fixture.operation("forceDelete", "b"),
            Fixture.operation("create", "a")
        )
        XCTAssertEqual(items.map { $0["recordName"]?.string }, ["z", "b", "a"])
        XCTAssertEqual(items[1], .object(["recordName": .string("b"), "deleted": .bool(true)]))
    }

    func testAnUpdateNeedsNoRecordTypeAndACreationNoName() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        let made = try await fixture.modify(#"{"operationType":"create","record":{"recordType":"Note"}}"#)
        XCTAssertEqual(made.first?["recordName"]?.string, "made")
        let tag = try XCTUnwrap(made.first?.tag)
        let items = try await fixture.modify(
            #"{"operationType":"update","record":{"recordName":"made","recordChangeTag":"\#(tag)"}}"#,
            #"{"operationType":"update","record":{"recordName":"no","recordChangeTag":"\#(tag)"}}"#
        )
        XCTAssertEqual(items.first?["recordType"]?.string, "Note")
        XCTAssertEqual(items.last?.code, "NOT_FOUND")
    }

    func testAnAtomicRequestNamesTheGuiltyAndTheInnocent() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        try await fixture.modify(Fixture.operation("create", "old"))
        let operations = [Fixture.operation("create", "old"), Fixture.operation("create", "new")]
        let items = try await fixture.modify(operations[0], operations[1], atomically: true)
        XCTAssertEqual(items.map(\.code), ["EXISTS", "ATOMIC_ERROR"])
        XCTAssertTrue(items.allSatisfy { $0["fields"] == nil }, "a conflict carries no record")
        let page = try await fixture.changes()
        XCTAssertEqual(page["records"]?.array?.count, 1)
    }

    func testTheDefaultZoneIsNotAtomic() async throws {
        let fixture = Fixture()
        let operation = Fixture.operation("create", "r")
        for zone in ["", #""zoneID":{"zoneName":"_defaultZone"},"#] {
            let body = #"{\#(zone)"atomic":true,"operations":[\#(operation)]}"#
            let (answer, json) = try await fixture.send("records/modify", body)
            XCTAssertEqual(answer.status, 400)
            XCTAssertEqual(json["reason"]?.string, "atomic operations not supported in default zone")
        }
        let (answer, _) = try await fixture.send("records/modify", #"{"operations":[\#(operation)]}"#)
        XCTAssertEqual(answer.status, 200)
    }

    func testAnEmptyListIsRefusedInAFieldThatTheSchemaDoesNotHave() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        let empty = #""tags":{"value":[]}"#
        let unknown = try await fixture.modify(Fixture.operation("create", "a", fields: empty))
        XCTAssertEqual(unknown.first?.code, "BAD_REQUEST")
        let list = #""tags":{"value":["x"],"type":"STRING_LIST"}"#
        try await fixture.modify(Fixture.operation("create", "a", fields: list))
        let known = try await fixture.modify(Fixture.operation("forceUpdate", "a", fields: empty))
        XCTAssertNil(known.first?.code)
    }

    // MARK: Zones and answers

    func testAMissingZoneRefusesTheRequest() async throws {
        let fixture = Fixture()
        let zone = #""zoneID":{"zoneName":"No"}"#
        for (operation, body) in [
            ("records/modify", #"{\#(zone),"operations":[\#(Fixture.operation("create", "r"))]}"#),
            ("records/lookup", #"{\#(zone),"records":[{"recordName":"r"}]}"#),
        ] {
            let (answer, json) = try await fixture.send(operation, body)
            XCTAssertEqual(answer.status, 404, operation)
            XCTAssertEqual(json.code, "ZONE_NOT_FOUND", operation)
        }
        let (answer, json) = try await fixture.send("changes/zone", #"{"zones":[{\#(zone)}]}"#)
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(json["zones"]?.array?.first?.code, "ZONE_NOT_FOUND")
    }

    func testEachAnswerNamesTheOwnerOfAZone() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        let zone = #"{"zoneName":"Notes"}"#
        for (operation, body) in [
            ("zones/list", "{}"), ("zones/lookup", #"{"zones":[\#(zone)]}"#),
            ("zones/lookup", #"{"zones":[{"zoneID":\#(zone)}]}"#), ("changes/database", "{}"),
            ("changes/zone", #"{"zones":[{"zoneID":\#(zone)}]}"#),
            ("zones/modify", #"{"operations":[{"operationType":"delete","zone":{"zoneID":\#(zone)}}]}"#),
        ] {
            let (_, json) = try await fixture.send(operation, body)
            let zone = json["zones"]?.array?.last?["zoneID"]
            XCTAssertEqual(zone?["ownerRecordName"]?.string, "_alice", operation)
            XCTAssertEqual(zone?["zoneType"]?.string, "REGULAR_CUSTOM_ZONE", operation)
        }
    }

    func testTheCallerAndTheCurrentUserAreTheSame() async throws {
        let fixture = Fixture()
        for scope in [DatabaseScope.private, .public] {
            let current = try await fixture.send("users/current", scope: scope).json
            XCTAssertEqual(current["userRecordName"]?.string, "_alice")
            let caller = try await fixture.send("users/caller", scope: scope).json
            XCTAssertEqual(caller["users"]?.array?.first, current)
        }
    }

    func testWhatTheServerHasNotIsABadRequest() async throws {
        let fixture = Fixture()
        for (operation, scope) in [
            ("records/query", DatabaseScope.private), ("records/resolve", .private),
            ("zones/lookup", .public),
        ] {
            let (answer, json) = try await fixture.send(operation, scope: scope)
            XCTAssertEqual(answer.status, 400, operation)
            XCTAssertTrue(json["reason"]?.string?.contains("this server has no") == true, operation)
        }
    }

    // MARK: Malformed requests

    func testAMalformedRequestIsToldWhichMemberIsWrong() async throws {
        let fixture = Fixture()
        try await fixture.makeZone()
        let record = #""recordName":"r","recordType":"Note""#
        for (operation, body, reason) in [
            ("records/modify", "{}", "operations is missing"),
            ("records/modify", #"{"operations":{}}"#, "operations is not an array"),
            ("records/modify", #"{"operations":[1]}"#, "operations[0] is not an object"),
            ("records/modify", #"{"operations":[{}]}"#, "operations[0].operationType is missing"),
            (
                "records/modify", #"{"operations":[{"operationType":"x"}]}"#,
                "x is no operationType of records"
            ),
            (
                "records/modify", #"{"operations":[{"operationType":"create"}]}"#,
                "operations[0].record is missing"
            ),
            (
                "records/modify", #"{"operations":[{"operationType":"create","record":{}}]}"#,
                "operations[0].record.recordType is missing"
            ),
            (
                "records/modify", #"{"operations":[{"operationType":"forceDelete","record":{}}]}"#,
                "operations[0].record.recordName is missing"
            ),
            (
                "records/modify",
                #"{"operations":[{"operationType":"create","record":{\#(record),"fields":{"n":{"value":"x","type":"INT64"}}}}]}"#,
                #"the field "n" has no value of its type, INT64"#
            ),
            (
                "records/modify",
                #"{"operations":[{"operationType":"create","record":{\#(record),"fields":{"n":1}}}]}"#,
                #"the field "n" has no value of its type, unknown"#
            ),
            (
                "records/modify",
                #"{"operations":[{"operationType":"create","record":{\#(record),"fields":[]}}]}"#,
                "fields is not an object"
            ),
            ("records/modify", #"{"zoneID":"Notes","operations":[]}"#, "zoneID is not an object"),
            ("records/modify", #"{"zoneID":{},"operations":[]}"#, "zoneID.zoneName is missing"),
            ("records/modify", #"{"atomic":"yes","operations":[]}"#, "atomic is not a Boolean"),
            ("records/lookup", #"{"records":[{}]}"#, "records[0].recordName is missing"),
            (
                "records/lookup", #"{"records":[],"desiredKeys":[1]}"#,
                "desiredKeys is not an array of strings"
            ),
            ("changes/zone", "{}", "zones is missing"),
            ("changes/zone", #"{"zones":[{}]}"#, "zones[0].zoneID is missing"),
            ("changes/database", #"{"resultsLimit":0}"#, "resultsLimit is not a positive number"),
            ("changes/database", #"{"syncToken":1}"#, "syncToken is not a string"),
            (
                "zones/modify", #"{"operations":[{"operationType":"create"}]}"#,
                "operations[0].zone is missing"
            ),
            (
                "subscriptions/modify", #"{"operations":[{"operationType":"create","subscription":{}}]}"#,
                "operations[0].subscription.subscriptionID is missing"
            ),
        ] {
            let (answer, json) = try await fixture.send(operation, body)
            XCTAssertEqual(answer.status, 400, body)
            XCTAssertEqual(json.code, "BAD_REQUEST", body)
            XCTAssertEqual(json["reason"]?.string, reason, body)
        }
        for body in ["", "{", "[]", "null", "{} {}"] {
            let (answer, _) = try await fixture.send("zones/lookup", body)
            XCTAssertEqual(answer.status, 400, body)
        }
    }

    func testWhatIsTooLargeIsALimit() async throws {
        var options = RecordServiceOptions()
        options.maximumRequestBytes = 3_000_000
        let fixture = Fixture(options)
        try await fixture.makeZone()
        let names = Array(repeating: #"{"recordName":"r"}"#, count: 201).joined(separator: ",")
        let operations = (0...200).map { Fixture.operation("create", "r\($0)") }.joined(separator: ",")
        let zones = Array(repeating: #"{"zoneID":{"zoneName":"Notes"}}"#, count: 51).joined(separator: ",")
        for (operation, body) in [
            ("records/lookup", #"{"records":[\#(names)]}"#),
            ("records/modify", #"{"operations":[\#(operations)]}"#),
            ("changes/zone", #"{"zones":[\#(zones)]}"#),
            ("records/lookup", String(repeating: " ", count: 3_000_001)),
        ] {
            let (answer, json) = try await fixture.send(operation, body)
            XCTAssertEqual(answer.status, 413, operation)
            XCTAssertEqual(json.code, "LIMIT_EXCEEDED", operation)
        }
        let text = String(repeating: "x", count: 1_000_001)
        let items = try await fixture.modify(
            Fixture.operation("create", "large", fields: #""t":{"value":"\#(text)","type":"STRING"}"#)
        )
        XCTAssertEqual(items.first?.code, "LIMIT_EXCEEDED")
    }

    func testATextThatIsTooDeepOrHasTooManyValuesIsRefusedBeforeATreeIsBuilt() throws {
        for (text, code) in [
            (String(repeating: "[", count: 65), CloudError.Code.invalidArguments),
            (
                "{\"a\":" + String(repeating: "[", count: 64) + "1" + String(repeating: "]", count: 64) + "}",
                .invalidArguments
            ),
            ("{\"a\":[" + String(repeating: "1,", count: 1_000_000) + "1]}", .limitExceeded),
        ] {
            XCTAssertThrowsError(try ServiceBody(Array(text.utf8), limit: 16 << 20)) { error in
                XCTAssertEqual((error as? CloudError)?.code, code)
            }
        }
        let quoted = "{\"a\":\"" + String(repeating: "[{,\\\"", count: 100) + "\"}"
        XCTAssertNoThrow(try ServiceBody(Array(quoted.utf8), limit: 16 << 20))
    }
}
