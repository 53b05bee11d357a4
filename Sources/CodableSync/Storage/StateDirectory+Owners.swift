import struct Foundation.Date

/// Whose the directories are, by what is written in them.
extension StateDirectory {
    /// Without an index: the directories themselves, that which fetched last first.
    func findUsers() throws {
        let numbers = try numbersOnDisk()
        guard numbers.count > 1 else {
            users.withLock { $0 = numbers.map { StateUser(number: $0) } }
            return
        }
        var failure: (any Error)?
        let found = numbers.map { number -> (user: StateUser, lastFetch: Date?) in
            do {
                let opened = try open(StateUser(number: number))
                defer { opened.store.close() }
                let summary = opened.state.summary
                return (StateUser(number: number, name: summary.user), summary.lastFetch ?? .distantPast)
            } catch {
                // Nobody else is held up by it, and nobody gets it.
                failure = error
                return (StateUser(number: number), nil)
            }
        }
        if let failure, found.allSatisfy({ $0.lastFetch == nil }) { throw failure }
        let sorted = found.sorted { first, second in
            guard let date = first.lastFetch else { return false }
            return second.lastFetch.map { date > $0 } ?? true
        }
        users.withLock { $0 = sorted.map(\.user) }
    }

    /// Reads whose the directories are of which only the index has said it: one user's may stand in the place of
    /// another's, and would never be opened again.
    ///
    /// - Returns: Whether any of them is another's than was known.
    func learnOwners(except number: Int64?) throws -> Bool {
        var hasLearned = false
        for onDisk in try numbersOnDisk() where onDisk != number {
            guard readNumbers.withLock({ $0.insert(onDisk).inserted }) else { continue }
            let user = users.withLock { $0.first { $0.number == onDisk } } ?? StateUser(number: onDisk)
            do {
                let opened = try open(user)
                opened.store.close()
                guard let owner = opened.state.summary.user, user.name?.isIdentical(to: owner) != true else {
                    continue
                }
                learn(StateUser(number: onDisk, name: owner))
                hasLearned = true
            } catch is Failure {
                // Nobody else is held up by it, and nobody gets it.
            }
        }
        return hasLearned
    }
}
