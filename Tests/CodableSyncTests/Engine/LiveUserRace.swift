@testable import CodableSync

/// One device on which two users sign in in turn, while a view makes calls for the models that it shows.
@MainActor
final class LiveUserRace {
    private let clock = ManualClock()
    private let account: AccountDatabase
    private let cloud: FakeCloud
    private let phone: Device<Note>
    private var engine: SyncEngine<Note>
    private var live: LiveModels<Note>
    private var random: SplitMix64
    private var made: Set<String> = []
    private var tasks: [Task<Void, Never>] = []
    private var number = 0
    private(set) var log: [String] = []
    private(set) var failures: [String] = []

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let cloud = FakeCloud(clock: clock)
        self.cloud = cloud
        account = AccountDatabase(user: "alice") { cloud.database(user: $0) }
        phone = Device(account, clock: clock) { $0.automaticallySyncs = true }
        engine = phone.engine
        live = LiveModels(engine)
    }

    func run() async throws {
        for user in ["alice", "bob"] {
            let device = Device<Note>(cloud.database(user: user))
            try await device.engine.upload(Note("\(user)-0"))
            try await device.engine.sync()
            try await device.engine.close()
        }
        try await engine.sync()
        for _ in 0..<Int.random(in: 10...40, using: &random) { try await step() }
        for task in tasks { await task.value }
        // After a reset, the list does not show the calls that are still to be refused.
        await engine.waitUntilIdle()
        let refused = refusedNames()
        for user in ["alice", "bob"] { try await check(user, without: refused) }
        try await engine.close()
    }

    private func step() async throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1, 2, 3: addForTheShownUser()
        case 4, 5:
            let user = Bool.random(using: &random) ? "alice" : "bob"
            log.append("sign in \(user)")
            account.signIn(user)
        case 6: sync()
        case 7:
            log.append("restart")
            addForTheShownUser()
            try await engine.close()
            engine = SyncEngine(database: phone.database, configuration: phone.configuration)
            live = LiveModels(engine)
        case 8:
            let engine = engine
            tasks.append(Task { await engine.waitUntilIdle() })
        default: for _ in 0..<Int.random(in: 0..<80, using: &random) { await Task.yield() }
        }
    }

    private func sync() {
        let engine = engine
        log.append("sync")
        tasks.append(
            Task {
                do {
                    try await engine.sync()
                } catch let error as SyncError where [.cloud, .closed].contains(error.code) {
                    // The network is fine, but the account may change during a request.
                } catch {
                    failures.append("sync: \(error)")
                }
            }
        )
    }

    /// The user whose models are on the screen adds a note.
    private func addForTheShownUser() {
        let users = ["alice", "bob"].filter { live.models["\($0)-0"] != nil }
        if users.count > 1 { failures.append("both users' models are shown") }
        guard let user = users.first else { return }
        number += 1
        let name = "\(user)-\(number)"
        log.append("add \(name)")
        live.add(Note(name))
        made.insert(name)
    }

    private func refusedNames() -> Set<String> {
        var names: Set<String> = []
        for case .callRefused(let refused, let error) in phone.events.all {
            if error.code != .userChanged { failures.append("\(refused): \(error)") }
            names.formUnion(refused)
        }
        return names
    }

    /// Asserts that a user has exactly the notes that were made for them and not refused.
    private func check(_ user: String, without refused: Set<String>) async throws {
        account.signIn(user)
        for _ in 0..<1000 where live.models["\(user)-0"] == nil {
            await engine.waitUntilIdle()
            await Task.yield()
            clock.advance(by: .seconds(1))
        }
        try await engine.sync()
        try await live.settle()
        let device = Device<Note>(cloud.database(user: user))
        try await device.engine.sync()
        let there = try await device.engine.allModels().map(\.id)
        try await device.engine.close()
        let wanted = made.subtracting(refused).filter { $0.hasPrefix(user) }.union(["\(user)-0"]).sorted()
        if live.models.keys.sorted() != wanted { failures.append("the list: \(live.models.keys.sorted())") }
        if there != wanted { failures.append("the cloud of \(user): \(there), expected: \(wanted)") }
    }
}
