@testable import CodableSync

/// One device on which two users sign in in turn, while a view makes calls for the models that it shows.
@MainActor
final class LiveUserRace: LiveRacing {
    private let clock = ManualClock()
    private let account: AccountDatabase
    private let cloud: FakeCloud
    private let phone: Device<Note>
    private var engine: SyncEngine<Note>
    private var live: LiveModels<Note>
    private var random: SplitMix64
    private var made: Set<String> = []
    /// The titles that calls gave each user's first note, in order.
    private var titles: [String: [String]] = ["alice": [""], "bob": [""]]
    private var deleted: Set<String> = []
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
        let refused = refusals()
        for user in ["alice", "bob"] { try await check(user, refused) }
        try await engine.close()
    }

    private func step() async throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: addForTheShownUser()
        case 2: editForTheShownUser()
        case 3: deleteForTheShownUser()
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

    /// The user whose models are on the screen.
    private var shownUser: String? {
        let users = ["alice", "bob"].filter { live.models["\($0)-0"] != nil }
        if users.count > 1 { failures.append("both users' models are shown") }
        return users.first
    }

    private func editForTheShownUser() {
        guard let user = shownUser, let note = live.models["\(user)-0"] else { return }
        number += 1
        let title = "\(user) \(number)"
        log.append("edit \(note.id): \(title)")
        live.edit(note) { $0.title = title }
        titles[user]?.append(title)
    }

    private func deleteForTheShownUser() {
        guard let user = shownUser,
            let note = live.models.values.filter({ $0.id != "\(user)-0" }).min(by: { $0.id < $1.id })
        else { return }
        log.append("delete \(note.id)")
        live.delete(note)
        deleted.insert(note.id)
    }

    private func addForTheShownUser() {
        guard let user = shownUser else { return }
        number += 1
        let name = "\(user)-\(number)"
        log.append("add \(name)")
        live.add(Note(name))
        made.insert(name)
    }

    /// How many calls were refused for each note.
    private func refusals() -> [String: Int] {
        var counts: [String: Int] = [:]
        for case .callRefused(let refused, let error) in phone.events.all {
            if error.code != .userChanged { failures.append("\(refused): \(error)") }
            for name in refused { counts[name, default: 0] += 1 }
        }
        return counts
    }

    /// Asserts that a user has exactly the notes that were made for them and not refused.
    private func check(_ user: String, _ refused: [String: Int]) async throws {
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
        let notes = try await device.engine.allModels()
        try await device.engine.close()
        if live.models.values.sorted(by: { $0.id < $1.id }) != notes {
            let names = live.models.keys.sorted()
            failures.append("the list of \(user): \(names), the cloud: \(notes.map(\.id))")
        }
        checkNames(Set(notes.map(\.id)), of: user, refused)
        // Of several edits, the last one that was not refused counts.
        let possible = titles[user]?.suffix(1 + (refused["\(user)-0"] ?? 0)) ?? []
        let title = notes.first { $0.id == "\(user)-0" }?.title
        if !possible.contains(where: { $0 == title }) {
            failures.append("the title of \(user): \(title ?? "none"), expected: \(possible)")
        }
    }

    private func checkNames(_ there: Set<String>, of user: String, _ refused: [String: Int]) {
        if !there.contains("\(user)-0") { failures.append("lost: \(user)-0") }
        for name in made where name.hasPrefix(user) {
            let isThere = there.contains(name)
            if !deleted.contains(name) {
                if isThere == (refused[name] != nil) { failures.append("\(name) is there: \(isThere)") }
            } else if isThere, refused[name] == nil {
                failures.append("back: \(name)")
            }
        }
        let unknown = there.filter { $0 != "\(user)-0" && !made.contains($0) || !$0.hasPrefix(user) }
        if !unknown.isEmpty { failures.append("too many: \(unknown.sorted())") }
    }
}
