import Foundation
import RecordCoding
import XCTest

@_spi(Server) @testable import CodableSync

/// A ledger keeps users, scopes and owners of zones apart.
final class LedgerKeyTests: XCTestCase {
    private let zone = ZoneID(zoneName: "Z")
    private let date = Date(timeIntervalSince1970: 1_700_000_000)

    private func record(_ zoneID: ZoneID, _ text: String) -> Record {
        Record(
            recordType: "Note",
            recordID: RecordID(recordName: "a", zoneID: zoneID),
            fields: ["text": .string(text)],
            systemFields: SystemFields(recordChangeTag: "1", modificationDate: date)
        )
    }

    /// A database of each user and scope, with a zone of the same name for each owner.
    private var entries: [LedgerEntry] {
        let places: [(String, DatabaseScope, String)] = [
            ("alice", .private, ZoneID.currentUserOwnerName), ("bob", .private, ZoneID.currentUserOwnerName),
            ("alice", .shared, "bob"), ("alice", .shared, "carol"), ("bob", .shared, "alice"),
        ]
        // Each database counts for itself, so that only the key tells their changes apart.
        var sequences: [LedgerDatabaseKey: Int64] = [:]
        return places.flatMap { user, scope, owner in
            let zoneID = ZoneID(zoneName: "Z", ownerName: owner)
            sequences[LedgerDatabaseKey(user, scope), default: 0] += 2
            let last = sequences[LedgerDatabaseKey(user, scope)] ?? 0
            return [
                LedgerEntry(user: user, scope: scope, change: .zoneCreated(zoneID), sequence: last - 1),
                LedgerEntry(
                    user: user,
                    scope: scope,
                    change: .recordSaved(record(zoneID, "\(user) \(scope) \(owner)")),
                    sequence: last
                ),
            ]
        }
    }

    private func ledger(_ entries: some Sequence<LedgerEntry>) -> CloudLedger {
        var ledger = CloudLedger(identifier: "test")
        for entry in entries { ledger.apply(entry) }
        return ledger
    }

    private func text(_ ledger: CloudLedger, _ user: String, _ scope: DatabaseScope, _ owner: String)
        -> String?
    {
        let zoneID = ZoneID(zoneName: "Z", ownerName: owner)
        let value = ledger.record(RecordID(recordName: "a", zoneID: zoneID), of: user, scope: scope)?.fields[
            "text"
        ]
        if case .string(let text)? = value { return text }
        return nil
    }

    private func assertApart(_ ledger: CloudLedger, _ row: String) {
        let own = ZoneID.currentUserOwnerName
        XCTAssertEqual(text(ledger, "alice", .private, own), "alice private \(own)", row)
        XCTAssertEqual(text(ledger, "alice", .private, "alice"), "alice private \(own)", row)
        XCTAssertEqual(text(ledger, "bob", .private, own), "bob private \(own)", row)
        XCTAssertEqual(text(ledger, "alice", .shared, "bob"), "alice shared bob", row)
        XCTAssertEqual(text(ledger, "alice", .shared, "carol"), "alice shared carol", row)
        XCTAssertEqual(text(ledger, "bob", .shared, "alice"), "bob shared alice", row)
        XCTAssertNil(text(ledger, "bob", .shared, "carol"), row)
        XCTAssertNil(text(ledger, "alice", .private, "bob"), row)
        XCTAssertEqual(ledger.users, ["alice", "bob"], row)
    }

    func testUsersScopesAndOwnersAreKeptApart() {
        assertApart(ledger(entries), "applied")
    }

    func testASnapshotKeepsThemApart() {
        assertApart(ledger(Array(ledger(entries).snapshotEntries())), "snapshot")
    }

    func testTheirJSONKeepsThemApart() throws {
        let read = try entries.map { try LedgerEntry(json: $0.encode()) }
        XCTAssertEqual(read, entries)
        assertApart(ledger(read), "JSON")
        let first = String(decoding: entries[0].encode(), as: UTF8.self)
        XCTAssertEqual(first, #"{"user":"alice","zoneCreated":"Z","sequence":1}"#, "the usual case is short")
        let shared = String(decoding: entries[4].encode(), as: UTF8.self)
        XCTAssertEqual(
            shared,
            #"{"user":"alice","scope":"shared","zoneCreated":"Z","owner":"bob","sequence":1}"#
        )
    }

    func testEachKindOfEntryKeepsItsOwner() throws {
        let zoneID = ZoneID(zoneName: "Z", ownerName: "bob")
        let changes: [LedgerEntry.Change] = [
            .recordDeleted(recordName: "a", zone: zoneID, recordType: "Note"),
            .zoneCreated(zoneID),
            .zoneRemoved(zoneID, reason: .purged, canBeRecreated: true),
            .tokensExpired(zone: zoneID), .tokensExpired(zone: nil),
            .subscriptionSaved(CloudSubscription(subscriptionID: "s", kind: .zone(zoneID))),
        ]
        for (index, change) in changes.enumerated() {
            let sequence = index < 5 ? Int64(index + 1) : nil
            let entry = LedgerEntry(user: "alice", scope: .shared, change: change, sequence: sequence)
            XCTAssertEqual(try LedgerEntry(json: entry.encode()), entry)
            XCTAssertEqual(
                entry.changedZone,
                change == changes[3] || change == changes[4] || change == changes[5] ? nil : zoneID
            )
        }
    }

    func testAChangeTokenIsOfOneUserScopeAndOwner() throws {
        let ledger = ledger(entries)
        func token(_ user: String, _ scope: DatabaseScope, _ owner: String) throws -> ChangeToken {
            let operation = LedgerRequest.Operation.recordZoneChanges(
                ZoneID(zoneName: "Z", ownerName: owner),
                since: nil,
                desiredKeys: nil,
                resultsLimit: nil
            )
            let request = LedgerRequest(user: user, scope: scope, operation: operation)
            guard case .recordZoneChanges(let changes) = ledger.handle(request, at: date).response else {
                throw CloudError(.internalError)
            }
            XCTAssertEqual(changes.modifications.count, 1)
            return changes.changeToken
        }
        func isUsable(_ token: ChangeToken, _ user: String, _ scope: DatabaseScope, _ owner: String) -> Bool {
            let operation = LedgerRequest.Operation.recordZoneChanges(
                ZoneID(zoneName: "Z", ownerName: owner),
                since: token,
                desiredKeys: nil,
                resultsLimit: nil
            )
            let request = LedgerRequest(user: user, scope: scope, operation: operation)
            if case .recordZoneChanges = ledger.handle(request, at: date).response { return true }
            return false
        }
        let ofBob = try token("alice", .shared, "bob")
        XCTAssertTrue(isUsable(ofBob, "alice", .shared, "bob"))
        XCTAssertFalse(isUsable(ofBob, "alice", .shared, "carol"))
        XCTAssertFalse(isUsable(ofBob, "alice", .private, "alice"))
        XCTAssertFalse(isUsable(ofBob, "bob", .shared, "alice"))
        XCTAssertFalse(isUsable(try token("bob", .private, "bob"), "bob", .shared, "alice"))
    }

    /// Nobody has shared anything: the database of shared records has no zone that can be used or made.
    func testTheDatabaseOfSharedRecordsBeginsEmpty() {
        let ledger = CloudLedger(identifier: "test")
        let save = LedgerRequest(
            user: "alice",
            scope: .shared,
            operation: .modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
        )
        guard case .modifyRecordZones(let result) = ledger.handle(save, at: date).response else {
            return XCTFail("\(save)")
        }
        XCTAssertEqual(result.saveResults[zone]?.error?.code, .permissionFailure)
        let list = LedgerRequest(user: "alice", scope: .shared, operation: .allZones)
        XCTAssertEqual(ledger.handle(list, at: date).response, .allZones([]))
    }

    /// A client may spell its own zone with its user name.
    func testTheUsersOwnNameIsTheCurrentUser() {
        var ledger = CloudLedger(identifier: "test")
        let spelled = ZoneID(zoneName: "Z", ownerName: "alice")
        let operations: [LedgerRequest.Operation] = [
            .modifyRecordZones(saving: [RecordZone(zoneID: spelled)], deleting: []),
            .modifyRecords(
                saving: [
                    Record(
                        recordType: "Note",
                        recordID: RecordID(recordName: "a", zoneID: spelled),
                        fields: [:]
                    )
                ],
                deleting: [],
                savePolicy: .ifServerRecordUnchanged,
                atomically: false
            ),
        ]
        for operation in operations {
            let request = LedgerRequest(user: "alice", operation: operation)
            for entry in ledger.handle(request, at: date).entries {
                XCTAssertTrue(ledger.canFollow(entry, isInSnapshot: false), "\(entry)")
                ledger.apply(entry)
            }
        }
        XCTAssertNotNil(ledger.record(RecordID(recordName: "a", zoneID: zone), of: "alice"))
    }
}
