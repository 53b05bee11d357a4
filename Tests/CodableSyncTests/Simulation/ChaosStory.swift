import Foundation
import XCTest

@testable import CodableSync

/// A random story in which everything may happen to devices, disks, zones and users, decided by a seed.
///
/// At its end the trouble stops and everybody syncs; then nothing that a call returned for may be missing.
final class ChaosStory {
    /// A device, its disk, what its app shows, and requests that are held.
    final class Actor {
        let device: Device<StampSet>
        let fake: FakeDatabase
        let consumes: Bool
        var mirror: [String: StampSet] = [:]
        /// Copies that the app has read and not edited yet.
        var remembered: [String: StampSet] = [:]
        /// Whose things the app shows.
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

    /// An upload that returned, and under which of the users whom the engine of a device has had.
    struct Write {
        var name: String
        var stamp: String
        var index: Int
        var stays: Range<Int>
    }

    /// What stood in models that were uploaded while another user's state was being opened.
    var carriedOver: Set<String> = []

    /// An engine that never comes back to its caller.
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
    /// Records that somebody deleted: nothing is expected of them.
    var deleted: Set<String> = []
    /// What must be there at the end, by record.
    var expected: [String: Set<String>] = [:]
    /// What zones held that have gone.
    var everOnServer: [String: Set<String>] = [:]
    var writes: [Write] = []
    /// Who is signed in on all devices in the end.
    var user = "alice"
    private(set) var log: [String] = []
    private(set) var failures: [String] = []

    init(seed: UInt64, steps: Int? = nil, _ change: (inout ChaosFaults) -> Void = { _ in }) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        let clock = clock
        cloud = FakeCloud(date: { clock.now.wall })
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
            let keepsUndelivered = Int.random(in: 0..<8, using: &random) > 0
            let consumes = Bool.random(using: &random) && keepsUndelivered && !faults.users
            let device = Device<StampSet>(fake, clock: clock, files: SimulatedFileSystem()) {
                $0.fetchPageSize = pageSize
                $0.keepsUndelivered = keepsUndelivered
                $0.onSignOut = faults.removals ? .remove : .keep
                $0.seed = seed &+ UInt64(index)
                $0.fileSystem = SimulatedFileSystem()
            }
            if Bool.random(using: &random) {
                device.database.setLimits(DatabaseLimits(maximumItems: 1, maximumBytes: 1_000_000))
            }
            if faults.hidesReasons { device.database.failAlways(.databaseChanges, CloudError(.badDatabase)) }
            actors.append(Actor(device, fake, consumes: consumes))
            log.append(
                "device \(index) consumes \(consumes), keeps \(keepsUndelivered), page \(pageSize ?? 0)"
            )
        }
        // Nobody can tell then that a zone was made anew by another device.
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
            // Told already.
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

    /// One number out of so many, by chance.
    func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    /// Waits for a call, and fails the story if the call does not end while everything it could wait for goes on.
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

    /// What the server has, as models.
    func server() throws -> [String: StampSet] {
        try cloud.records(user: user, in: zoneID).mapValues {
            try RecordDecoder().decode(StampSet.self, from: $0)
        }
    }

    /// Remembers what a zone holds that is about to go.
    func noteServer() {
        guard let server = try? server() else { return }
        for (name, model) in server { everOnServer[name, default: []].formUnion(model.stamps) }
    }

    /// What the server has of a record.
    func everSaved(_ name: String) -> [String] { (try? server()[name]?.stamps) ?? [] }

    /// What is on the server goes, or what devices know of it, and that is right.
    func excuseServer() {
        noteServer()
        for (name, stamps) in everOnServer { expected[name]?.subtract(stamps) }
    }
}
