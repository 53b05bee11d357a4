import Foundation
import XCTest

@testable import CodableSync

/// While no time passes, an engine sends only a few requests and then waits, whatever fails.
final class StandstillTests: XCTestCase {
    /// The number of requests until the engine pauses, if the zone is missing again and again.
    private let mostRequests = 28

    /// An engine that syncs by itself gets the same error for every request of one kind: a third of the codes
    /// for each kind, or every code in an exhaustive run.
    func testNoRequestErrorCausesATightRetryLoop() async throws {
        let codes = CloudError.Code.known + [.unknown("tomorrow")]
        for (row, operation) in ScriptedDatabase.Operation.allCases.enumerated() {
            for place in Cases.places(every: 3, row: row, below: codes.count) {
                let code = codes[place]
                let count = try await requests(failing: operation, with: CloudError(code))
                XCTAssertLessThanOrEqual(count, mostRequests, "\(operation) always fails with \(code)")
            }
        }
    }

    /// The same for an error of a single item.
    func testNoItemErrorCausesATightRetryLoop() async throws {
        for code in CloudError.Code.known + [.unknown("tomorrow")] {
            let count = try await requests { $0.failItemAlways("a", CloudError(code)) }
            XCTAssertLessThanOrEqual(count, mostRequests, "the item always fails with \(code)")
        }
    }

    /// A page whose records cannot be read, and a save response that names no items.
    func testNoUnusableResponseCausesATightRetryLoop() async throws {
        let unreadable = try await requests { database in
            database.changeFetchAnswers { changes in
                var changes = changes
                for id in changes.modifications.keys {
                    changes.modifications[id] = .failure(CloudError(.internalError))
                }
                return changes
            }
        }
        XCTAssertLessThanOrEqual(unreadable, mostRequests, "records of a page that cannot be read")
        let silent = try await requests { database in
            database.changeModifyAnswers { _ in ModifyRecordsResult() }
        }
        XCTAssertLessThanOrEqual(silent, mostRequests, "answers that mention no item")
    }

    /// The disk rejects every write after the first upload.
    func testAFullDiskCausesNoTightRetryLoop() async throws {
        let files = SimulatedFileSystem()
        let cloud = FakeCloud()
        let device = Device<Note>(cloud.database(user: "alice"), files: files) {
            $0.automaticallySyncs = true
            $0.fileSystem = files
        }
        try await device.engine.upload(Note("a", "Tea"))
        files.leaveRoom(for: 0)
        let count = try await settled(device)
        XCTAssertLessThanOrEqual(count, mostRequests)
        XCTAssertLessThanOrEqual(device.events.all.count, 100)
        try await device.engine.close()
    }

    // MARK: Parts

    private func requests(
        failing operation: ScriptedDatabase.Operation,
        with error: CloudError
    ) async throws -> Int {
        try await requests { $0.failAlways(operation, error) }
    }

    /// The number of requests made by an engine with something to fetch and something to send.
    private func requests(_ script: (ScriptedDatabase) -> Void) async throws -> Int {
        let cloud = FakeCloud()
        let zoneID = ZoneID(zoneName: "Item")
        try cloud.createZone(zoneID)
        let id = RecordID(recordName: "theirs", zoneID: zoneID)
        _ = try cloud.put(Record(recordType: "Item", recordID: id, fields: ["id": .string("theirs")]))
        let device = Device<Note>(cloud.database()) { $0.automaticallySyncs = true }
        script(device.database)
        try await device.engine.upload([Note("a", "Tea"), Note("b", "Milk")])
        let count = try await settled(device)
        try await device.engine.close()
        return count
    }

    /// Runs the engine until it is idle or has made far too many requests.
    private func settled(_ device: Device<Note>) async throws -> Int {
        let (database, far) = (device.database, mostRequests * 10)
        await device.engine.reach("the engine is idle") { $0.isIdle || database.totalCount > far }
        return database.totalCount
    }
}
