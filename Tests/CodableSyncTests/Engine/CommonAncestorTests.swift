import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The ancestor of a merge when the answer to this device's own save was lost.
final class CommonAncestorTests: XCTestCase {
    private func record(_ fields: [String: RecordValue]) -> Record {
        Record(recordType: "Item", recordID: RecordID(recordName: "a"), fields: fields)
    }

    private func ancestor(
        _ ancestor: [String: RecordValue]?,
        client: [String: RecordValue],
        server: [String: RecordValue],
        sent: [String: RecordValue],
        base: [String: RecordValue]?,
        defaults: [String: RecordValue] = [:],
        isClientLater: Bool = false
    ) -> [String: RecordValue]? {
        let lost = LostWrite(handle: ContentHandle(1), record: record(sent), base: base.map(record))
        return CommonAncestor.reconstruct(
            from: ancestor.map(record),
            server: record(server),
            lost: [lost]
        ) {
            UnknownAncestor(
                client: record(client),
                server: record(server),
                shownClient: defaults.merging(client) { $1 },
                shownServer: defaults.merging(server) { $1 },
                defaults: defaults,
                isClientLater: isClientLater
            )
        }?.fields
    }

    func testAFieldThatTheServerHasFromThisDeviceIsItsOwnAncestor() {
        let found = ancestor(
            ["x": 1, "y": 1],
            client: ["x": 3, "y": 1],
            server: ["x": 2, "y": 9],
            sent: ["x": 2, "y": 1],
            base: ["x": 1, "y": 1]
        )
        XCTAssertEqual(found, ["x": 2, "y": 1])
    }

    func testAFieldSentUnchangedIsNotThisDevicesEdit() {
        let found = ancestor(
            nil,
            client: ["x": 3],
            server: ["x": 2],
            sent: ["x": 2],
            base: ["x": 2]
        )
        XCTAssertNil(found)
    }

    func testWithoutAnAncestorOtherFieldsAreMergedWithoutOne() {
        let client: [String: RecordValue] = ["own": 3, "both": 5, "mine": 7, "theirs": .null]
        let server: [String: RecordValue] = ["own": 2, "both": 6, "theirs": 8]
        let sent: [String: RecordValue] = ["own": 2, "both": 4]
        let base: [String: RecordValue] = ["own": 1, "both": 4]
        let early = ancestor(nil, client: client, server: server, sent: sent, base: base)
        XCTAssertEqual(early, ["own": 2, "both": 5, "mine": .null, "theirs": .null])
        let late = ancestor(nil, client: client, server: server, sent: sent, base: base, isClientLater: true)
        XCTAssertEqual(late, ["own": 2, "both": 6, "mine": .null, "theirs": .null])
    }

    /// Whichever side has the default, stored or because its record lacks the field, and whichever is later.
    func testWithoutAnAncestorADefaultYieldsToTheOtherSide() {
        let sides: [(mine: RecordValue, theirs: RecordValue?, ancestor: RecordValue)] = [
            (3, 5, 3), (5, 3, 3), (5, nil, .null),
        ]
        for (mine, theirs, expected) in sides {
            for isClientLater in [true, false] {
                var server: [String: RecordValue] = ["own": 2]
                server["stars"] = theirs
                let found = ancestor(
                    nil,
                    client: ["own": 4, "stars": mine],
                    server: server,
                    sent: ["own": 2],
                    base: ["own": 1],
                    defaults: ["stars": 3],
                    isClientLater: isClientLater
                )
                XCTAssertEqual(found, ["own": 2, "stars": expected], "\(mine) \(isClientLater)")
            }
        }
    }

    func testAMergeAfterALostAnswerWithoutAnAncestorPrefersTheOtherSidesValueToADefault() throws {
        let coding = ModelCoding<PlaceDefaulted>(zoneID: .default, writesEditDates: false)
        func record(_ title: String, stars: Int) throws -> Record {
            try coding.encode(PlaceDefaulted(id: "a", title: title, stars: stars), edited: nil)
        }
        // The later edit has the default.
        let contents = ConflictContents(
            item: ReconcileItem(
                name: "a",
                client: 4,
                clientEdited: Date(timeIntervalSince1970: 1_000_000),
                server: 3,
                ancestor: nil,
                sent: []
            ),
            client: try record("last", stars: 3),
            server: try coding.encode(
                PlaceDefaulted(id: "a", title: "lost", stars: 5, note: "theirs"),
                edited: nil
            ),
            ancestor: nil,
            lost: [
                LostWrite(
                    handle: ContentHandle(2),
                    record: try record("lost", stars: 5),
                    base: try record("first", stars: 5)
                )
            ]
        )
        guard case .merged(let merged, _) = Reconciler(coding: coding).reconcile(contents).0 else {
            return XCTFail("It should be merged.")
        }
        XCTAssertEqual(merged.fields["title"], "last")
        XCTAssertEqual(merged.fields["stars"], 5)
        XCTAssertEqual(merged.fields["note"], "theirs")
    }

    /// The stored value may have a part that the model does not know.
    func testADefaultIsRecognizedAsTheModelShowsIt() {
        let stored = record(["place": .bytes(Data(#"{"city":"","newer":1}"#.utf8))])
        let standIn = RecordValue.bytes(Data(#"{"city":""}"#.utf8))
        let other = record(["place": .bytes(Data(#"{"city":"Oslo"}"#.utf8))])
        for (client, server) in [(stored, other), (other, stored)] {
            let sides = UnknownAncestor(
                client: client,
                server: server,
                shownClient: client == stored ? ["place": standIn] : other.fields,
                shownServer: server == stored ? ["place": standIn] : other.fields,
                defaults: ["place": standIn],
                isClientLater: client == stored
            )
            XCTAssertEqual(sides.undecided.fields, stored.fields)
        }
    }

    func testASentCreationIsNoAncestor() {
        XCTAssertNil(ancestor(nil, client: ["x": 3], server: ["x": 2], sent: ["x": 2], base: nil))
    }

    func testTheAncestorStaysTheSameIfTheServerHasNoOwnField() {
        let found = ancestor(["x": 1], client: ["x": 3], server: ["x": 4], sent: ["x": 2], base: ["x": 1])
        XCTAssertEqual(found, ["x": 1])
    }
}
