import Dispatch
import RecordCoding

import struct Foundation.Date
import class Foundation.ProcessInfo

/// The engine's directory: a lock for its one owner, and a state for each user below it.
///
/// `lock` · `users/1/`, `users/2/` … with a journal each, which says itself whose it is and what it belongs to ·
/// `users.json`, which says whose was opened last. That file is an index: what it says wrongly, or no longer says
/// because it is lost or damaged, is found in the journals again.
package final class StateDirectory: Sendable {
    /// Why a directory cannot be used.
    package enum Failure: Error, Equatable {
        case inUse(by: String)
        case full(String)
        case tooNew(String)
        case unreadable(String)
        /// It belongs to something else than the engine is set up for.
        case foreign(String)
    }

    let path: String
    let fileSystem: any FileSystem
    private let identity: StateIdentity
    private let compactionSize: UInt64
    private let place: DirectoriesInRelease.Place
    private let newLog: @Sendable (String) -> UInt64
    private let lock: any FileLock
    let users: Locked<[StateUser]>
    /// The directories of which it was read whose they are.
    let readNumbers = Locked<Set<Int64>>([])
    /// The switch to the user who was here last, until the app is told of it.
    private let untold: Locked<UntoldSwitch?>
    /// Why the index had to be made anew from the journals, if it had to be.
    private let indexDamage: Locked<String?>

    /// Takes possession of a directory.
    ///
    /// - Parameters:
    ///   - path: The directory; it is created if it is missing.
    ///   - identity: What its states must belong to.
    ///   - fileSystem: How to reach it.
    ///   - compactionSize: The size from which a state's files are made smaller.
    ///   - newLog: Draws the random number of a state that begins in a directory.
    ///   - releaseTimeout: How long to wait for an engine of this process that is being closed; its disk may have
    ///     stopped answering.
    /// - Throws: ``Failure``; then nothing was changed.
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
            guard DirectoriesInRelease.shared.wait(for: place, atMost: releaseTimeout) else {
                throw Failure.inUse(by: "another engine of this process that is being closed")
            }
            switch try fileSystem.lock(path.appending(path: "lock")) {
            case .acquired(let lock): self.lock = lock
            case .held(let process):
                throw Failure.inUse(by: Self.words(for: process))
            }
        } catch {
            throw Failure(error, in: path)
        }
        do {
            let index = try UserIndex.read(from: path, fileSystem)
            users = Locked(index.users)
            untold = Locked(index.untold)
            indexDamage = Locked(index.damage)
        } catch {
            lock.release()
            throw error
        }
    }

    /// An app that reads of a number alone cannot know that it is its own.
    private static func words(for process: Int?) -> String {
        guard let process else { return "another process" }
        let isThis = process == Int(ProcessInfo.processInfo.processIdentifier)
        return isThis ? "another engine of this process (\(process))" : "process \(process)"
    }

    /// Lets another owner in.
    package func release() {
        lock.release()
    }

    /// Announces that the directory will be released soon, so that an opening waits; touches no file.
    package func beginRelease() {
        DirectoriesInRelease.shared.begin(place)
    }

    /// The release that was begun is done.
    package func endRelease() {
        DirectoriesInRelease.shared.end(place)
    }

    /// Why the index had to be made anew from the journals, to be told once.
    package func takeIndexDamage() -> String? {
        indexDamage.withLock { damage in
            defer { damage = nil }
            return damage
        }
    }

    // MARK: Opening

    /// Opens the state of the user who was here last, or the one that nobody has claimed yet.
    ///
    /// - Returns: The store and the state.
    /// - Throws: ``Failure``, or ``JournalFailure`` if a new state could not be made.
    package func openLast() throws -> JSONStateStore.Opened {
        let isIndexMissing = users.withLock { $0.isEmpty }
        if isIndexMissing { try findUsers() }
        let last = users.withLock { $0.first } ?? StateUser(number: 1)
        let opened = try open(last)
        if let owner = opened.state.summary.user, let name = last.name, !owner.isIdentical(to: name) {
            // Swapped with another user's directory: the last user is not shown it.
            opened.store.close()
            learn(StateUser(number: last.number, name: owner))
            return try open(for: name, leaving: nil)
        }
        learn(StateUser(number: last.number, name: opened.state.summary.user ?? last.name))
        if isIndexMissing { renewIndex(isOwned: opened.state.summary.user != nil) }
        guard opened.state.summary.user == nil, let name = last.name else { return opened }
        return try claimed(opened, by: name)
    }

    /// Opens the state of a user, or makes it; the user who was here last stays so until ``commit(_:)``.
    ///
    /// - Parameters:
    ///   - name: The user record name.
    ///   - former: The state that is open, if one is, with whoever owns it by now.
    /// - Returns: The store and the state, which belongs to that user.
    /// - Throws: ``Failure``, or ``JournalFailure`` if a new state could not be made.
    package func open(for name: String, leaving former: StateUser?) throws -> JSONStateStore.Opened {
        if let former { learn(former) }
        while true {
            let known = knownUser(name, except: former?.number)
            if known == nil, try learnOwners(except: former?.number) { continue }
            let user =
                known ?? StateUser(number: Self.unused(users.withLock { $0.map(\.number) }), name: name)
            let opened = try open(user)
            // The journal knows whose it is; the index may have been lost, or come from a backup.
            guard let owner = opened.state.summary.user, !owner.isIdentical(to: name) else {
                let isTheirs = opened.state.summary.user != nil && opened.state.summary.signOut == nil
                return isTheirs ? opened : try claimed(opened, by: name)
            }
            opened.store.close()
            learn(StateUser(number: user.number, name: owner))
        }
    }

    /// The directory that is a user's by what is known, or one that nobody has claimed.
    private func knownUser(_ name: String, except number: Int64?) -> StateUser? {
        users.withLock { users in
            users.first { $0.name?.isIdentical(to: name) == true && $0.number != number }
                ?? users.first { $0.name == nil && $0.number != number }
        }
    }

    /// Makes a user the one who was here last: one file, replaced in one step.
    ///
    /// - Parameters:
    ///   - name: The user record name.
    ///   - number: The number of the user's directory.
    ///   - untold: What the app is to be told of it, now or after the next opening.
    /// - Throws: ``Failure`` if it could not be stored.
    package func commit(_ name: String, number: Int64, telling untold: UntoldSwitch? = nil) throws {
        let others = users.withLock { $0.filter { $0.number != number } }
        let committed = [StateUser(number: number, name: name)] + others
        do {
            try UserIndex.write(committed, untold, to: path, fileSystem)
        } catch {
            throw Failure(error, in: path)
        }
        users.withLock { $0 = committed }
        self.untold.withLock { $0 = untold }
    }

    /// The switch that led to the user who was here last, if the app has still to be told of it.
    package var untoldSwitch: UntoldSwitch? { untold.withLock { $0 } }

    /// The app was told of the switch; where that cannot be noted, it is told once more after the next opening.
    ///
    /// Called on the journal's queue, which is waited for before the next switch is written.
    package func forgetUntoldSwitch() {
        guard untoldSwitch != nil else { return }
        do {
            try UserIndex.write(users.withLock { $0 }, to: path, fileSystem)
            untold.withLock { $0 = nil }
        } catch {
            // Told twice is better than never.
        }
    }

    /// A second witness of whose the directories are, should a journal be damaged.
    private func renewIndex(isOwned: Bool) {
        do {
            if isOwned {
                try UserIndex.write(users.withLock { $0 }, to: path, fileSystem)
            } else if indexDamage.withLock({ $0 != nil }) {
                try UserIndex.remove(from: path, fileSystem)
            }
        } catch {
            // The journals say the same, and the next opening tries again.
        }
    }

    /// Notes whose a directory is.
    func learn(_ user: StateUser) {
        users.withLock { users in
            if let index = users.firstIndex(where: { $0.number == user.number }) {
                users[index] = user
            } else {
                users.append(user)
            }
        }
    }

    /// The lowest free number; there may be none after the highest.
    private static func unused(_ numbers: [Int64]) -> Int64 {
        let taken = Set(numbers)
        var number: Int64 = 1
        while taken.contains(number) { number += 1 }
        return number
    }

    func numbersOnDisk() throws -> [Int64] {
        do {
            let directory = path.appending(path: "users")
            guard try fileSystem.status(of: directory)?.kind == .directory else { return [] }
            // Only the canonical form counts: no sign, no leading zero.
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
            if opened.state.summary.identity == nil { try opened.append([.made(for: identity)]) }
        } catch {
            opened.store.close()
            throw error
        }
        return opened
    }

    private func claimed(_ opened: JSONStateStore.Opened, by name: String) throws -> JSONStateStore.Opened {
        var opened = opened
        do {
            try opened.append([.claimed(by: name)])
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
    /// Stores facts, and makes them part of what was opened.
    ///
    /// - Throws: ``JournalFailure``; then nothing has changed.
    fileprivate mutating func append(_ entries: [JournalEntry]) throws {
        try store.append([JournalBatch(batch: 0, entries: entries, contents: [:], flush: true)])
        for entry in entries { state.apply(entry) }
    }
}
