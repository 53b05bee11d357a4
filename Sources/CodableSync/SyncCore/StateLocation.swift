import Dispatch
import Foundation
import RecordCoding

/// An opened state.
struct OpenedState: Sendable {
    var store: JSONStateStore
    var place: StatePlace
    var state: SyncState
    var nextHandle: UInt64
    /// Messages about what had to be recovered.
    var recovered: [String]
    /// Why damaged files or removed records could not be removed from disk, if so.
    var compactionFailure: String?
    /// The greatest number of switches that another state names.
    var greatestSwitchCount: UInt64

    /// Closes the files and releases the directory.
    func close() {
        store.close()
        place.directory.release()
    }
}

/// The location of an open state.
struct StatePlace: Sendable {
    let location: StateLocation
    /// The directory with the states of all users.
    let directory: StateDirectory
    /// The number of the user's directory.
    let number: Int64

    /// Whether the state belongs to the first user on this device, or to nobody yet.
    var isFirstUsers: Bool { number == StateDirectory.firstNumber }
}

/// Where an engine keeps its state: a separate directory for each cloud, container, scope and zone.
struct StateLocation: Sendable {
    private let path: String
    private let isInMemory: Bool
    private let fileSystem: any FileSystem
    private let identity: StateIdentity
    private let compactionSize: UInt64
    private let newLog: @Sendable (String) -> UInt64

    init(
        database: any CloudDatabase,
        configuration: SyncConfiguration,
        zoneID: ZoneID,
        recordType: String
    ) throws {
        let cloud = try database.identifier
        identity = StateIdentity(
            cloud: cloud,
            scope: database.scope.rawValue,
            container: configuration.containerIdentifier,
            zone: zoneID.zoneName,
            recordType: recordType
        )
        compactionSize = configuration.compactionSize
        newLog = Self.logNumbers(of: identity, seed: configuration.seed)
        switch configuration.storage {
        case .directory(let url):
            path = url.path
            isInMemory = false
        case .inMemory:
            path = "/state"
            isInMemory = true
        case .automatic:
            isInMemory = database.isInMemory
            path = isInMemory ? "/state" : Self.defaultPath(cloud, database.scope, configuration, zoneID)
        }
        fileSystem = configuration.fileSystem ?? (isInMemory ? MemoryFileSystem() : LocalFileSystem())
    }

    /// The identifier of the database.
    var cloud: String { identity.cloud }

    /// The path for diagnostics; `nil` if the state is in memory.
    var shownPath: String? { isInMemory ? nil : path }

    /// The directory's path if other engines in this process can use the same directory; `nil` otherwise.
    var sharedPath: String? {
        fileSystem is LocalFileSystem ? LocalFileSystem.canonicalPath(of: path) : nil
    }

    /// Creates a function that draws the number of a log: at random, or from the seed and the directory.
    private static func logNumbers(
        of identity: StateIdentity,
        seed: UInt64?
    ) -> @Sendable (String) -> UInt64 {
        guard let seed else { return { _ in .random(in: 0 ... .max) } }
        return { directory in
            var random = SplitMix64(seed: seed ^ StableHash.of("\(identity) \(directory)"))
            return random.next()
        }
    }

    private static func defaultPath(
        _ cloud: String,
        _ scope: DatabaseScope,
        _ configuration: SyncConfiguration,
        _ zoneID: ZoneID
    ) -> String {
        let container =
            configuration.containerIdentifier ?? Bundle.main.bundleIdentifier
            ?? ProcessInfo.processInfo.processName
        let parts = [container, cloud, scope.rawValue, zoneID.zoneName]
        return parts.reduce(DataDirectory.path.appending(path: "CodableSync")) { path, part in
            path.appending(path: fileName(for: part))
        }
    }

    /// A file name that is valid on every file system; different parts give different names.
    private static func fileName(for part: String) -> String {
        var name = ""
        for byte in part.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.append(Character(UnicodeScalar(byte)))
            case UInt8(ascii: ".") where !name.isEmpty:
                name.append(".")
            default:
                name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        if name.utf8.count <= 120 { return name.isEmpty ? "%" : name }
        return name.prefix(96) + "%~" + String(StableHash.of(part), radix: 16)
    }

    /// Opens the state of another user in the same directory; the former user's remains the current one.
    func open(
        for user: String,
        in directory: StateDirectory,
        beside former: Int64,
        at now: Moment
    ) async throws -> OpenedState {
        try await Self.besideTheActor {
            try prepare(try directory.open(for: user, beside: former), directory, now)
        }
    }

    /// Makes a state the current one, which commits a switch.
    ///
    /// - Parameters:
    ///   - opened: The state.
    ///   - former: The user to name when the app is notified; `nil` if it was notified of their sign-out.
    ///   - count: The number of switches until now.
    ///   - startsOver: Whether the app has accepted another user's changes, so that those of this state begin with a
    ///     reset.
    /// - Returns: The state as stored now.
    /// - Throws: ``SyncError``: the switch is not stored.
    func enter(
        _ opened: OpenedState,
        from former: String?,
        after count: UInt64,
        startsOver: Bool
    ) async throws -> OpenedState {
        try await Self.besideTheActor {
            var opened = opened
            let last = max(count, opened.greatestSwitchCount)
            try opened.store.enter(&opened.state, from: former, after: last, startsOver: startsOver)
            return opened
        }
    }

    /// Performs work that may block on a disk or another process, on a thread that may block.
    ///
    /// - Parameter work: The work.
    /// - Returns: What it returns.
    /// - Throws: ``SyncError`` in the place of an error of the files, or the error of the work.
    static func besideTheActor<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try translatingFailures(work) })
            }
        }
    }

    private static func translatingFailures<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch StateDirectory.Failure.inUse(let owner) {
            throw SyncError.stateInUse(by: owner)
        } catch StateDirectory.Failure.full(let detail) {
            throw SyncError.storageFull(detail)
        } catch StateDirectory.Failure.tooNew(let detail) {
            throw SyncError.stateTooNew(detail)
        } catch StateDirectory.Failure.tooOld(let detail) {
            throw SyncError.storageFailed(detail)
        } catch StateDirectory.Failure.unreadable(let detail) {
            throw SyncError.storageFailed(detail)
        } catch StateDirectory.Failure.foreign(let detail) {
            throw SyncError.configuration("storage: \(detail)")
        } catch let failure as JournalFailure {
            throw failure.syncError
        } catch let error as CloudError {
            throw SyncError.cloud(error)
        }
    }

    /// Opens the current state, on the caller's thread.
    func openLast(at now: Moment) throws -> OpenedState {
        let directory = try StateDirectory(
            path: path,
            identity: identity,
            fileSystem: fileSystem,
            compactionSize: compactionSize,
            newLog: newLog
        )
        do {
            return try prepare(try directory.openLast(), directory, now)
        } catch {
            directory.release()
            throw error
        }
    }

    private func prepare(
        _ opened: JSONStateStore.Opened,
        _ directory: StateDirectory,
        _ now: Moment
    ) throws -> OpenedState {
        do {
            var state = opened.state
            let (recovered, notReplaced) = try recover(opened, &state, now)
            var failure = notReplaced
            // After a crash or on a full disk, the files may still hold records of a user who has signed out.
            if state.summary.signOut == .removed, state.hasGoneRecords, failure == nil {
                failure = Self.compact(opened.store)
            }
            return OpenedState(
                store: opened.store,
                place: StatePlace(location: self, directory: directory, number: opened.number),
                state: state,
                nextHandle: opened.nextHandle,
                recovered: recovered,
                compactionFailure: failure,
                greatestSwitchCount: opened.greatestSwitchCount
            )
        } catch {
            opened.store.close()
            if error is JournalFailure { throw error }
            throw StateDirectory.Failure(error, in: directory.path)
        }
    }
}
