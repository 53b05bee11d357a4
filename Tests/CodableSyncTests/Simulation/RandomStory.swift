import Foundation
import XCTest

@testable import CodableSync

/// A random story of a few devices and one cloud, decided by a seed.
///
/// At the end the faults stop and all devices sync; no acknowledged upload may be missing.
final class RandomStory<Model: RandomModel> {
    /// What a test fixes for every story; the seed decides the rest.
    struct Options {
        var devices: Int?
        var steps: Int?
        var deletes: Bool?
        /// Every kind of fault: rejected and held requests, lost answers, expired tokens.
        var everyFault = false
        /// The database of a device, which answers in the place of the fake.
        var connect: @Sendable (FakeDatabase) -> any CloudDatabase = { $0 }
    }

    /// A device, the records that its app shows, and the requests that are held.
    private final class Actor {
        let device: Device<Model>
        let consumes: Bool
        var mirror: [String: Model] = [:]
        /// Copies that the app has read but not edited yet.
        var remembered: [String: Model] = [:]
        var held: [(gate: Gate, sync: Task<Void, Never>)] = []

        init(_ device: Device<Model>, consumes: Bool) {
            self.device = device
            self.consumes = consumes
        }
    }

    private let seed: UInt64
    private var random: SplitMix64
    private let clock = ManualClock()
    private let cloud: FakeCloud
    private var actors: [Actor] = []
    private let names: [String]
    private let deletes: Bool
    private let faults: Bool
    private let holds: Bool
    private let expires: Bool
    private let steps: Int
    private var deleted: Set<String> = []
    /// What is expected at the end, by record and then by stamp or device.
    private var expected: [String: [String: String]] = [:]
    private var lastStamp = 0
    private(set) var log: [String] = []
    private(set) var failures: [String] = []

    init(seed: UInt64, _ options: Options = Options()) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        let clock = clock
        cloud = FakeCloud(clock: clock)
        names = ["a", "b", "c"].prefix(.random(in: 1...3, using: &random)).map { $0 }
        let deletes = Bool.random(using: &random) && .random(using: &random)
        self.deletes = options.deletes ?? deletes
        faults = .random(using: &random) || options.everyFault
        holds = .random(using: &random) || options.everyFault
        expires = .random(using: &random) || options.everyFault
        let steps = Int.random(in: 10...50, using: &random)
        self.steps = options.steps ?? steps
        let devices = Int.random(in: 2...4, using: &random)
        for index in 0..<(options.devices ?? devices) {
            let pageSize = [nil, 1, 2].randomElement(using: &random) ?? nil
            let database = options.connect(cloud.database(user: "alice"))
            let device = Device<Model>(database, clock: clock) {
                $0.fetchPageSize = pageSize
                $0.seed = seed &+ UInt64(index)
            }
            if Bool.random(using: &random) {
                device.database.setLimits(DatabaseLimits(maximumItems: 1, maximumBytes: 1_000_000))
            }
            actors.append(Actor(device, consumes: .random(using: &random)))
        }
        self.random = random
    }

    func run() async throws {
        // What happens before the first request ever is told to nobody.
        for index in actors.indices { try await consume(index) }
        for _ in 0..<steps { try await step() }
        try await heal()
        try await check()
        for actor in actors { try await actor.device.engine.close() }
    }

    // MARK: Steps

    private func step() async throws {
        clock.advance(by: .seconds(Int.random(in: 1...5, using: &random)))
        let index = Int.random(in: actors.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<32: try await edit(index)
        case 32..<36: if deletes { try await delete(index) }
        case 36..<42: try await remember(index)
        case 42..<65: await sync(index)
        case 65..<72: try await consume(index)
        case 72..<80: if faults { planFault(index) }
        case 80..<88: if holds { await beginHeldSync(index) }
        case 88..<92: await release(index)
        case 92..<96: try await restart(index)
        case 96..<98: if expires { expireTokens() }
        default: if holds { await missDeadlines() }
        }
    }

    private func edit(_ index: Int) async throws {
        let actor = actors[index]
        let name = names.randomElement(using: &random) ?? "a"
        lastStamp += 1
        let stamp = "\(index).\(lastStamp)"
        let engine = actor.device.engine
        let remembered = actor.remembered[name]
        if let original = actor.consumes ? actor.mirror[name] : remembered {
            var model = original
            model.write(stamp, on: index)
            log.append("edit \(index) \(model)")
            try await engine.upload(model, editedFrom: original, ifMissing: .create)
            if actor.consumes { actor.mirror[name] = model }
        } else {
            log.append("edit \(index) \(name) \(stamp)")
            let edit = try await engine.edit(Model(name: name), ifMissing: .create) {
                $0.write(stamp, on: index)
            }
            if actor.consumes { actor.mirror[name] = edit.after }
        }
        actor.remembered[name] = nil
        expected[name, default: [:]][Model.replaces ? "\(index)" : stamp] = stamp
    }

    private func delete(_ index: Int) async throws {
        let name = names.randomElement(using: &random) ?? "a"
        log.append("delete \(index) \(name)")
        deleted.insert(name)
        try await actors[index].device.engine.delete(named: [name])
        actors[index].mirror[name] = nil
        actors[index].remembered[name] = nil
    }

    private func remember(_ index: Int) async throws {
        let actor = actors[index]
        if actor.consumes { return }
        if Bool.random(using: &random) {
            for model in try await actor.device.engine.allModels() {
                actor.remembered[model.recordName] = model
            }
        } else if let name = names.randomElement(using: &random) {
            actor.remembered[name] = try await actor.device.engine.model(named: name)
        }
        log.append("remember \(index) \(actor.remembered.keys.sorted())")
    }

    private func sync(_ index: Int) async {
        await release(index)
        let kind = Int.random(in: 0..<4, using: &random)
        let engine = actors[index].device.engine
        do {
            let summary =
                switch kind {
                case 0: try await engine.sendChanges()
                case 1: try await engine.fetchChanges()
                default: try await engine.sync()
                }
            log.append("sync \(index) kind \(kind): \(summary)")
        } catch {
            log.append("sync \(index) kind \(kind) failed: \(error)")
        }
    }

    private func consume(_ index: Int) async throws {
        let actor = actors[index]
        guard actor.consumes else { return }
        for change in try await actor.device.drain() {
            log.append("taken \(index) \(change)")
            actor.mirror.apply(change)
        }
    }

    private func planFault(_ index: Int) {
        let database = actors[index].device.database
        let codes: [CloudError.Code] = [
            .networkFailure, .serviceUnavailable, .zoneBusy, .serverResponseLost, .internalError,
            .operationCancelled, .quotaExceeded, .limitExceeded, .changeTokenExpired, .zoneNotFound,
            .notAuthenticated, .requestRateLimited, .batchRequestFailed,
        ]
        let code = codes.randomElement(using: &random) ?? .zoneBusy
        let operation = ScriptedDatabase.Operation.allCases.randomElement(using: &random) ?? .modify
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            if operation == .modify, code == .limitExceeded { return }
            log.append("fail \(index) \(operation) \(code)")
            database.failNext(operation, code)
        case 1:
            log.append("lose \(index)")
            database.plan(.modify, .loseAnswer)
        default:
            if code == .limitExceeded || code == .zoneNotFound { return }
            log.append("fail item \(index) a \(code)")
            database.failItem("a", CloudError(code))
        }
    }

    // MARK: Requests that are held

    private func beginHeldSync(_ index: Int) async {
        let gate = Gate()
        let actor = actors[index]
        let isBefore = Bool.random(using: &random)
        let operation: ScriptedDatabase.Operation = Bool.random(using: &random) ? .modify : .fetch
        actor.device.database.plan(operation, isBefore ? .holdBefore(gate) : .holdAfter(gate))
        log.append("hold \(index) \(operation) \(isBefore ? "before" : "after")")
        let engine = actor.device.engine
        let sync = Task {
            do { _ = try await engine.sync() } catch { return }
        }
        actor.held.append((gate, sync))
        for _ in 0..<Int.random(in: 0..<60, using: &random) { await Task.yield() }
    }

    private func release(_ index: Int) async {
        let actor = actors[index]
        guard !actor.held.isEmpty else { return }
        let isLost = Bool.random(using: &random)
        log.append("release \(index) lost \(isLost)")
        for held in actor.held {
            held.gate.open(throwing: isLost ? CloudError(.serverResponseLost) : nil)
        }
        for held in actor.held { await held.sync.value }
        actor.held = []
    }

    /// Held requests time out and are answered later.
    private func missDeadlines() async {
        log.append("deadlines pass")
        clock.advance(by: .seconds(61))
        for _ in 0..<50 { await Task.yield() }
    }

    private func restart(_ index: Int) async throws {
        log.append("restart \(index)")
        try await actors[index].device.restart()
        await release(index)
    }

    private func expireTokens() {
        log.append("tokens expire")
        do { try cloud.expireTokens(user: "alice") } catch { log.append("\(error)") }
    }

    // MARK: The end

    private func heal() async throws {
        for index in actors.indices { await release(index) }
        for round in 0..<40 {
            var work = 0
            for (index, actor) in actors.enumerated() {
                clock.advance(by: .seconds(3600))
                do {
                    let summary = try await actor.device.engine.sync()
                    work += summary.sent + summary.deleted + summary.fetched + summary.conflictsResolved
                    work += summary.pending
                    log.append("heal \(index): \(summary)")
                } catch {
                    log.append("heal \(index) failed: \(error)")
                    work += 1
                }
            }
            if work == 0, round > 2 { return }
        }
        failures.append("the devices never become idle")
    }

    private func check() async throws {
        let zoneID = ZoneID(zoneName: "Item")
        var server: [String: Model] = [:]
        let hasZone = !cloud.records(user: "alice", in: zoneID).isEmpty
        for (name, record) in hasZone ? cloud.records(user: "alice", in: zoneID) : [:] {
            server[name] = try RecordDecoder().decode(Model.self, from: record)
        }
        for (name, stamps) in expected where !deleted.contains(name) {
            let missing = Set(stamps.values).subtracting(server[name]?.contents ?? [])
            if !missing.isEmpty { failures.append("\(name): \(missing.sorted()) missing on the server") }
        }
        for (index, actor) in actors.enumerated() {
            let models = try await actor.device.engine.allModels()
            let shown = models.reduce(into: [:]) { $0[$1.recordName] = $1 }
            if shown != server { failures.append("\(index) shows \(shown), the server has \(server)") }
            let parked = try await actor.device.engine.parkedChanges()
            if !parked.isEmpty { failures.append("\(index) parked \(parked)") }
            try await consume(index)
            if actor.consumes, actor.mirror != server {
                failures.append("the app on \(index) has \(actor.mirror), the server has \(server)")
            }
        }
    }
}
