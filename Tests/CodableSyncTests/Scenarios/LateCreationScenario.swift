import XCTest

@testable import CodableSync

/// Devices of one user, and requests of theirs that are given up and stay on their way.
class LateCreationScenario: EngineScenario {
    private(set) lazy var cloud = FakeCloud(clock: clock)

    func makePhone(on disk: any FileSystem = MemoryFileSystem()) -> (Device<Note>, FakeDatabase) {
        let database = cloud.database(user: "alice")
        return (Device(database, clock: clock, files: disk), database)
    }

    /// Uploads a note in a request that is given up and stays on its way.
    func uploadLate(_ note: Note, _ phone: Device<Note>, _ database: FakeDatabase) async throws
        -> FakeHold
    {
        let hold = FakeHold()
        database.on(.modifyRecords, .deliverLate(hold))
        try await phone.engine.upload(note)
        do {
            try await phone.engine.sendChanges()
            XCTFail("The request should be given up.")
        } catch let error as SyncError where error.code == .cloud {}
        pass()
        return hold
    }

    /// The names of the records that the server has.
    func stored() -> [String] {
        cloud.records(user: "alice", in: ZoneID(zoneName: "Item")).keys.sorted()
    }
}
