import struct Foundation.Date

/// Finding the users' directories from their journals.
extension StateDirectory {
    /// Finds users without an index, from the directories themselves, starting with the one that fetched
    /// last.
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
                if summary.isFollowed { followerDoubt.withLock { $0 = true } }
                return (StateUser(number: number, name: summary.user), summary.lastFetch ?? .distantPast)
            } catch {
                // An unreadable directory does not block other users, and is opened for none.
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

    /// Reads the owners of directories that are known only from the index, since directories may have been
    /// swapped.
    ///
    /// - Returns: Whether a directory has another owner than the index says.
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
                // An unreadable directory does not block other users, and is opened for none.
            }
        }
        return hasLearned
    }

    /// Returns, only once, whether the app may have accepted another user's changes than those of the opened
    /// state.
    ///
    /// Normally, it has those of the last known user: a switch is stored only after the next user's state
    /// was made to begin with a reset.
    package func takeFollowerDoubt() -> Bool {
        followerDoubt.withLock { doubt in
            defer { doubt = false }
            return doubt
        }
    }

    /// Notes that the app may have accepted the changes of one of these states.
    func doubtFollower(of opened: JSONStateStore.Opened...) {
        if opened.contains(where: { $0.state.summary.isFollowed }) { followerDoubt.withLock { $0 = true } }
    }

    /// The lowest free number; there may be none after the highest.
    static func unused(_ numbers: [Int64]) -> Int64 {
        let taken = Set(numbers)
        var number = firstNumber
        while taken.contains(number) { number += 1 }
        return number
    }
}
