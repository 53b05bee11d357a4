import Foundation
import XCTest

@testable import CodableSync

/// A random story, decided by a seed, with every kind of fault for devices, disks, zones and users.
///
/// At the end the faults stop and all devices sync; no acknowledged upload may be missing.
final class ChaosStory {
    /// A device, its disk, the records that its app shows, and the requests that are held.
    final class Actor {
        let device: Device<StampSet>
        let fake: FakeDatabase
        let consumes: Bool
        var mirror: [String: StampSet] = [:]
        /// Copies that the app has read but not edited yet.
        var remembered: [String: StampSet] = [:]
        /// The user whose records the app shows.
        var shownUser: String?
        var held: [(gate: Gate, sync: Task<Void, Never>)] = []

        init(_ device: Device<StampSet>, _ fake: FakeDatabase, consumes: Bool) {
            self.device = device
            self.fake = fake
            self.consumes = consumes
        }

        var engine: SyncEngine<StampSet> { device.engine }
        var files: SimulatedFileSystem? { device.configuration.fileSystem as? SimulatedFileSystem }
    }

    /// An acknowledged upload, and the range of users (counted per engine) that it may belong to.
    struct Write {
        var name: String
        var stamp: String
        var index: Int
        var stays: Range<Int>
    }

    /// Stamps in models that were uploaded while the state of another user was being opened.
    var carriedOver: Set<String> = []

    /// A call to the engine never returned.
    struct Standstill: Error {}

    let seed: UInt64
    var random: SplitMix64
    let clock = ManualClock()
    let cloud: FakeCloud
    let zoneID = ZoneID(zoneName: "Item")
    var actors: [Actor] = []
    let names: [String]
    var faults: ChaosFaults
    let steps: Int
    var lastStamp = 0
    /// Deleted records; the story expects nothing of them.
    var deleted: Set<String> = []
    /// The stamps expected at the end, by record.
    var expected: [String: Set<String>] = [:]
    /// The stamps that lost zones contained.
    var everOnServer: [String: Set<String>] = [:]
    var writes: [Write] = []
    /// The user who is signed in on all devices at the end.
    var user = "alice"
    private(set) var log: [String] = []
    private(set) var failures: [String] = []

    init(seed: UInt64, steps: Int? = nil, _ change: (inout ChaosFaults) -> Void = { _ in }) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        let clock = clock
        cloud = FakeCloud(clock: clock)
        names = ["a", "b", "c", "d"].prefix(.random(in: 1...4, using: &random)).map { $0 }
        faults = ChaosFaults(&random)
        change(&faults)
        let drawn = Int.random(in: 5...60, using: &random)
        self.steps = steps ?? drawn
        let faults = faults
        for index in 0..<Int.random(in: 1...3, using: &random) {
            let fake = cloud.database(user: "alice")
            let pageSize = [nil, 1, 2, 5].randomElement(using: &random) ?? nil
            fake.conflictsCarryServerRecord = Int.random(in: 0..<4, using: &random) > 0
            let consumes = Bool.random(using: &random) && !faults.users
            let device = Device<StampSet>(fake, clock: clock, files: SimulatedFileSystem()) {
                $0.fetchPageSize = pageSize
                $0.onSignOut = faults.removals ? .remove : .keep
                $0.seed = seed &+ UInt64(index)
                $0.fileSystem = SimulatedFileSystem()
            }
            if Bool.random(using: &random) {
                device.database.setLimits(DatabaseLimits(maximumItems: 1, maximumBytes: 1_000_000))
            }
            if faults.hidesReasons { device.database.failAlways(.databaseChanges, CloudError(.badDatabase)) }
            actors.append(Actor(device, fake, consumes: consumes))
            log.append("device \(index) consumes \(consumes), page \(pageSize ?? 0)")
        }
        // Without a feed, no device can tell that another one has re-created the zone.
        if faults.hidesReasons, actors.count > 1 {
            self.faults.zoneReset = false
            self.faults.zoneDeleted = false
            self.faults.zonePurged = false
        }
        self.random = random
        log.append(self.faults.names)
    }

    func run() async throws {
        do {
            for _ in 0..<steps { try await step() }
            try await heal()
            if faults.users { try await healUsers() }
            if failures.isEmpty { try await check() }
            if failures.isEmpty { try await checkQuiet() }
        } catch is Standstill {
            // Already reported.
        } catch {
            fail("thrown: \(error)")
        }
        for actor in actors {
            let engine = actor.engine
            Task { try? await engine.close() }
        }
    }

    func say(_ line: String) {
        if ProcessInfo.processInfo.environment["LOG"] != nil { print(line) }
        log.append(line)
    }

    func fail(_ line: String) { failures.append(line) }

    /// A random number below a limit.
    func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// Waits for a call, and fails the story if the call does not return.
    func within<Value: Sendable>(
        _ what: String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let call = Task { try await body() }
        guard let result = await inTime({ await call.result }) else {
            call.cancel()
            fail("standstill: \(what)")
            throw Standstill()
        }
        return try result.get()
    }

    /// The records on the server, decoded.
    func server() throws -> [String: StampSet] {
        try cloud.records(user: user, in: zoneID).mapValues {
            try RecordDecoder().decode(StampSet.self, from: $0)
        }
    }

    /// Notes the contents of a zone that is about to be lost.
    func noteServer() {
        guard let server = try? server() else { return }
        for (name, model) in server { everOnServer[name, default: []].formUnion(model.stamps) }
    }

    /// The stamps that the server has for a record.
    func everSaved(_ name: String) -> [String] { (try? server()[name]?.stamps) ?? [] }

    /// Expects nothing of stamps that are on the server, because the zone's loss removes them.
    func excuseServer() {
        noteServer()
        for (name, stamps) in everOnServer { expected[name]?.subtract(stamps) }
    }
}
