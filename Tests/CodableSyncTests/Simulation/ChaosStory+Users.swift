@testable import CodableSync

// Two users on the same devices: each user's edits must reach that user's records, and nobody else's.
extension ChaosStory {
    func changeUser(_ actor: Actor, _ index: Int) {
        let user = ["alice", "bob", nil].randomElement(using: &random) ?? nil
        say("user of \(index): \(user ?? "nobody")")
        if let user { actor.fake.signIn(user: user) } else { actor.fake.signOut() }
        actor.remembered = [:]
    }

    private func switches(of actor: Actor) -> [(from: String?, to: String?)] {
        actor.device.events.all.compactMap { event in
            if case .accountChanged(let from, let to) = event { (from, to) } else { nil }
        }
    }

    /// The number of user changes that the engine's events have reported.
    func stay(of actor: Actor) -> Int { switches(of: actor).count }

    /// After a change of user, the app forgets the copies that it showed before.
    func forgetFormerUser(_ actor: Actor) {
        let user = lastUser(of: actor)
        if actor.shownUser != user { actor.remembered = [:] }
        actor.shownUser = user
    }

    /// The last user that the app was told about.
    func lastUser(of actor: Actor) -> String? { switches(of: actor).compactMap(\.to).last }

    /// The user that edits of a stay belong to: while nobody is signed in, the last user, or else the next
    /// one.
    private func owner(_ stay: Int, of actor: Actor) -> String {
        let switches = switches(of: actor)
        let users = [switches.first?.from] + switches.map(\.to)
        let before = users[...stay].compactMap { $0 }.last
        return before ?? users[stay...].compactMap { $0 }.first ?? user
    }

    /// Syncs all devices until they are idle, first with one user, then with the other.
    func healUsers() async throws {
        for user in ["bob", "alice"] {
            self.user = user
            try await heal()
        }
        let last = Bool.random(using: &random) ? "bob" : "alice"
        user = last
        if last == "bob" { try await heal() }
        var owners: [String: String?] = [:]
        for write in writes {
            let users = Set(write.stays.map { owner($0, of: actors[write.index]) })
            owners[write.stamp] = users.count == 1 ? users.first : .some(nil)
            say("\(write.stamp) is of \(users.sorted())")
        }
        for user in ["alice", "bob"] {
            self.user = user
            let server = try server()
            for write in writes where owners[write.stamp] == user && !deleted.contains(write.name) {
                if server[write.name]?.stamps.contains(write.stamp) != true {
                    fail("\(write.stamp) of \(user) is missing in \(write.name)")
                }
            }
            for (name, model) in server {
                for stamp in model.stamps where !carriedOver.contains(stamp) {
                    if let owner = owners[stamp] ?? nil, owner != user {
                        fail("\(user) has \(stamp) in \(name)")
                    }
                }
            }
        }
        user = last
    }
}
