@_spi(Server) import CodableSync
import Foundation
import XCTest

/// A ledger with the entries that created it, used without a database.
///
/// Each request is also answered from rows, and the two must agree.
struct LedgerFixture {
    static let zoneID = ZoneID(zoneName: "Notes")
    var ledger: CloudLedger
    /// The same ledger as rows.
    private(set) var rows = ByteLedger()
    /// Whether requests are answered from rows too; each time that reads and writes all epochs, of which a few tests have
    /// thousands.
    var comparesRows = true
    var entries: [LedgerEntry] = []
    var date = Date(timeIntervalSince1970: 1_700_000_000)
    /// The epoch in which the ledger makes changes.
    var epoch: UInt64?

    init(limits: LedgerLimits = .cloudKit, options: LedgerOptions = LedgerOptions()) {
        ledger = CloudLedger(identifier: "test", limits: limits, options: options)
        perform(.modifyRecordZones(saving: [RecordZone(zoneID: Self.zoneID)], deleting: []))
    }

    /// Goes on with another ledger.
    mutating func replaceLedger(with ledger: CloudLedger) throws {
        self.ledger = ledger
        rows = try ByteLedger(ledger)
    }

    static func id(_ name: String) -> RecordID { RecordID(recordName: name, zoneID: zoneID) }

    static func record(
        _ name: String,
        _ fields: [String: RecordValue] = [:],
        tag: String? = nil,
        parent: String? = nil
    ) -> Record {
        Record(
            recordType: "Note",
            recordID: id(name),
            fields: fields,
            systemFields: tag.map { SystemFields(recordChangeTag: $0) },
            parent: parent.map { RecordReference(recordName: $0) }
        )
    }

    static func holder(_ name: String, of targets: String...) -> Record {
        let references = targets.map {
            RecordValue.reference(RecordReference(recordName: $0, action: .deleteSelf))
        }
        return record(name, ["owners": .list(references)])
    }

    @discardableResult
    mutating func perform(_ operation: LedgerRequest.Operation, user: String = "alice") -> LedgerResponse {
        let request = LedgerRequest(user: user, operation: operation)
        let (response, entries) = ledger.handle(request, at: date, epoch: epoch)
        for entry in entries { ledger.apply(entry) }
        self.entries += entries
        guard comparesRows else { return response }
        do {
            let commit = try rows.perform(request, at: date, epoch: epoch, by: ledger)
            XCTAssertEqual(commit.response, response, "\(operation)")
            XCTAssertEqual(commit.entries, entries, "\(operation)")
        } catch {
            XCTFail("\(error)")
        }
        return response
    }

    @discardableResult
    mutating func modify(
        saving: [Record] = [],
        deleting: [String] = [],
        policy: SavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = false,
        refusing: [RecordID: CloudError] = [:]
    ) -> ModifyRecordsResult {
        let response = perform(
            .modifyRecords(
                saving: saving,
                deleting: deleting.map(Self.id),
                savePolicy: policy,
                atomically: atomically,
                refusing: refusing
            )
        )
        guard case .modifyRecords(let result) = response else { return ModifyRecordsResult() }
        return result
    }

    /// Saves one record; `nil` if it was rejected.
    @discardableResult
    mutating func save(_ record: Record, policy: SavePolicy = .ifServerRecordUnchanged) -> Record? {
        guard
            case .success(let saved)? = modify(saving: [record], policy: policy).saveResults[record.recordID]
        else { return nil }
        return saved
    }

    mutating func error(saving record: Record, policy: SavePolicy = .ifServerRecordUnchanged) -> CloudError? {
        modify(saving: [record], policy: policy).saveResults[record.recordID]?.error
    }

    var names: Set<String> { Set(ledger.records(in: Self.zoneID, of: "alice").keys) }

    mutating func changes(since token: ChangeToken?, limit: Int? = nil) throws -> ZoneChanges {
        let response = perform(
            .recordZoneChanges(Self.zoneID, since: token, desiredKeys: nil, resultsLimit: limit)
        )
        switch response {
        case .recordZoneChanges(let changes): return changes
        case .failure(let error): throw error
        default: throw CloudError(.internalError)
        }
    }

    mutating func databaseChanges(since token: ChangeToken?) throws -> DatabaseChanges {
        switch perform(.databaseChanges(since: token, resultsLimit: nil)) {
        case .databaseChanges(let changes): return changes
        case .failure(let error): throw error
        default: throw CloudError(.internalError)
        }
    }
}
