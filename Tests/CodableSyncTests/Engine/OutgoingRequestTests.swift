import RecordCoding
import XCTest

@testable import CodableSync

/// Which fields a request has, which it names as encrypted, and what the engine keeps from its response.
final class OutgoingRequestTests: XCTestCase {
    private let zoneID = ZoneID(zoneName: "Item")

    private func record(_ fields: [String: RecordValue], _ names: Set<String> = [], tag: String? = nil)
        -> Record
    {
        var record = Record(
            recordType: "Item",
            recordID: RecordID(recordName: "a", zoneID: zoneID),
            fields: fields,
            systemFields: tag.map { SystemFields(recordChangeTag: $0) }
        )
        record.encryptedFields = names
        return record
    }

    /// A request by a model that names one encrypted field.
    private func request(_ edit: Record, over server: Record? = nil) -> OutgoingRequest {
        let known = server.map { _ in KnownVersion(changeTag: "1", handle: 1, hash: 0, modified: nil) }
        var request = OutgoingRequest(
            items: [SendItem(name: "a", handle: 2, known: known)],
            zoneID: zoneID,
            recordType: "Item",
            schemaVersion: 1,
            encryptedFields: ["note"]
        )
        var contents = StoredContents()
        contents.records = [2: edit]
        contents.records[1] = server
        request.make(from: contents)
        return request
    }

    func testANewRecordHasNoEmptyListsAndNoNulls() {
        let request = request(record(["title": "t", "tags": [], "note": .null]))
        XCTAssertEqual(request.saves.map(\.fields), [["title": "t"]])
    }

    func testAListThatBecomesEmptyIsCleared() {
        let server = record(["title": "t", "tags": ["x"]], tag: "1")
        let request = request(record(["title": "t", "tags": []]), over: server)
        XCTAssertEqual(request.saves.map(\.fields), [["tags": .null]])
        let stored = request.stored(record([:], tag: "2"), of: request.items[0])
        XCTAssertEqual(stored.fields, ["title": "t"])
    }

    func testAnEmptyListThatTheServerDoesNotHaveIsNoEdit() {
        for there in [[:], ["tags": []], ["tags": .null]] as [[String: RecordValue]] {
            for here in [[:], ["tags": []], ["tags": .null]] as [[String: RecordValue]] {
                let server = record(there.merging(["title": "t"]) { $1 }, tag: "1")
                let request = request(record(here.merging(["title": "t"]) { $1 }), over: server)
                XCTAssertEqual(request.unchanged, ["a"], "\(here) over \(there)")
                XCTAssertEqual(request.saves.count, 0)
            }
        }
    }

    func testAVersionOfALostZoneIsSentWithItsNames() {
        let request = request(record(["note": "n", "newer": "s", "title": "t"], ["newer"], tag: "1"))
        XCTAssertEqual(request.saves.map(\.encryptedFields), [["note", "newer"]])
        XCTAssertEqual(request.saves.map(\.fields), [["note": "n", "newer": "s", "title": "t"]])
    }

    func testAnEditIsSentWithTheNamesOfTheVersionBelow() {
        let server = record(["newer": "s", "title": "t"], ["newer"], tag: "1")
        let request = request(record(["title": "u", "newer": "changed"]), over: server)
        XCTAssertEqual(request.saves.map(\.encryptedFields), [["note", "newer"]])
        XCTAssertEqual(request.saves.map(\.fields), [["title": "u", "newer": "changed"]])
    }

    func testNamesAreNotContents() {
        let server = record(["newer": "s", "title": "t"], ["newer"], tag: "1")
        let request = request(record(["newer": "s", "title": "t"], ["title"]), over: server)
        XCTAssertEqual(request.unchanged, ["a"], "names alone are no edit")
        XCTAssertEqual(record(["x": 1], ["x"]).contentHash, record(["x": 1]).contentHash)
    }

    func testTheSavedVersionKeepsTheNamesOfFieldsThatTheResponseLacks() {
        let server = record(["newer": "s", "gone": "g", "title": "t"], ["newer", "gone"], tag: "1")
        let request = request(record(["title": "u", "note": "n", "gone": .null]), over: server)
        let item = request.items[0]
        for response in [
            record(["title": "u"], tag: "2"), record(["title": "u", "note": "n"], ["note"], tag: "2"),
        ] {
            let stored = request.stored(response, of: item)
            XCTAssertEqual(stored.encryptedFields, ["newer", "note"], "a field that is gone has no name")
            XCTAssertEqual(stored.fields, ["newer": "s", "title": "u", "note": "n"])
            XCTAssertEqual(stored.recordChangeTag, "2")
        }
        let added = request.stored(record(["title": "u", "theirs": "x"], ["theirs"], tag: "2"), of: item)
        XCTAssertEqual(added.encryptedFields, ["newer", "note", "theirs"])
    }
}
