import Dispatch
import RecordCoding

import class Foundation.ProcessInfo
import class Foundation.Thread

/// The engine's directory, with a lock for its one owner and a state for each user.
///
/// It contains `lock` and `users/1/`, `users/2/` …, each with a log whose header says whose it is and at which switch
/// of users it was entered. The one with the greatest number is the current one; nothing else says so.
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
    private let fileSystem: any FileSystem
    private let identity: StateIdentity
    private let compactionSize: UInt64
    private let place: DirectoriesInRelease.Place
    private let newLog: @Sendable (String) -> UInt64
    private let lock: any FileLock

    /// Creates and locks a directory.
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
        newLog: @escaping @Sendable (String) -> UInt64 = { _ in JSONLog.anyNumber() },
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

    // MARK: Opening

    /// Opens the state that was entered last, or the one that no user has claimed yet.
    ///
    /// - Returns: The store and the state.
    /// - Throws: ``Failure``, or ``JournalFailure`` if a new state could not be created. If it cannot be read whose a
    ///   state is, none is opened, since that one may be the last.
    package func openLast() throws -> JSONStateStore.Opened {
        let numbers = try numbersOnDisk()
        if numbers.count <= 1 { return try open(numbers.first ?? Self.firstNumber) }
        var last: (number: Int64, switchCount: UInt64)?
        var doubtful: [Int64] = []
        for number in numbers {
            var count: UInt64 = 0
            switch try header(of: number) {
            case .missing: break
            case .label(let label): count = label.switchCount
            case .damaged:
                count = try rows(of: number).switchCount
                doubtful.append(number)
            }
            if last.map({ count > $0.switchCount }) ?? true { last = (number, count) }
        }
        var opened = try open(last?.number ?? Self.firstNumber)
        if doubtful.contains(where: { $0 != opened.number }) {
            // That state may have been entered later than its rows say, so the app may have its changes.
            try opened.changeOrClose { $0.startOver() }
        }
        return opened
    }

    /// Opens or creates the state of a user, which does not become the current one.
    ///
    /// - Parameters:
    ///   - user: The user record name.
    ///   - open: The number of the state that is open, if any.
    /// - Returns: The store and the state, which belongs to that user.
    /// - Throws: ``Failure``, or ``JournalFailure`` if a new state could not be created. If it cannot be read whose
    ///   a state is, no new one is created, since that one may be the user's.
    package func open(for user: String, beside open: Int64? = nil) throws -> JSONStateStore.Opened {
        let numbers = try numbersOnDisk()
        var found: Int64?
        var greatest: UInt64 = 0
        var failure: (any Error)?
        for number in numbers where number != open {
            do {
                let label = try label(of: number)
                greatest = max(greatest, label.switchCount)
                if found == nil, label.user?.isIdentical(to: user) == true { found = number }
            } catch {
                failure = failure ?? error
            }
        }
        if found == nil, let failure { throw failure }
        // Also if the directory of the open state was moved away.
        let unused = Self.unused(numbers + [open].compactMap { $0 })
        var opened = try self.open(found ?? unused, for: user)
        opened.greatestSwitchCount = greatest
        if opened.state.summary.signOut != nil { try opened.changeOrClose { $0.claim(by: user) } }
        return opened
    }

    private func header(of number: Int64) throws -> NewestHeader {
        do {
            return try JSONStateStore.newestHeader(in: directory(number), fileSystem)
        } catch {
            throw Failure(error, in: directory(number))
        }
    }

    /// Whose a state is.
    private func label(of number: Int64) throws -> StateLabel {
        switch try header(of: number) {
        case .missing: return StateLabel()
        case .label(let label) where label.user != nil: return label
        case .label, .damaged: return try rows(of: number)
        }
    }

    /// Whose a state is according to its rows; nothing is changed.
    private func rows(of number: Int64) throws -> StateLabel {
        let found: (label: StateLabel, isDamaged: Bool)
        do {
            found = try JSONStateStore.labelInRows(of: directory(number), fileSystem)
        } catch {
            throw Failure(error, in: directory(number))
        }
        if found.label.user == nil, found.isDamaged {
            throw Failure.unreadable(
                "\"\(directory(number).shortenedForMessage)\" is damaged, and doesn't say whose state it is. "
                    + "Restore it from a backup, or move it away; the edits in it that were not sent are lost then."
            )
        }
        return found.label
    }

    private func numbersOnDisk() throws -> [Int64] {
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

    private func directory(_ number: Int64) -> String {
        path.appending(path: "users").appending(path: String(number))
    }

    /// Opens a state, or creates it for a user.
    private func open(_ number: Int64, for user: String? = nil) throws -> JSONStateStore.Opened {
        var opened = try open(directory(number), of: user)
        opened.number = number
        // A new state lacks both; damage may have cost one.
        let (isNew, lacksZone) = (
            opened.state.summary.identity == nil, opened.state.number(of: identity.zoneID) == nil
        )
        if !isNew, !lacksZone { return opened }
        try opened.changeOrClose { state in
            if isNew { state.begin(as: identity) }
            if lacksZone { state.register(identity.zoneID, as: state.numberForNewZone()) }
        }
        return opened
    }

    /// The lowest free number; there may be none after the highest.
    private static func unused(_ numbers: [Int64]) -> Int64 {
        let taken = Set(numbers)
        var number = firstNumber
        while taken.contains(number) { number += 1 }
        return number
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
            throw Failure.foreign("\"\(path.shortenedForMessage)\" \(state.difference)")
        } catch {
            throw Failure(error, in: directory)
        }
    }
}

extension JSONStateStore.Opened {
    /// Changes the opened state, and stores what changed.
    ///
    /// - Throws: ``JournalFailure``; the state is closed then.
    fileprivate mutating func changeOrClose(_ body: (inout SyncState) -> Void) throws {
        do {
            try store.change(&state, body)
        } catch {
            store.close()
            throw error
        }
    }
}
