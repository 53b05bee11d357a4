@testable import CodableSync

/// One device whose disk, network and process fail, while views and the app make calls of every kind.
///
/// What a call does is known only once it is acknowledged: an engine's call when it returns, a list's when the list
/// is at rest without a failure. Each title of a record is a number greater than those before, so the title that is
/// left must be the last acknowledged one or a later one.
@MainActor
final class LiveFaultRace: LiveRacing {
    private let clock = ManualClock()
    private let phone: Device<Note>
    private let tablet: Device<Note>
    private let checker: Device<Note>
    private var files = SimulatedFileSystem()
    private var engine: SyncEngine<Note>
    private var live: LiveModels<Note>
    private var random: SplitMix64
    private var tasks: [Task<Void, Never>] = []
    private var number = 0
    private var colors: [String: String] = [:]
    /// The last acknowledged title of each record.
    private var titles: [String: Int] = [:]
    private var added: Set<String> = []
    /// What a call may have deleted, and what an acknowledged one has.
    private var doomed: Set<String> = []
    private var deleted: Set<String> = []
    /// What the list's calls have done since it was last at rest.
    private var unacknowledged: [() -> Void] = []
    private var ended = 0
    private(set) var log: [String] = []
    private(set) var failures: [String] = []

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let clock = self.clock
        let cloud = FakeCloud(clock: clock)
        phone = Device(cloud.database(), clock: clock, files: files) { $0.automaticallySyncs = true }
        tablet = Device(cloud.database(), clock: clock)
        checker = Device(cloud.database(), clock: clock)
        engine = phone.engine
        live = LiveModels(engine)
    }

    func run() async throws {
        let notes = ["f0", "f1", "d0"].map { Note($0, "0") }
        try await engine.upload(notes)
        try await engine.sync()
        try await tablet.engine.sync()
        added = ["f0", "f1"]
        for _ in 0..<Int.random(in: 10...50, using: &random) { try await step() }
        try await end()
    }

    private func next() -> Int {
        number += 1
        return number
    }

    // MARK: Steps

    private func step() async throws {
        clock.advance(by: .seconds(1))
        switch Int.random(in: 0..<15, using: &random) {
        case 0, 1, 2: callList()
        case 3, 4, 5, 6: callEngine()
        case 7: callAboutAll()
        case 8, 9: disturbCloud()
        case 10: disturbDisk()
        case 11: try await color(Bool.random(using: &random) ? "f0" : "f1")
        case 12: try await leave()
        case 13: await rest()
        default: for _ in 0..<Int.random(in: 0..<80, using: &random) { await Task.yield() }
        }
    }

    private func callList() {
        let (name, number) = (Bool.random(using: &random) ? "f0" : "f1", next())
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1, 2:
            log.append("live edit \(name) \(number)")
            live.edit(live.models[name] ?? Note(name)) { $0.title = "\(number)" }
            unacknowledged.append { self.acknowledge(name, number) }
        case 3:
            log.append("live add u\(number)")
            live.add(Note("u\(number)"))
            unacknowledged.append { self.added.insert("u\(number)") }
        case 4:
            guard let name = live.models.keys.filter({ $0.hasPrefix("u") }).min() else { return }
            log.append("live delete \(name)")
            live.delete(Note(name))
            doomed.insert(name)
            unacknowledged.append { self.deleted.insert(name) }
        default:
            log.append("live edit d0 \(number)")
            live.edit(Note("d0")) { $0.title = "\(number)" }
        }
    }

    private func callEngine() {
        let name = Bool.random(using: &random) ? "f0" : "f1"
        let engine = engine
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1, 2:
            call("edit \(name)") { number in
                try await engine.edit(named: name) { $0.title = "\(number)" }
                self.acknowledge(name, number)
            }
        case 3:
            call("draft of \(name)") { number in
                guard let shown = self.live.models[name] else { return }
                var draft = shown
                draft.title = "\(number)"
                try await engine.upload(draft, editedFrom: shown)
                self.acknowledge(name, number)
            }
        case 4, 5:
            call("upload") { number in
                try await engine.upload(Note("u\(number)"))
                self.added.insert("u\(number)")
            }
        case 6:
            guard let name = added.filter({ $0.hasPrefix("u") }).min() else { return }
            doomed.insert(name)
            call("delete \(name)") { _ in
                try await engine.delete(named: [name])
                self.deleted.insert(name)
            }
        case 7: call("discard d0") { _ in try await engine.discard(named: ["d0"]) }
        default: call("retry") { _ in try await engine.retry(named: ["d0", "f0", "f1"]) }
        }
    }

    private func acknowledge(_ name: String, _ number: Int) {
        titles[name] = max(number, titles[name] ?? 0)
    }

    private func callAboutAll() {
        let engine = engine
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1: call("sync", needsCloud: true) { _ in _ = try await engine.sync() }
        case 2: call("send", needsCloud: true) { _ in try await engine.sendChanges() }
        case 3: call("fetch", needsCloud: true) { _ in try await engine.fetchChanges() }
        case 4: call("resync", needsCloud: true) { _ in try await engine.resync() }
        case 5: call("idle") { _ in await engine.waitUntilIdle() }
        default: call("upload once") { _ in try await self.uploadOnce(engine) }
        }
    }

    private func uploadOnce(_ engine: SyncEngine<Note>) async throws {
        let old = (0..<5).map { Note("o\($0)", "old") }
        if try await engine.uploadOnce({ old }) { added.formUnion(old.map(\.id)) }
    }

    /// Makes a call in a task of its own; its number is later than those of all calls made before it.
    ///
    /// One that needs the cloud fails if the cloud does.
    private func call(
        _ what: String,
        needsCloud: Bool = false,
        _ call: @escaping @MainActor (_ number: Int) async throws -> Void
    ) {
        log.append("call: \(what)")
        tasks.append(
            Task {
                let number = next()
                log.append("\(number): \(what)")
                // Of two drafts of the same version, the later one wins.
                clock.advance(by: .seconds(1))
                defer { ended += 1 }
                do {
                    try await call(number)
                    log.append("\(number) ended")
                } catch let error as SyncError where isPossible(error, needsCloud: needsCloud) {
                    log.append("\(number) failed: \(error.code)")
                } catch {
                    failures.append("\(what): \(error)")
                }
            }
        )
    }

    /// Whether one of the faults can be the error's cause.
    private func isPossible(_ error: SyncError, needsCloud: Bool) -> Bool {
        switch error.code {
        case .storageFull, .storageFailed, .closed: true
        case .cloud, .waiting: needsCloud
        default: false
        }
    }

    // MARK: Faults

    private func disturbCloud() {
        let name = Bool.random(using: &random) ? "f0" : "f1"
        let database = phone.database
        let fault = Int.random(in: 0..<9, using: &random)
        log.append("cloud fault \(fault) \(name)")
        switch fault {
        case 0, 1: database.isReachable.toggle()
        case 2: database.plan(.modify, .loseAnswer)
        case 3: database.failNext(.modify, .requestRateLimited, retryAfter: .seconds(3))
        case 4: database.failNext(.fetch, .changeTokenExpired)
        case 5: database.failItem(name, CloudError(.serverRejectedRequest))
        case 6: database.failItem(name, CloudError(.permissionFailure))
        case 7: database.failNext(.fetch, .serviceUnavailable)
        default: database.failNext(.modify, .networkFailure, times: 2)
        }
    }

    private func disturbDisk() {
        let fault = Int.random(in: 0..<4, using: &random)
        log.append("disk fault \(fault)")
        switch fault {
        case 0: files.leaveRoom(for: Int.random(in: 0..<2000, using: &random))
        case 1: files.leaveRoom(for: nil)
        case 2: files.fail(.flush, after: Int.random(in: 0..<4, using: &random), code: 5)
        default:
            files.powerOff(
                after: Int.random(in: 0..<8, using: &random),
                [.before, .after, .torn].randomElement(using: &random) ?? .before
            )
        }
    }

    private func color(_ name: String) async throws {
        let color = "\(next())"
        log.append("color of \(name): \(color)")
        try await tablet.engine.edit(named: name) { $0.color = color }
        try await tablet.engine.sync()
        colors[name] = color
    }

    // MARK: Restarts

    /// The app is closed, killed, or loses power.
    private func leave() async throws {
        let way = Int.random(in: 0..<3, using: &random)
        if files.isDoomed || way == 0 {
            log.append("power loss")
            files.powerOffNow()
            let seed = random.next()
            let survivors: SimulatedDisk.Survivors =
                [.allWrites, .onlySynced, .random(seed: seed)].randomElement(using: &random) ?? .onlySynced
            _ = await finish(engine)
            files = files.crashed(keeping: survivors)
            phone.configuration.fileSystem = files
        } else if way == 1 {
            for _ in 0..<Int.random(in: 0..<80, using: &random) { await Task.yield() }
            log.append("killed")
            await engine.simulateCrash()
        } else {
            log.append("closed")
            // Closing stores the calls made before it; the list then learns of those that were refused.
            let isClosed = await finish(engine)
            for _ in 0..<1000 { await Task.yield() }
            if isClosed { acknowledgeUnlessFailed() }
        }
        unacknowledged = []
        engine = SyncEngine(database: phone.database, configuration: phone.configuration)
        live = LiveModels(engine)
    }

    private func finish(_ engine: SyncEngine<Note>) async -> Bool {
        do {
            try await engine.close()
            return true
        } catch {
            log.append("close failed: \(error)")
            return false
        }
    }

    // MARK: The end

    /// Counts the list's calls as acknowledged if all have ended and none was refused.
    private func rest() async {
        for _ in 0..<10_000 where !live.calls.isEmpty { await Task.yield() }
        guard live.calls.isEmpty else { return }
        log.append("at rest: \(live.failure.map { "\($0.code)" } ?? "no failure")")
        acknowledgeUnlessFailed()
        live.dismissFailure()
        unacknowledged = []
    }

    private func acknowledgeUnlessFailed() {
        if let failure = live.failure {
            if !isPossible(failure, needsCloud: false) { failures.append("the list: \(failure)") }
        } else {
            for acknowledge in unacknowledged { acknowledge() }
        }
    }

    private func end() async throws {
        log.append("end")
        phone.database.isReachable = true
        phone.database.clearPlans()
        phone.database.clearItemFaults()
        files.leaveRoom(for: nil)
        files.clearFaults()
        await rest()
        // The list that lived through the faults is compared as well as a new one.
        if files.isDoomed || Bool.random(using: &random) { try await leave() }
        for _ in 0..<200_000 where ended < tasks.count {
            clock.advance(by: .seconds(60))
            await Task.yield()
        }
        if ended < tasks.count { return failures.append("\(tasks.count - ended) calls never end") }
        try await uploadOnce(engine)
        for _ in 0..<10 {
            clock.advance(by: .seconds(600))
            try await engine.retry(named: try await engine.pendingChanges().map(\.recordName))
            var work = 0
            for engine in [engine, tablet.engine, checker.engine] {
                let summary = try await engine.sync()
                work += summary.sent + summary.deleted + summary.fetched + summary.conflictsResolved
            }
            if work == 0 { break }
        }
        try await live.settle()
        try await check()
        for engine in [engine, tablet.engine, checker.engine] { try await engine.close() }
    }

    private func check() async throws {
        let there = try await engine.allModels()
        for (what, models) in [
            ("the list", live.models.values.sorted { $0.id < $1.id }),
            ("the tablet", try await tablet.engine.allModels()),
            ("the cloud", try await checker.engine.allModels()),
        ] where models != there {
            failures.append("\(what): \(models), the phone: \(there)")
        }
        let names = Set(there.map(\.id))
        let lost = added.subtracting(doomed).subtracting(names)
        if !lost.isEmpty { failures.append("lost: \(lost.sorted())") }
        if !deleted.isDisjoint(with: names) {
            failures.append("back: \(deleted.intersection(names).sorted())")
        }
        for note in there {
            if let title = titles[note.id], (Int(note.title) ?? -1) < title {
                failures.append("\(note), acknowledged: \(title)")
            }
            if let color = colors[note.id], note.color != color {
                failures.append("\(note), the color was \(color)")
            }
        }
        let pending = try await engine.pendingChanges()
        if !pending.isEmpty { failures.append("pending: \(pending)") }
    }
}
