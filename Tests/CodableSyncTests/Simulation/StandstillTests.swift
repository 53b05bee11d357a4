import Foundation
import XCTest

@testable import CodableSync

/// Whatever fails, and however often: while no time passes, an engine asks a few times and then waits.
final class StandstillTests: XCTestCase {
    /// What it costs to make a zone anew that is missing again and again, until the pause.
    private let mostRequests = 28

    /// A code, as the answer to every request of one kind, for an engine that syncs by itself: a third of the codes for
    /// each kind, and each of them for one kind at least, unless all cases are asked for.
    func testNoErrorMakesAnEngineAskAgainAndAgainWithoutATimePassing() async throws {
        let codes = CloudError.Code.known + [.unknown("tomorrow")]
        for (row, operation) in ScriptedDatabase.Operation.allCases.enumerated() {
            for place in Cases.places(every: 3, row: row, below: codes.count) {
                let code = codes[place]
                let count = try await requests(failing: operation, with: CloudError(code))
                XCTAssertLessThanOrEqual(count, mostRequests, "\(operation) always fails with \(code)")
            }
        }
    }

    /// The same for the error of one item.
    func testNoErrorOfAnItemMakesAnEngineAskAgainAndAgain() async throws {
        for code in CloudError.Code.known + [.unknown("tomorrow")] {
            let count = try await requests { $0.failItemAlways("a", CloudError(code)) }
            XCTAssertLessThanOrEqual(count, mostRequests, "the item always fails with \(code)")
        }
    }

    /// A record that another device changes before each of our saves, and a page that cannot be read.
    func testNoAnswerMakesAnEngineAskAgainAndAgain() async throws {
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

    /// A disk that refuses every write, from the opening on and from the first change on.
    func testADiskThatRefusesEverythingMakesNoEngineAskAgainAndAgain() async throws {
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

    /// How many requests an engine makes that has something to fetch and something to send.
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

    /// Lets the engine work until it asks for nothing more, or has asked far too often.
    private func settled(_ device: Device<Note>) async throws -> Int {
        let (database, far) = (device.database, mostRequests * 10)
        await device.engine.reach("it rests") { $0.isIdle || database.totalCount > far }
        return database.totalCount
    }
}
