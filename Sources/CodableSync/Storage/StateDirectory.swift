import Dispatch
import RecordCoding

import struct Foundation.Date
import class Foundation.ProcessInfo
import class Foundation.Thread

/// The engine's directory, with a lock for its one owner and a state for each user.
///
/// It contains `lock`; `users/1/`, `users/2/` …, each with a journal that identifies its user and what it
/// belongs to; and `users.json`, which names the user whose state was opened last. That file is an index: if
/// it is wrong, lost or damaged, it is restored from the journals.
package final class StateDirectory: Sendable {
    /// Why a directory cannot be used.
    package enum Failure: Error, Equatable {
        case inUse(by: String)
        case full(String)
        case tooNew(String)
        case tooOld(String)
        case unreadable(String)
        /// The directory belongs to another cloud, container, zone or record type.
        case foreign(String)
    }

    /// The number of the first user's directory, which belongs to nobody until that user signs in.
    package static let firstNumber: Int64 = 1

    let path: String
    let fileSystem: any FileSystem
    private let identity: StateIdentity
    private let compactionSize: UInt64
    private let place: DirectoriesInRelease.Place
    private let newLog: @Sendable (String) -> UInt64
    private let lock: any FileLock
    let users: Locked<[StateUser]>
    /// The numbers of directories whose owners were read from their journals.
    let readNumbers = Locked<Set<Int64>>([])
    /// The switch to the last known user, until the app is notified of it.
    private let notice: Locked<PendingSwitchNotice?>
    /// Why the index had to be restored from the journals, if so.
    private let indexDamage: Locked<String?>
    /// See ``takeFollowerDoubt()``.
    let followerDoubt = Locked(false)

    /// Locks a directory and reads its index.
    ///
    /// - Parameters:
    ///   - path: The directory; it is created if it is missing.
    ///   - identity: What its states must belong to.
    ///   - fileSystem: The file system.
    ///   - compactionSize: The size from which a state's files are compacted.
    ///   - newLog: Draws the random number of a new state's log.
    ///   - releaseTimeout: How long to wait for an engine in this process that is being closed; its disk may
    ///     have stopped responding.
    /// - Throws: ``Failure``; nothing was changed then.
    package init(
        path: String,
        identity: StateIdentity,
        fileSystem: any FileSystem,
        compactionSize: UInt64 = JSONStateStore.compactionSize,
        newLog: @escaping @Sendable (String) -> UInt64 = { _ in LogMembership.anyNumber() },
        releaseTimeout: DispatchTimeInterval = .seconds(20)
    ) throws {
        self.newLog = newLog
        self.path = path
        self.identity = identity
        self.fileSystem = fileSystem
        self.compactionSize = compactionSize
        do {
            try fileSystem.createDirectory(at: path)
            place = DirectoriesInRelease.Place(path, on: fileSystem)
            lock = try Self.lock(path, place, fileSystem, releaseTimeout)
        } catch {
            throw Failure(error, in: path)
        }
        do {
            let index = try UserIndex.read(from: path, fileSystem)
            users = Locked(index.users)
            notice = Locked(index.notice)
            indexDamage = Locked(index.damage)
        } catch {
            lock.release()
            throw error
        }
    }

    /// Locks a directory.
    ///
    /// A released engine of this process that is still being opened has not said yet that it closes the directory, so
    /// a lock that is held by this process is tried again for 50 milliseconds.
    private static func lock(
        _ path: String,
        _ place: DirectoriesInRelease.Place,
        _ fileSystem: any FileSystem,
        _ releaseTimeout: DispatchTimeInterval
    ) throws -> any FileLock {
        var attempts = 50
        while true {
            guard DirectoriesInRelease.shared.wait(for: place, atMost: releaseTimeout) else {
                throw Failure.inUse(by: "another engine of this process that is being closed")
            }
            switch try fileSystem.lock(path.appending(path: "lock")) {
            case .acquired(let lock): return lock
            case .held(let process):
                attempts -= 1
                guard isThis(process), attempts > 0 else { throw Failure.inUse(by: words(for: process)) }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    private static func isThis(_ process: Int?) -> Bool {
        process == Int(ProcessInfo.processInfo.processIdentifier)
    }

    /// Describes a process, and says so if it is this one.
    private static func words(for process: Int?) -> String {
        guard let process else { return "another process" }
        return isThis(process) ? "another engine of this process (\(process))" : "process \(process)"
    }

    /// Releases the directory for another owner.
    package func release() {
        lock.release()
    }

    /// Announces that the directory will be released soon, so that an opening waits; accesses no file.
    package func beginRelease() {
        DirectoriesInRelease.shared.begin(place)
    }

    /// Ends the announced release.
    package func endRelease() {
        DirectoriesInRelease.shared.end(place)
    }

    /// Returns, only once, why the index had to be restored from the journals.
    package func takeIndexDamage() -> String? {
        indexDamage.withLock { damage in
            defer { damage = nil }
            return damage
        }
    }

    // MARK: Opening

    /// Opens the state of the last known user, or the one that no user has claimed yet.
    ///
    /// - Returns: The store and the state.
    /// - Throws: ``Failure``, or ``JournalFailure`` if a new state could not be created.
    package func openLast() throws -> JSONStateStore.Opened {
        let isIndexMissing = users.withLock { $0.isEmpty }
        if isIndexMissing { try findUsers() }
        let last = users.withLock { $0.first } ?? StateUser(number: Self.firstNumber)
        let opened = try open(last)
        if let owner = opened.state.summary.user, let name = last.name, !owner.isIdentical(to: name) {
            // The directory was swapped with another user's, which must not be shown to the last user.
            opened.store.close()
            learn(StateUser(number: last.number, name: owner))
            let theirs = try open(for: name, leaving: nil)
            doubtFollower(of: opened, theirs)
            return theirs
        }
        learn(StateUser(number: last.number, name: opened.state.summary.user ?? last.name))
        if isIndexMissing { renewIndex(isOwned: opened.state.summary.user != nil) }
        guard opened.state.summary.user == nil, let name = last.name else { return opened }
        return try claimed(opened, by: name)
    }

    /// Opens or creates the state of a user; the last known user stays the same until ``commit(_:)``.
    ///
    /// - Parameters:
    ///   - name: The user record name.
    ///   - former: The state that is open, if any, with its current owner.
    /// - Returns: The store and the state, which belongs to that user.
    /// - Throws: ``Failure``, or ``JournalFailure`` if a new state could not be created.
    package func open(for name: String, leaving former: StateUser?) throws -> JSONStateStore.Opened {
        if let former { learn(former) }
        while true {
            let known = knownUser(name, except: former?.number)
            if known == nil, try learnOwners(except: former?.number) { continue }
            let user =
                known ?? StateUser(number: Self.unused(users.withLock { $0.map(\.number) }), name: name)
            let opened = try open(user)
            // The journal names its owner; the index may have been lost or restored from a backup.
            guard let owner = opened.state.summary.user, !owner.isIdentical(to: name) else {
                let isTheirs = opened.state.summary.user != nil && opened.state.summary.signOut == nil
                return isTheirs ? opened : try claimed(opened, by: name)
            }
            opened.store.close()
            learn(StateUser(number: user.number, name: owner))
        }
    }

    /// The known directory of a user, or one that no user has claimed.
    private func knownUser(_ name: String, except number: Int64?) -> StateUser? {
        users.withLock { users in
            users.first { $0.name?.isIdentical(to: name) == true && $0.number != number }
                ?? users.first { $0.name == nil && $0.number != number }
        }
    }

    /// Records a user as the last known one, by replacing one file in one step.
    ///
    /// - Parameters:
    ///   - name: The user record name.
    ///   - number: The number of the user's directory.
    ///   - notice: The switch to report to the app, now or after the next opening.
    /// - Throws: ``Failure`` if the file could not be stored.
    package func commit(_ name: String, number: Int64, telling notice: PendingSwitchNotice? = nil) throws {
        let others = users.withLock { $0.filter { $0.number != number } }
        let committed = [StateUser(number: number, name: name)] + others
        do {
            try UserIndex.write(committed, notice, to: path, fileSystem)
        } catch {
            throw Failure(error, in: path)
        }
        users.withLock { $0 = committed }
        self.notice.withLock { $0 = notice }
    }

    /// The switch that led to the last known user, if the app was not notified of it yet.
    package var pendingSwitchNotice: PendingSwitchNotice? { notice.withLock { $0 } }

    /// Removes the notice of a switch that was reported to the app.
    ///
    /// If that fails, the app is notified again after the next opening. Called on the journal's queue, whose
    /// work is done before the next switch is written.
    package func forgetPendingSwitchNotice() {
        guard pendingSwitchNotice != nil else { return }
        do {
            try UserIndex.write(users.withLock { $0 }, to: path, fileSystem)
            notice.withLock { $0 = nil }
        } catch {
            // Reporting the switch twice is better than never.
        }
    }

    /// Writes the index again, as a second source for the owners in case a journal gets damaged.
    private func renewIndex(isOwned: Bool) {
        do {
            if isOwned {
                try UserIndex.write(users.withLock { $0 }, to: path, fileSystem)
            } else if indexDamage.withLock({ $0 != nil }) {
                try UserIndex.remove(from: path, fileSystem)
            }
        } catch {
            // The journals have the same information, and the next opening tries again.
        }
    }

    /// Notes the owner of a directory.
    func learn(_ user: StateUser) {
        users.withLock { users in
            if let index = users.firstIndex(where: { $0.number == user.number }) {
                users[index] = user
            } else {
                users.append(user)
            }
        }
    }

    func numbersOnDisk() throws -> [Int64] {
        do {
            let directory = path.appending(path: "users")
            guard try fileSystem.status(of: directory)?.kind == .directory else { return [] }
            // Only names in the canonical form are valid, without sign and leading zeros.
            return try fileSystem.contents(ofDirectory: directory)
                .compactMap { name in Int64(name).flatMap { String($0) == name ? $0 : nil } }
                .filter { $0 > 0 }
                .sorted()
        } catch {
            throw Failure.unreadable(error.message)
        }
    }

    // MARK: One user's state

    func open(_ user: StateUser) throws -> JSONStateStore.Opened {
        let directory = path.appending(path: "users").appending(path: String(user.number))
        var opened = try open(directory, of: user.name)
        opened.number = user.number
        do {
            if let difference = opened.state.summary.identity?.firstDifference(from: identity) {
                throw foreign(difference.inWords)
            }
            let entries = registrations(in: opened.state)
            if !entries.isEmpty { try opened.append(entries) }
        } catch {
            opened.store.close()
            throw error
        }
        return opened
    }

    /// The entries that a state of this identity lacks: all of a new one, or those lost to damage.
    private func registrations(in state: SyncState) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        if state.summary.identity == nil { entries.append(.account(.made(for: identity))) }
        if state.number(of: identity.zoneID) == nil {
            entries.append(.zones(.registered(state.numberForNewZone(), identity.zoneID)))
        }
        return entries
    }

    private func claimed(_ opened: JSONStateStore.Opened, by name: String) throws -> JSONStateStore.Opened {
        var opened = opened
        do {
            try opened.append([.account(.claimed(by: name))])
        } catch {
            opened.store.close()
            throw error
        }
        return opened
    }

    private func foreign(_ difference: String) -> Failure {
        .foreign("\"\(path.shortenedForMessage)\" \(difference)")
    }

    private func open(_ directory: String, of user: String?) throws -> JSONStateStore.Opened {
        do {
            return try JSONStateStore.open(
                directory: directory,
                fileSystem: fileSystem,
                identity: identity,
                user: user,
                compactionSize: compactionSize,
                newLog: { [newLog] in newLog(directory) }
            )
        } catch let state as ForeignState {
            throw foreign(state.difference)
        } catch {
            throw Failure(error, in: directory)
        }
    }
}

extension JSONStateStore.Opened {
    /// Stores entries, and applies them to the opened state.
    ///
    /// - Throws: ``JournalFailure``; nothing has changed then.
    fileprivate mutating func append(_ entries: [JournalEntry]) throws {
        try store.append(entries, to: &state)
    }
}
