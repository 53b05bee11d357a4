@testable import CodableSync

extension ChaosStory {
    /// Stops all faults.
    private func mend() async throws {
        for index in actors.indices { try await release(index) }
        cloud.setQuota(nil, user: user)
        for (index, actor) in actors.enumerated() {
            actor.device.database.clearPlans()
            actor.device.database.clearItemFaults()
            actor.fake.clearFaults()
            actor.fake.isReachable = true
            if actor.fake.user != user || actor.fake.account != .available {
                actor.fake.signIn(user: user)
            }
            if actor.files?.isOff == true || actor.files?.isDoomed == true { try await crash(index) }
            let engine = actor.engine
            try await within("start \(index)") { try await engine.start() }
        }
    }

    func heal() async throws {
        say("heal")
        try await mend()
        for round in 0..<40 {
            var work = 0
            for index in actors.indices {
                clock.advance(by: .seconds(3600))
                work += try await healingSync(index)
            }
            if work == 0, round > 2 { return }
        }
        fail("the devices never become idle")
    }

    private func healingSync(_ index: Int) async throws -> Int {
        let engine = actors[index].engine
        do {
            try await within("retry") {
                try await engine.retry(named: engine.parkedChanges().map(\.recordName))
            }
            let summary = try await within("heal \(index)") { try await engine.sync() }
            say("heal \(index): \(summary)")
            return summary.sent + summary.deleted + summary.fetched + summary.conflictsResolved
                + summary.pending
        } catch let error as SyncError {
            say("heal \(index) failed: \(error)")
            if error.code == .waitingForDecision { try await decide(index) }
            return 1
        }
    }

    func check() async throws {
        let server = try server()
        for (name, stamps) in expected where !deleted.contains(name) {
            let missing = stamps.subtracting(server[name]?.stamps ?? [])
            if !missing.isEmpty { fail("\(name): \(missing.sorted()) missing on the server") }
        }
        for (index, actor) in actors.enumerated() {
            let engine = actor.engine
            let models = try await within("allModels") { try await engine.allModels() }
            let shown = models.reduce(into: [:]) { $0[$1.recordName] = $1 }
            if shown != server { fail("\(index) shows \(shown), the server has \(server)") }
            let parked = try await within("parked") { try await engine.parkedChanges() }
            if !parked.isEmpty { fail("\(index) parked \(parked)") }
            try await consume(index)
            if actor.consumes, actor.mirror != server {
                fail("the app on \(index) has \(actor.mirror), the server has \(server)")
            }
        }
    }

    /// One more sync sends no changes and resolves no conflicts.
    func checkQuiet() async throws {
        for (index, actor) in actors.enumerated() {
            let engine = actor.engine
            let before = (actor.device.database.count(.modify), actor.device.database.count(.zones))
            let summary = try await within("last sync \(index)") { try await engine.sync() }
            let after = (actor.device.database.count(.modify), actor.device.database.count(.zones))
            if summary != SyncSummary() || before != after { fail("\(index) is not quiet: \(summary)") }
        }
    }
}
