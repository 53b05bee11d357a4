import Foundation
import XCTest

@testable import CodableSync

/// BK-14, on the real disk and with real processes.
final class LocalProcessTests: XCTestCase {
    private let zone = ZoneID(zoneName: "Note")
    private var temporary: TemporaryDirectory!

    override func setUpWithError() throws {
        temporary = try TemporaryDirectory()
    }

    override func tearDownWithError() throws {
        try temporary.remove()
    }

    private func recordNames() async throws -> Set<String> {
        let database = LocalDatabase(directory: temporary.url)
        var names: Set<String> = []
        var token: ChangeToken?
        while true {
            let page = try await database.recordZoneChanges(
                inZoneWith: zone,
                since: token,
                desiredKeys: [],
                resultsLimit: nil
            )
            names.formUnion(page.modifications.keys.map(\.recordName))
            token = page.changeToken
            if !page.moreComing { return names }
        }
    }

    func testKilledInASaveItIsWhollyThereOrWhollyAbsent() async throws {
        let records = 40
        for round in 0..<25 {
            let child = try ChildProcess("save", temporary.path, "r\(round)", "1000000", "\(records)")
            var answered = 0
            // Killed at a moment that nothing here decides: while it is at the save after these.
            while answered <= round % 5, child.readLine() != nil { answered += 1 }
            child.kill()
            answered += child.readLines().count
            let names = try await recordNames().filter { $0.hasPrefix("r\(round)-") }
            let requests = Dictionary(grouping: names) { $0.split(separator: "-")[1] }
            XCTAssertGreaterThanOrEqual(
                requests.count,
                answered,
                "round \(round): what was answered is there"
            )
            XCTAssertLessThanOrEqual(requests.count, answered + 1, "round \(round)")
            XCTAssertTrue(
                requests.values.allSatisfy { $0.count == records },
                "round \(round): \(requests.mapValues(\.count))"
            )
        }
    }

    func testTwoProcessesAndThisOneDoNotCorruptIt() async throws {
        let children = try (0..<2).map { try ChildProcess("save", temporary.path, "p\($0)", "60", "3") }
        let database = LocalDatabase(directory: temporary.url)
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
        for index in 0..<60 {
            let record = Record(
                recordID: RecordID(recordName: "here-\(index)", zoneID: zone),
                recordType: "Note",
                fields: [:]
            )
            let result = try await database.modifyRecords(
                saving: [record],
                deleting: [],
                savePolicy: .ifServerRecordUnchanged,
                atomically: true
            )
            _ = try XCTUnwrap(result.saveResults[record.recordID]).get()
            if index % 20 == 0 { try await database.ledger.compact() }
        }
        for child in children {
            XCTAssertEqual(child.readLines().count, 60)
            try child.finish()
            XCTAssertEqual(child.exitStatus, 0)
        }
        let names = try await recordNames()
        XCTAssertEqual(names.count, 60 + 2 * 60 * 3)
    }
}
