extension JSONLog {
    /// Opens a log, or begins one, and visits every committed line in the order in which they were committed.
    ///
    /// Nothing in the directory is changed before all of it has been read and visited. An interrupted end is cut
    /// off; other damage is left where it is, copied aside once, and reported at each opening until a
    /// compaction has replaced the files. Opening twice is the same as opening once.
    ///
    /// - Parameters:
    ///   - directory: Where the log is; it is made if it is missing.
    ///   - fileSystem: How to reach it.
    ///   - format: The name of the format, which each file says in its first line: ASCII without quotation marks.
    ///   - version: The newest version of the format that the caller reads, and the one it writes.
    ///   - membership: Finds files of other logs, which count as damaged as a whole and are not visited.
    ///   - isShared: Whether several processes use the log, each while it holds a lock of the caller's: then damage is
    ///     an error, since nobody could tell the others of it, and what others are writing beside the log is left.
    ///   - visit: Is given each line and where it is; the bytes are valid during the call only. It may throw
    ///     ``UnreadableLine``, which is damage of this line alone.
    /// - Returns: The log, and what was found.
    /// - Throws: ``FileError``, ``LogError``, or what else `visit` throws; then nothing was changed.
    package static func open(
        directory: String,
        fileSystem: any FileSystem,
        format: String,
        version: UInt64,
        membership: LogMembership = LogMembership(),
        isShared: Bool = false,
        visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void
    ) throws -> (log: JSONLog, recovery: LogRecovery) {
        let place = LogPlace(
            directory: directory,
            fileSystem: fileSystem,
            format: format,
            version: version,
            identity: Locked(LogIdentity(log: 0, label: []))
        )
        try fileSystem.createDirectory(at: directory)
        var contents = try LogContents(place, membership)
        if isShared, let damage = contents.recovery.damages.first {
            throw LogError.damaged(path: place.directory.appending(path: damage.file), damage)
        }
        for part in contents.parts {
            var counter = LineCounter(file: part.file)
            try LogScan.visit(part.ranges, of: part.file, part.name) { line, position in
                contents.recovery.visitedLines += 1
                do {
                    try visit(line, position)
                } catch let unreadable as UnreadableLine {
                    let line = try counter.number(ofLineAt: position.offset)
                    let damage = contents.report(unreadable, in: part, line: line, at: position.offset)
                    if isShared { throw LogError.damaged(path: part.file.path, damage) }
                }
            }
        }
        place.identity.withLock { [log = contents.log] in
            $0 = LogIdentity(log: log ?? membership.newLog(), label: membership.label())
        }
        let log = try contents.repaired(keepsTemporaryFiles: isShared)
        // The process that wrote these files may have been killed before a flush, and answers from them must last.
        try log.flushAsFound()
        if isShared { try log.noteTail() }
        return (log, contents.recovery)
    }
}

extension JSONLog {
    /// Flushes the last file that holds anything, and the names of all files; those before it were flushed when it
    /// was made.
    fileprivate func flushAsFound() throws {
        try writer.withLock { writer in
            let last = writer.active.ranges.isEmpty ? writer.parts.last : writer.active
            try last?.file.flush()
        }
        try place.fileSystem.syncDirectory(place.directory)
    }
}

/// Finds the numbers of lines by their offsets, which must grow: the file is read once, however many there are.
private struct LineCounter {
    let file: any OpenFile
    private var line = 1
    private var offset: UInt64 = 0

    init(file: any OpenFile) {
        self.file = file
    }

    mutating func number(ofLineAt position: UInt64) throws -> Int {
        var passed = 0
        try LogLines(file: file, range: offset..<max(offset, position)).forEach { _ in
            passed += 1
            return true
        }
        line += passed
        offset = position
        return line
    }
}

/// What stands in a log's directory, and which of it counts.
private struct LogContents {
    /// The files that count, in order.
    private(set) var parts: [LogPart] = []
    var recovery = LogRecovery()

    /// The number that the log's files share; `nil` if no header is readable.
    let log: UInt64?

    private let place: LogPlace
    private let names: [String]
    /// Files that are not of this log.
    private let strangers: Set<LogFileName>
    /// Whether the last journal may be appended to.
    private var isLastContinued = false
    /// The first number whose files count; those of lower ones are left over from a compaction.
    private var base: UInt32 = 1
    /// Whether the snapshot that is read may lack lines that older files have.
    private var isSnapshotDamaged = false

    init(_ place: LogPlace, _ membership: LogMembership) throws {
        self.place = place
        names = try place.fileSystem.contents(ofDirectory: place.directory)
        let logNames = names.compactMap { LogFileName($0) }
        let journals = logNames.filter { $0.kind == .journal }.sorted { $0.number < $1.number }
        let snapshots = logNames.filter { $0.kind == .snapshot }.sorted { $0.number > $1.number }
        let inOrder = snapshots.prefix(1) + journals + snapshots.dropFirst()
        let (headers, strangers) = try LogHeader.read(Array(inOrder), in: place, membership)
        let strays = LogHeader.strays(among: inOrder.filter { strangers[$0] == nil }, beside: headers)
        let reasons = strangers.merging(strays) { first, _ in first }
        log = headers.first?.log
        self.strangers = Set(reasons.keys)
        for name in inOrder {
            guard let reason = reasons[name] else { continue }
            let damage = LogDamage(file: name.text, line: 1, offset: 0, reason: .foreign, detail: reason)
            recovery.damages.append(damage)
        }
        let own = journals.filter { reasons[$0] == nil }.map(\.number)
        try chooseSnapshot(snapshots.filter { reasons[$0] == nil }.map(\.number), own)
        try scanJournals(own.filter { $0 >= base })
    }

    /// Takes the newest snapshot; if it is damaged, the files before it if they are all still there.
    private mutating func chooseSnapshot(_ snapshots: [UInt32], _ journals: [UInt32]) throws {
        guard let newest = snapshots.first else {
            if let first = journals.first, first > 1 {
                reportMissing(LogFileName(.snapshot, first))
                base = first
            }
            return
        }
        let scan = try scan(LogFileName(.snapshot, newest), for: .reading)
        base = newest
        if !scan.scan.damages.isEmpty {
            recovery.damages += scan.scan.damages
            let older = snapshots.dropFirst().first ?? 1
            let isComplete = older < newest && (older..<newest).allSatisfy { journals.contains($0) }
            if isComplete, snapshots.count == 1 {
                base = older
                return
            }
            if isComplete {
                let fallback = try self.scan(LogFileName(.snapshot, older), for: .reading)
                if fallback.scan.damages.isEmpty {
                    parts = [fallback.part]
                    base = older
                    return
                }
            }
            isSnapshotDamaged = true
        }
        parts = [scan.part]
    }

    private mutating func scanJournals(_ numbers: [UInt32]) throws {
        var found: [LogPart] = []
        var damages: [[LogDamage]] = []
        var next: (number: UInt32, previousSize: UInt64?)?
        for number in numbers.reversed() {
            let name = LogFileName(.journal, number)
            let isLast = number == numbers.last
            // What lies behind the limit was never committed, or was moved on from after an error.
            let limit = next?.number == number + 1 ? next?.previousSize : nil
            var (scan, part) = try scan(name, for: isLast ? .appending : .reading, limit: limit)
            next = (number, scan.header?.previousSize)
            damages.append(isLast ? takeTail(of: scan, in: &part) : scan.damages)
            found.append(part)
            let previous = LogFileName(.journal, number - 1)
            if number > base, !numbers.contains(number - 1), !strangers.contains(previous) {
                damages.append([missing(previous)])
            }
        }
        if numbers.isEmpty, !parts.isEmpty { reportMissing(LogFileName(.journal, base)) }
        parts += found.reversed()
        recovery.damages += damages.reversed().flatMap { $0 }
    }

    /// The end of the last journal may be an interrupted write, which is no damage.
    private mutating func takeTail(of scan: LogScan, in part: inout LogPart) -> [LogDamage] {
        guard scan.damages.allSatisfy({ $0.offset >= scan.end && $0.reason.isOfTornWrite }) else {
            return scan.damages
        }
        part.size = scan.end
        // A journal of an older version is read, and not continued; nor is one whose last line is not ended.
        isLastContinued = scan.header?.version == place.version && !scan.isNewlineMissing
        recovery.droppedTailBytes = scan.size - scan.end
        return []
    }

    private mutating func scan(
        _ name: LogFileName,
        for access: FileAccess,
        limit: UInt64? = nil
    ) throws -> (scan: LogScan, part: LogPart) {
        let file = try place.fileSystem.openFile(at: place.path(name), for: access)
        let scan = try LogScan.scan(
            file,
            name,
            format: place.format,
            supported: place.version,
            limit: limit
        )
        if let version = scan.header?.version {
            recovery.oldestVersion = min(recovery.oldestVersion ?? version, version)
        }
        return (scan, LogPart(name: name, file: file, ranges: scan.committed, size: scan.size))
    }

    /// Takes in what a visit found; the file is not continued, so that the damage stays where it was reported.
    mutating func report(
        _ unreadable: UnreadableLine,
        in part: LogPart,
        line: Int,
        at offset: UInt64
    ) -> LogDamage {
        let damage = LogDamage(
            file: part.name.text,
            line: line,
            offset: offset,
            reason: .contents,
            detail: unreadable.reason
        )
        recovery.damages.append(damage)
        if part.name == parts.last?.name { isLastContinued = false }
        return damage
    }

    private func missing(_ name: LogFileName) -> LogDamage {
        LogDamage(file: name.text, line: 0, offset: 0, reason: .missing)
    }

    /// One that is there, and not of this log, was reported as that.
    private mutating func reportMissing(_ name: LogFileName) {
        if strangers.contains(name) { return }
        recovery.damages.append(missing(name))
    }
}

extension LogContents {
    /// Puts the directory in order, and makes the log.
    mutating func repaired(keepsTemporaryFiles: Bool) throws -> JSONLog {
        // Before anything is touched: there may be no number left.
        let next = try continued()
        let stale = staleFiles
        if isSnapshotDamaged { reportStale(stale) }
        try copyDamagedFiles()
        if !keepsTemporaryFiles { try place.removeTemporaryFiles(among: names) }
        for name in stale { try place.fileSystem.remove(place.path(name)) }
        switch next {
        case .new(let name):
            let journal = try place.makeJournal(
                name,
                previousSize: parts.last.flatMap { $0.name.kind == .journal ? $0.size : nil }
            )
            return JSONLog(place: place, parts: parts, active: journal, strangers: strangers)
        case .last(let last):
            if recovery.droppedTailBytes > 0 {
                try last.file.truncate(to: last.size)
                try last.file.flush()
            }
            return JSONLog(place: place, parts: Array(parts.dropLast()), active: last, strangers: strangers)
        }
    }

    private enum Continued {
        case last(LogPart)
        case new(LogFileName)
    }

    /// The journal that is appended to from now on.
    private func continued() throws -> Continued {
        guard let last = parts.last else { return .new(LogFileName(.journal, 1)) }
        if isLastContinued { return .last(last) }
        // A journal with damage in it is not continued, so that the damage stays where it was reported.
        let newest = LogFileName(.journal, max(base, last.name.number))
        return .new(LogFileName(.journal, try place.number(after: newest)))
    }

    /// What a compaction has replaced, and did not come to remove.
    private var staleFiles: [LogFileName] {
        LogFileName.inOrderOfRemoval(names.compactMap { LogFileName($0) }.filter { $0.number < base })
    }

    /// A damaged snapshot may not stand for all that it has replaced, so that is kept aside.
    private mutating func reportStale(_ files: [LogFileName]) {
        for name in files where !strangers.contains(name) {
            recovery.damages.append(LogDamage(file: name.text, line: 0, offset: 0, reason: .replaced))
        }
    }

    private mutating func copyDamagedFiles() throws {
        var copies: [String: String] = [:]
        for index in recovery.damages.indices where recovery.damages[index].reason != .missing {
            let name = recovery.damages[index].file
            if copies[name] == nil { copies[name] = try place.copyAside(name, existing: names) }
            recovery.damages[index].copy = copies[name]
        }
    }
}

extension LogFileName {
    /// Snapshots first: journals without what stood before them are never taken for a whole log.
    static func inOrderOfRemoval(_ names: [LogFileName]) -> [LogFileName] {
        names.filter { $0.kind == .snapshot }
            + names.filter { $0.kind == .journal }.sorted { $0.number < $1.number }
    }
}
