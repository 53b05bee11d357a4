import XCTest

@testable import CodableSync

/// Calls of `LiveModels`, mixed at random with every kind of call of the engine.
///
/// `SEEDS=5000..<5100` in the environment runs other seeds; an exhaustive run has thousands.
@MainActor
final class LiveModelsRaceTests: XCTestCase {
    func testAtRestTheListIsWhatTheCallsMadeOnEveryDevice() async throws {
        try await assertNoFailure { LiveRace(seed: $0) }
    }

    func testNoCallReachesAnotherUsersCloud() async throws {
        try await assertNoFailure { LiveUserRace(seed: $0) }
    }

    func testNoAcknowledgedCallIsLostThroughFaultsOfTheDiskTheCloudAndTheProcess() async throws {
        try await assertNoFailure { LiveFaultRace(seed: $0) }
    }

    private func assertNoFailure(_ makeRace: (UInt64) -> some LiveRacing) async throws {
        var failed: [UInt64] = []
        for seed in try Seeds.named(first: 5, of: 0..<2000) {
            let race = makeRace(seed)
            var failures: [String] = []
            do { try await race.run() } catch { failures = ["\(error)"] }
            failures += race.failures
            if failures.isEmpty { continue }
            if failed.count < 2 {
                XCTFail((["seed \(seed)"] + race.log + failures).joined(separator: "\n"))
            }
            failed.append(seed)
        }
        XCTAssertEqual(failed, [])
    }
}

/// A race that writes down what it did, and what went wrong.
@MainActor
protocol LiveRacing {
    var log: [String] { get }
    var failures: [String] { get }
    func run() async throws
}

/// One device that makes calls of every kind, while another one edits the colors of the same notes.
///
/// The device's calls take effect in the order in which they were made. So `expected` is known at each call.
@MainActor
private final class LiveRace: LiveRacing {
    private let clock = ManualClock()
    private let phone: Device<Note>
    private let tablet: Device<Note>
    private let checker: Device<Note>
    private var engine: SyncEngine<Note>
    private var live: LiveModels<Note>
    private var random: SplitMix64
    private var expected: [String: Note] = [:]
    private var colors: [String: String] = [:]
    private var tasks: [Task<Void, Never>] = []
    private var begun = 0
    private var number = 0
    private(set) var log: [String] = []
    private(set) var failures: [String] = []

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let clock = self.clock
        let cloud = FakeCloud(clock: clock)
        let make = { Device<Note>(cloud.database(), clock: clock) { $0.automaticallySyncs = true } }
        phone = make()
        tablet = make()
        checker = make()
        engine = phone.engine
        live = LiveModels(engine)
    }

    func run() async throws {
        for name in ["e0", "e1", "r0"] { expected[name] = Note(name, "0") }
        try await engine.upload(expected.values.sorted { $0.id < $1.id })
        try await engine.sync()
        try await tablet.engine.sync()
        for _ in 0..<Int.random(in: 10...40, using: &random) { try await step() }
        try await end()
    }

    /// A number that no call has used.
    private func next() -> String {
        number += 1
        return "\(number)"
    }

    private func step() async throws {
        let edited = Bool.random(using: &random) ? "e0" : "e1"
        let replaced = Bool.random(using: &random) ? "r0" : "r1"
        switch Int.random(in: 0..<24, using: &random) {
        case 0, 1, 2: editLive(edited) { $0.count += 1 }
        case 3, 4: call("edit \(edited)") { try await self.edit(edited) { $0.count += 1 } }
        case 5:
            let title = next()
            editLive(edited) { $0.title = title }
        case 6:
            let title = next()
            call("edit \(edited) to \(title)") { try await self.edit(edited) { $0.title = title } }
        case 7: call("draft of \(edited)") { try await self.saveDraft(edited) }
        case 8: call("undo of \(edited)") { try await self.undo(edited) }
        case 9, 10: addLive(replaced)
        case 11: deleteLive(replaced)
        case 12: call("delete \(replaced)") { try await self.delete(replaced) }
        case 13: editLive(replaced) { $0.count += 1 }
        case 14:
            call("edit \(replaced)", expecting: [.recordNotFound]) {
                try await self.edit(replaced) { $0.count += 1 }
            }
        case 15: call("upload") { try await self.upload(Note("u\(self.next())")) }
        case 16: call("sync", expecting: [.cloud, .closed]) { try await self.engine.sync() }
        case 17: call("send", expecting: [.cloud, .closed]) { try await self.engine.sendChanges() }
        case 18: call("fetch", expecting: [.cloud, .closed]) { try await self.engine.fetchChanges() }
        case 19: call("idle") { await self.engine.waitUntilIdle() }
        case 20:
            phone.database.isReachable.toggle()
            log.append("network: \(phone.database.isReachable)")
        case 21: try await color(edited)
        case 22: try await restart()
        default: for _ in 0..<Int.random(in: 0..<50, using: &random) { await Task.yield() }
        }
    }

    // MARK: Calls of the list

    private func editLive(_ name: String, _ change: @escaping @MainActor (inout Note) -> Void) {
        log.append("live edit \(name)")
        clock.advance(by: .seconds(1))
        live.edit(live.models[name] ?? Note(name), change)
        expect(name, change)
    }

    /// A list that is not loaded yet does not know what it replaces.
    private func addLive(_ name: String) {
        if !live.isLoaded { return }
        let note = Note(name, next(), count: number)
        log.append("live add \(name) \(note.title)")
        clock.advance(by: .seconds(1))
        live.add(note)
        expected[note.id] = note
    }

    private func deleteLive(_ name: String) {
        log.append("live delete \(name)")
        clock.advance(by: .seconds(1))
        live.delete(Note(name))
        expected[name] = nil
    }

    private func expect(_ name: String, _ change: (inout Note) -> Void) {
        guard var note = expected[name] else { return }
        change(&note)
        expected[name] = note
    }

    // MARK: Calls of the engine, whose places are taken before they suspend

    private func call<Value>(
        _ what: String,
        expecting codes: [SyncError.Code] = [],
        _ call: @escaping @MainActor () async throws -> Value
    ) {
        let number = tasks.count
        log.append("\(number): \(what)")
        tasks.append(
            Task {
                begun += 1
                // An addition or a draft over an older note than the cloud's is a conflict, which the later edit wins.
                clock.advance(by: .seconds(1))
                log.append("\(number) begins")
                do {
                    _ = try await call()
                } catch let error as SyncError where codes.contains(error.code) {
                    // The network is down, the engine is closed, or the note was deleted.
                } catch {
                    failures.append("\(what): \(error)")
                }
            }
        )
    }

    private func edit(_ name: String, _ change: @escaping @MainActor (inout Note) -> Void) async throws {
        expect(name, change)
        try await engine.edit(named: name) { change(&$0) }
    }

    private func delete(_ name: String) async throws {
        expected[name] = nil
        try await engine.delete(named: [name])
    }

    private func upload(_ note: Note) async throws {
        expected[note.id] = note
        try await engine.upload(note)
    }

    /// A screen saves a draft of the note that it shows, with the title that it set last.
    private func saveDraft(_ name: String) async throws {
        guard var shown = live.models[name], let title = expected[name]?.title else { return }
        shown.title = title
        var draft = shown
        draft.title = next()
        expect(name) { $0.title = draft.title }
        try await engine.upload(draft, editedFrom: shown)
    }

    private func undo(_ name: String) async throws {
        guard let before = live.models[name], live.isLoaded else { return }
        let title = next()
        live.edit(before) { $0.title = title }
        guard let after = live.models[name] else { return }
        expect(name) { $0.title = before.title }
        try await engine.upload(before, editedFrom: after)
    }

    // MARK: Other events

    private func color(_ name: String) async throws {
        let color = next()
        log.append("color of \(name): \(color)")
        try await tablet.engine.edit(named: name) { $0.color = color }
        try await tablet.engine.sync()
        colors[name] = color
    }

    private func restart() async throws {
        while begun < tasks.count { await Task.yield() }
        log.append("restart")
        editLive("e0") { $0.count += 1 }
        addLive("r0")
        try await engine.close()
        engine = SyncEngine(database: phone.database, configuration: phone.configuration)
        live = LiveModels(engine)
    }

    // MARK: The end

    private func end() async throws {
        phone.database.isReachable = true
        for task in tasks { await task.value }
        try await live.settle()
        for _ in 0..<10 {
            clock.advance(by: .seconds(600))
            var work = 0
            for engine in [engine, tablet.engine, checker.engine] {
                let summary = try await engine.sync()
                work += summary.sent + summary.deleted + summary.fetched + summary.conflictsResolved
            }
            if work == 0 { break }
        }
        try await live.settle()
        for (name, color) in colors { expect(name) { $0.color = color } }
        let wanted = expected.values.sorted { $0.id < $1.id }
        for (what, models) in [
            ("the list", live.models.values.sorted { $0.id < $1.id }),
            ("the phone", try await engine.allModels()),
            ("the tablet", try await tablet.engine.allModels()),
            ("the cloud", try await checker.engine.allModels()),
        ] where models != wanted {
            failures.append("\(what): \(models), expected: \(wanted)")
        }
        if try await !engine.pendingChanges().isEmpty { failures.append("a change is pending") }
        for engine in [engine, tablet.engine, checker.engine] { try await engine.close() }
    }
}
