import XCTest

@testable import CodableSync

/// Devices of one user, and requests of theirs that are given up and stay on their way.
class LateRequestScenario: EngineScenario {
    private(set) lazy var cloud = FakeCloud(clock: clock)

    func makePhone(on disk: any FileSystem = MemoryFileSystem()) -> (Device<Note>, FakeDatabase) {
        let database = cloud.database(user: "alice")
        return (Device(database, clock: clock, files: disk), database)
    }

    /// Uploads a note in a request that is given up and stays on its way.
    func uploadLate(_ note: Note, _ phone: Device<Note>, _ database: FakeDatabase) async throws
        -> FakeHold
    {
        try await phone.engine.upload(note)
        return try await giveUp(phone, database)
    }

    /// Deletes a note in a request that is given up and stays on its way.
    func deleteLate(_ name: String, _ phone: Device<Note>, _ database: FakeDatabase) async throws -> FakeHold
    {
        try await phone.engine.delete(named: [name])
        return try await giveUp(phone, database)
    }

    private func giveUp(_ phone: Device<Note>, _ database: FakeDatabase) async throws -> FakeHold {
        let hold = FakeHold()
        database.on(.modifyRecords, .deliverLate(hold))
        do {
            try await phone.engine.sendChanges()
            XCTFail("The request should be given up.")
        } catch let error as SyncError where error.code == .cloud {}
        pass()
        return hold
    }

    /// Syncs devices three times, one after another, with time between.
    func syncInTurn<Model>(_ devices: Device<Model>...) async throws { try await syncInTurn(devices) }

    private func syncInTurn<Model>(_ devices: [Device<Model>]) async throws {
        for _ in 0..<3 {
            for device in devices { try await device.engine.sync() }
            pass()
        }
    }

    /// Syncs devices until nothing is left to do, and compares what they and the server have.
    func assertModels(_ expected: [Note], _ devices: Device<Note>..., line: UInt = #line) async throws {
        try await syncInTurn(devices)
        for device in devices {
            let models = try await device.engine.allModels()
            XCTAssertEqual(models, expected, line: line)
            let pending = try await device.engine.pendingChanges()
            XCTAssertTrue(pending.isEmpty, line: line)
        }
        XCTAssertEqual(stored(), expected.map(\.id), line: line)
    }

    /// The names of the records that the server has.
    func stored() -> [String] {
        cloud.records(user: "alice", in: ZoneID(zoneName: "Item")).keys.sorted()
    }
}
