import RecordCoding

/// A ledger's files: a line with its identifier, then one line for each entry.
struct LedgerFiles: Sendable {
    var path: String
    var fileSystem: any FileSystem

    static let format = "CodableSync.Ledger"
    static let version: UInt64 = 2
    /// The lock for reading and writing.
    var lockPath: String { path.appending(path: "lock") }
    /// The lock for compacting, which does not block reading and writing.
    var compactionLockPath: String { path.appending(path: "compaction.lock") }

    /// A file that exists while a process waits for the lock.
    private var wantedPath: String { path.appending(path: "wanted.lock") }

    private static let identifierStart = Array(#"{"ledger":""#.utf8)
    private static let identifierEnd = Array(#""}"#.utf8)

    static func line(identifier: String) -> [UInt8] {
        identifierStart + Array(identifier.utf8) + identifierEnd
    }

    /// Tries to take the lock without waiting for it.
    ///
    /// The directory may be missing at first, and may be removed at any time.
    func lock() throws(FileError) -> LockOutcome {
        if try fileSystem.status(of: path) == nil { try fileSystem.createDirectory(at: path) }
        return try fileSystem.lock(lockPath)
    }

    /// Asks the process that holds the lock for a turn.
    func wantLock() {
        do {
            if try fileSystem.status(of: wantedPath) == nil {
                try fileSystem.openFile(at: wantedPath, for: .replacing).close()
            }
        } catch {
            // Without this file the wait may be longer; the next attempt reports the lock's own errors.
        }
    }

    /// Whether a process has asked for a turn and has not had it yet.
    var isLockWanted: Bool {
        do {
            return try fileSystem.status(of: wantedPath) != nil
        } catch {
            return false  // The next batch reports the disk's error.
        }
    }

    /// Withdraws the request for a turn: it was granted, or the process that made it is gone.
    func forgetLockWanted() {
        do {
            if isLockWanted { try fileSystem.remove(wantedPath) }
        } catch {
            // Another process has removed the file, or the next batch pauses once without need.
        }
    }

    /// The current journal, determined from names and sizes; `nil` if there is none.
    func newestJournal() throws -> LogStamp? {
        guard try fileSystem.status(of: path) != nil else { return nil }
        let names = try fileSystem.contents(ofDirectory: path).compactMap { LogFileName($0) }
        guard let newest = names.filter({ $0.kind == .journal }).max(by: { $0.number < $1.number }),
            let status = try fileSystem.status(of: path.appending(path: newest.text))
        else { return nil }
        return LogStamp(name: newest, identity: status.identity, size: status.size)
    }

    /// Opens the log, and builds the ledger from its lines.
    ///
    /// - Parameters:
    ///   - identifier: The identifier for a new ledger.
    ///   - ledger: Makes an empty ledger.
    /// - Returns: The log, the ledger unless it has no identifier yet, and its newest seal.
    /// - Throws: ``FileError``, ``LogError``, or ``CloudError``.
    func load(
        named identifier: String,
        _ ledger: (String) -> CloudLedger
    ) throws -> (log: JSONLog, ledger: CloudLedger?, seal: LedgerSeal?) {
        var loaded: CloudLedger?
        var seal: LedgerSeal?
        var reading = try JSONLog.read(
            in: path,
            fileSystem,
            format: Self.format,
            versions: Self.version...Self.version,
            isShared: true
        ) { line, position in
            guard var known = loaded else {
                loaded = ledger(try self.identifier(in: line, position))
                return
            }
            // Keep a single reference, since otherwise each line would copy the ledger.
            loaded = nil
            seal = try apply(line, position, to: &known) ?? seal
            loaded = known
        }
        let label = reading.label ?? Self.line(identifier: loaded?.identifier ?? identifier)
        let log = try reading.open(label: label, newLog: LedgerToken.mark([identifier])).log
        return (log, loaded, seal)
    }

    /// Applies a line to the ledger.
    ///
    /// - Returns: The seal, if the line is one.
    func apply(
        _ line: UnsafeRawBufferPointer,
        _ position: LogPosition,
        to ledger: inout CloudLedger
    ) throws -> LedgerSeal? {
        let entry: LedgerEntry
        do {
            entry = try LedgerEntry(json: line)
        } catch {
            throw unreadable(position, "\(error)")
        }
        let isInSnapshot = LogFileName(identifier: position.file).kind == .snapshot
        guard ledger.canFollow(entry, isInSnapshot: isInSnapshot) else {
            throw unreadable(position, "it cannot follow the lines before it")
        }
        ledger.apply(entry)
        return LedgerSeal(entry, line, position)
    }

    private func identifier(in line: UnsafeRawBufferPointer, _ position: LogPosition) throws -> String {
        let name = line.dropFirst(Self.identifierStart.count).dropLast(Self.identifierEnd.count)
        let text = String(decoding: name, as: UTF8.self)
        guard !text.isEmpty, line.elementsEqual(Self.line(identifier: text)) else {
            throw unreadable(position, "it does not name the ledger")
        }
        return text
    }

    private func unreadable(_ position: LogPosition, _ reason: String) -> CloudError {
        let file = path.appending(path: LogFileName(identifier: position.file).text).shortenedForMessage
        return CloudError(
            .badDatabase,
            message: "\"\(file)\" has a line at byte \(position.offset) that cannot be read: "
                + "\(reason.withoutPeriod). \(CloudLedger.adviceToReplace)"
        )
    }
}

/// The newest line that starts an epoch; if it is no longer at its position, the files were restored from a
/// backup.
struct LedgerSeal: Sendable {
    private let bytes: [UInt8]
    private let position: LogPosition

    /// Creates a seal from a line; `nil` if the line does not start an epoch.
    init?(_ entry: LedgerEntry, _ line: some Sequence<UInt8>, _ position: LogPosition) {
        guard case .epochBegan = entry.change else { return nil }
        bytes = Array(line)
        self.position = position
    }

    func stands(in log: JSONLog) throws -> Bool {
        do {
            return try log.read(position) == bytes
        } catch LogError.unknownPosition {
            return false
        }
    }
}
