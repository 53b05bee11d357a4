import XCTest

@testable import CodableSync

/// One device alone, whose calls cross its own requests: no resolver is ever asked, and the last call wins.
@MainActor
final class OwnConflictRaceTests: XCTestCase {
    private enum Alone: ItemPolicy {
        static func resolve(_ conflict: Conflict<Item<Alone>>) throws -> Item<Alone>? {
            try conflict.merged()
        }
        static func resolveDeletion(of client: Item<Alone>) throws -> Item<Alone>? { client }
    }

    func testADeviceIsNeverInConflictWithItself() async throws {
        var failed: [UInt64] = []
        for seed in try Seeds.named(first: 12, of: 0..<4000) {
            let (log, failures) = try await race(seed)
            if failures.isEmpty { continue }
            if failed.count < 2 { XCTFail((["seed \(seed)"] + log + failures).joined(separator: "\n")) }
            failed.append(seed)
        }
        XCTAssertEqual(failed, [])
    }

    private func race(_ seed: UInt64) async throws -> (log: [String], failures: [String]) {
        var random = SplitMix64(seed: seed)
        let clock = ManualClock()
        let phone = Device<Item<Alone>>(FakeCloud(clock: clock).database(), clock: clock)
        let engine = phone.engine
        let asked = Calls.shared.count(Alone.self)
        let isFaulty = seed % 2 == 1
        var (log, failures): ([String], [String]) = ([], [])
        var last: [String: String?] = [:]
        var tasks: [Task<String?, Never>] = []
        let loop = Task { for await _ in engine.changes { await Task.yield() } }
        for number in 0..<Int.random(in: 10...60, using: &random) {
            let name = Bool.random(using: &random) ? "A" : "B"
            clock.advance(by: .seconds(1))
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1:
                log.append("upload \(name) \(number)")
                try await engine.upload(Item<Alone>(name, "\(number)"))
                last[name] = .some("\(number)")
            case 2 where last[name]?.flatMap { $0 } != nil:
                log.append("edit \(name) \(number)")
                try await engine.edit(named: name) { $0.title = "\(number)" }
                last[name] = .some("\(number)")
            case 3, 4:
                log.append("delete \(name)")
                try await engine.delete(named: [name])
                last[name] = .some(nil)
            case 5, 6, 7:
                let isFetch = random.next() % 3 == 0
                log.append(isFetch ? "fetch" : "sync")
                tasks.append(
                    Task {
                        do {
                            if isFetch { try await engine.fetchChanges() } else { try await engine.sync() }
                            return nil
                        } catch {
                            return (error as? SyncError)?.code == .cloud ? nil : "\(error)"
                        }
                    }
                )
            case 8 where isFaulty:
                log.append("an answer is lost")
                phone.database.plan(.modify, .loseAnswer)
            default: for _ in 0..<Int.random(in: 0..<60, using: &random) { await Task.yield() }
            }
        }
        for task in tasks { if let failure = await task.value { failures.append(failure) } }
        phone.database.clearPlans()
        // A request that is in flight may lose its answer still, which would fail a call that waits for it.
        await engine.waitUntilIdle()
        try await engine.sync()
        try await engine.sync()
        let models = try await engine.allModels()
        let expected = last.compactMapValues { $0 }
        let found = models.reduce(into: [:]) { $0[$1.id] = $1.title }
        if found != expected { failures.append("\(found), expected: \(expected)") }
        let questions = Calls.shared.count(Alone.self) - asked
        if questions > 0 { failures.append("\(questions) questions") }
        try await engine.close()
        await loop.value
        return (log, failures)
    }
}
