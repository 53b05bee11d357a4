@_spi(Server) import CodableSync
import Foundation
import RecordCoding
import XCTest

/// The printed form of requests, responses and databases: words for people, and no fields of records.
final class DatabaseTextTests: XCTestCase {
    private let zone = ZoneID(zoneName: "Note")
    private let failure = CloudError(.unknownItem, message: "It is gone.")
    private var id: RecordID { RecordID(recordName: "A1", zoneID: zone) }
    private var record: Record { Record(recordType: "Note", recordID: id, fields: ["title": "secret"]) }

    private func check(_ texts: [(Any, String)], line: UInt = #line) {
        for (value, text) in texts { XCTAssertEqual("\(value)", text, line: line) }
    }

    func testTokensAreToldApartWithoutTheirBytes() {
        let (one, other) = ("\(ChangeToken(Data("one".utf8)))", "\(ChangeToken(Data("other".utf8)))")
        XCTAssertNotEqual(one, other)
        for text in [one, other] {
            XCTAssertNotNil(try? /change token [0-9a-f]{1,8}/.wholeMatch(in: text), text)
        }
    }

    func testLimitsAreInWords() {
        let limits =
            "requests of 400 records and 2000000 bytes, records of 1000000 bytes, pages of 200 records"
        check([
            (DatabaseLimits.cloudKit, limits),
            (
                LedgerLimits(maximumZones: 1),
                limits + ", at most 1 zone, 750 deleteSelf references to a record, contents checked"
            ),
        ])
    }

    func testOptionsSayWhatDiffersFromTheDefaults() {
        check([(LedgerOptions(), "default options")])
        let changes: [((inout LedgerOptions) -> Void, String)] = [
            ({ $0.createOfExisting = .serverRejectedRequest }, "createOfExisting: serverRejectedRequest"),
            ({ $0.conflictsCarryServerRecord = false }, "conflictsCarryServerRecord: false"),
            ({ $0.saveOfDeleted = .serverRecordChanged }, "saveOfDeleted: serverRecordChanged"),
            ({ $0.deletionOfMissing = .unknownItem }, "deletionOfMissing: unknownItem"),
            ({ $0.savedFields = .sent }, "savedFields: sent"),
            ({ $0.dropsEmptyLists = true }, "dropsEmptyLists: true"),
            ({ $0.refusesEmptyListsOfNewFields = false }, "refusesEmptyListsOfNewFields: false"),
            ({ $0.bumpsParentTag = false }, "bumpsParentTag: false"),
            ({ $0.keepsParents = false }, "keepsParents: false"),
            ({ $0.listsOldDeletions = true }, "listsOldDeletions: true"),
            ({ $0.resetZonesMustBeDeleted = false }, "resetZonesMustBeDeleted: false"),
            ({ $0.enforcesSchema = true }, "enforcesSchema: true"),
        ]
        for (change, text) in changes {
            var options = LedgerOptions()
            change(&options)
            check([(options, text)])
        }
    }

    func testZonesAndSubscriptionsHaveTheirNames() {
        check([
            (RecordZone(zoneID: zone), #"zone "Note""#),
            (CloudSubscription.engine(for: zone), #"subscription "codablesync-Note" to zone "Note""#),
            (
                CloudSubscription(subscriptionID: "all", kind: .database),
                #"subscription "all" to the database"#
            ),
            (ZoneChanges.Deletion(recordID: id, recordType: "Note"), #"Note "A1" deleted"#),
            (DatabaseChanges.Deletion(zoneID: zone, reason: .deleted), #""Note" deleted"#),
            (DatabaseChanges.Deletion.Reason.encryptedDataReset, "lost in a reset of encrypted data"),
        ])
    }

    func testResultsAreCounted() {
        let other = RecordID(recordName: "B2", zoneID: zone)
        check([
            (ModifyRecordsResult(), "no results"),
            (
                ModifyRecordsResult(
                    saveResults: [id: .success(record), other: .failure(failure)],
                    deleteResults: [id: nil, other: failure]
                ), "1 saved, 1 not saved, 1 deleted, 1 not deleted"
            ),
            (ModifyZonesResult(saveResults: [zone: .success(RecordZone(zoneID: zone))]), "1 saved"),
            (ModifySubscriptionsResult(deleteResults: ["all": nil]), "1 deleted"),
        ])
    }

    func testRequestsSayWhatIsRequested() {
        let save = LedgerRequest.Operation.modifyRecords(
            saving: [record, record],
            deleting: [id],
            savePolicy: .allKeys,
            atomically: true
        )
        let token = ChangeToken(Data([1]))
        check([
            (LedgerRequest(user: "alice", operation: save), #""alice": save 2 records, delete 1 record"#),
            (
                LedgerRequest(user: "bob", scope: .public, operation: .allZones),
                #""bob" (public): list the zones"#
            ),
            (LedgerRequest.Operation.records([id], desiredKeys: nil), "look up 1 record"),
            (LedgerRequest.Operation.modifyRecordZones(saving: [], deleting: []), "change no zones"),
            (LedgerRequest.Operation.recordZones([zone]), "look up 1 zone"),
            (
                LedgerRequest.Operation.databaseChanges(since: token, resultsLimit: nil),
                "fetch changes of the database since \(token)"
            ),
            (
                LedgerRequest.Operation.recordZoneChanges(
                    zone,
                    since: nil,
                    desiredKeys: nil,
                    resultsLimit: nil
                ), #"fetch changes of "Note""#
            ),
            (
                LedgerRequest.Operation.modifySubscriptions(saving: [], deleting: ["a"]),
                "delete 1 subscription"
            ), (LedgerRequest.Operation.allSubscriptions, "list the subscriptions"),
            (
                LedgerRequest.Operation.removeZone(zone, reason: .purged),
                #"remove "Note": purged by the user"#
            ), (LedgerRequest.Operation.expireTokens(nil), "expire the change tokens of the database"),
            (LedgerRequest.Operation.setQuota(bytes: 5), "set the quota to 5 bytes"),
            (LedgerRequest.Operation.setQuota(bytes: nil), "remove the quota"),
        ])
    }

    func testResponsesAreCounted() {
        let page = ZoneChanges(
            modifications: [id: .success(record)],
            deletions: [],
            changeToken: ChangeToken(Data()),
            moreComing: false
        )
        let result = ModifyRecordsResult(saveResults: [id: .success(record)])
        check([
            (LedgerResponse.modifyRecords(result), "records: 1 saved"),
            (LedgerResponse.records([id: .failure(failure)]), "0 of 1 record found"),
            (LedgerResponse.recordZones([zone: .success(RecordZone(zoneID: zone))]), "1 of 1 zone found"),
            (LedgerResponse.allZones([RecordZone(zoneID: zone)]), "1 zone"),
            (LedgerResponse.recordZoneChanges(page), "1 changed, 0 deleted"),
            (LedgerResponse.allSubscriptions([]), "0 subscriptions"), (LedgerResponse.done, "done"),
            (LedgerResponse.failure(failure), "failed: unknownItem: It is gone."),
        ])
    }

    func testEntriesSayWhatChanged() {
        let changes: [(LedgerEntry.Change, String)] = [
            (.recordSaved(record), #"Note "A1" saved"#),
            (
                .recordDeleted(recordName: "A1", zone: zone, recordType: "Note"),
                #"Note "A1" deleted"#
            ), (.zoneCreated(zone), #"zone "Note" created"#),
            (
                .zoneRemoved(zone, reason: .purged, canBeRecreated: true),
                #"zone "Note" purged by the user"#
            ), (.subscriptionDeleted("all"), #"subscription "all" deleted"#),
            (.tokensExpired(zone: zone), #"change tokens of "Note" expired"#),
            (.quotaChanged(bytes: nil), "quota removed"),
            (.fieldTypesFixed(recordType: "Note", [:]), "Note has 0 new fields"),
            (.epochBegan(9, sequence: 6), "epoch began at change 6"),
            (.countersAdvanced(sequence: 7, modificationDate: nil), "counters advanced to change 7"),
        ]
        for (change, text) in changes {
            check([(LedgerEntry(user: "alice", change: change), #""alice": "# + text)])
        }
        check([(LedgerEntry(user: "", change: .quotaChanged(bytes: 1)), "all users: quota set to 1 byte")])
    }

    func testDatabasesAndTheirRequestsHaveNoContents() async throws {
        let cloud = FakeCloud(identifier: "test", options: LedgerOptions())
        let database = cloud.database(user: "alice")
        try cloud.createZone(zone, user: "alice")
        _ = try await database.modifyRecords(
            saving: [record],
            deleting: [RecordID(recordName: "B2", zoneID: zone)],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        check([
            (cloud, #"fake cloud "test""#), (cloud.ledger, #"ledger "test" of 1 user"#),
            (database, #"fake database of "alice" on fake cloud "test""#),
            (database.requests, #"[modifyRecords by "alice": save "A1", delete "B2"]"#),
            (FakeHold(), "hold of 0 requests"),
            (
                LocalDatabase(
                    directory: URL(filePath: "/tmp/notes", directoryHint: .notDirectory),
                    user: "bob"
                ),
                #"local database of "bob" in /tmp/notes"#
            ), (LedgerDirectory(path: "/tmp/notes"), "ledger in /tmp/notes"),
        ])
        _ = try await database.recordZones(for: [zone])
        XCTAssertEqual(database.requests.last?.description, #"recordZones by "alice": for "Note""#)
    }
}
