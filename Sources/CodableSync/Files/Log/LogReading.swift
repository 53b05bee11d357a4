/// The contents of a log's directory, and which of the files are valid; nothing was changed yet.
package struct LogReading {
    /// The valid files, in order.
    private var parts: [LogPart] = []
    package private(set) var recovery = LogRecovery()

    /// The label of the newest file; `nil` if no header is readable.
    package var label: [UInt8]? { identity?.label }

    /// The number shared by the log's files, and the label of the newest; `nil` if no header is readable.
    private let identity: LogIdentity?

    private let place: LogPlace
    private let isShared: Bool
    private let names: [String]
    /// Files that do not belong to this log.
    private let foreignFiles: Set<LogFileName>
    /// Whether the last journal may be appended to.
    private var isLastContinued = false
    /// The first number whose files are valid; files with lower numbers are left over from a compaction.
    private var base: UInt32 = 1
    /// Whether the snapshot may lack lines that older files have.
    private var isSnapshotDamaged = false
    /// The last line that was reported, and its number, from which that of the next is counted.
    private var reported = (position: LogPosition(file: 0, offset: 0, length: 0), line: 1)

    init(_ place: LogPlace, isShared: Bool) throws {
        self.place = place
        self.isShared = isShared
        names = try place.fileSystem.contents(ofDirectory: place.directory)
        let inOrder = LogFileName.inOrderOfReading(names)
        let (headers, reasons) = try LogHeader.read(inOrder, in: place)
        identity = headers.max { $0.name.isOlder(than: $1.name) }.map {
            LogIdentity(log: $0.log, label: $0.label)
        }
        foreignFiles = Set(reasons.keys)
        for name in inOrder {
            guard let reason = reasons[name] else { continue }
            let damage = LogDamage(file: name.text, line: 1, offset: 0, reason: .foreign, detail: reason)
            recovery.damages.append(damage)
        }
        let found = inOrder.filter { reasons[$0] == nil }
        let own = found.filter { $0.kind == .journal }.map(\.number)
        try chooseSnapshot(found.filter { $0.kind == .snapshot }.map(\.number), own)
        try scanJournals(own.filter { $0 >= base })
        try refuse(recovery.damages.first)
    }

    /// Throws if there is damage in a log that others share.
    private func refuse(_ damage: LogDamage?) throws {
        guard isShared, let damage else { return }
        throw LogError.damaged(path: place.directory.appending(path: damage.file), damage)
    }

    mutating func visitAll(
        _ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void
    ) throws {
        for part in parts {
            try LogScan.visit(part.ranges, of: part.file, part.name) { line, position in
                recovery.visitedLines += 1
                do {
                    try visit(line, position)
                } catch let unreadable as UnreadableLine {
                    try report(unreadable, at: position)
                }
            }
        }
    }

    /// Visits all lines once more, in the same order.
    package func visitAgain(_ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void) throws {
        for part in parts { try LogScan.visit(part.ranges, of: part.file, part.name, visit) }
    }

    /// Reports a line that was visited and cannot be read; its file is not continued, so that the damage stays in
    /// place.
    ///
    /// - Parameters:
    ///   - unreadable: What is wrong with it.
    ///   - position: Where it is.
    /// - Throws: ``FileError``, or ``LogError/damaged(path:_:)`` if several processes use the log.
    package mutating func report(_ unreadable: UnreadableLine, at position: LogPosition) throws {
        let name = LogFileName(identifier: position.file)
        let damage = LogDamage(
            file: name.text,
            line: try number(ofLineAt: position),
            offset: position.offset,
            reason: .contents,
            detail: unreadable.reason
        )
        recovery.damages.append(damage)
        if name == parts.last?.name { isLastContinued = false }
        try refuse(damage)
    }

    /// The number of a line; of lines that follow each other, a file is read only once.
    private mutating func number(ofLineAt position: LogPosition) throws -> Int {
        let last = reported.position
        let isBehind = last.file == position.file && last.offset <= position.offset
        var number = isBehind ? reported.line : 1
        if let part = parts.first(where: { $0.name.identifier == position.file }) {
            let start = isBehind ? last.offset : 0
            try LogLines(file: part.file, range: start..<position.offset).forEach { _ in
                number += 1
                return true
            }
        }
        reported = (position, number)
        return number
    }

    /// Chooses the newest snapshot, or if it is damaged, the files before it if they all still exist.
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
            // Anything after the limit was never committed, or was abandoned after an error.
            let limit = next?.number == number + 1 ? next?.previousSize : nil
            var (scan, part) = try scan(name, for: isLast ? .appending : .reading, limit: limit)
            next = (number, scan.header?.previousSize)
            damages.append(isLast ? takeTail(of: scan, in: &part) : scan.damages)
            found.append(part)
            let previous = LogFileName(.journal, number - 1)
            if number > base, !numbers.contains(number - 1), !foreignFiles.contains(previous) {
                damages.append([missing(previous)])
            }
        }
        if numbers.isEmpty, !parts.isEmpty { reportMissing(LogFileName(.journal, base)) }
        parts += found.reversed()
        recovery.damages += damages.reversed().flatMap { $0 }
    }

    /// Cuts off an interrupted write at the end of the last journal, which does not count as damage.
    private mutating func takeTail(of scan: LogScan, in part: inout LogPart) -> [LogDamage] {
        guard scan.damages.allSatisfy({ $0.offset >= scan.end && $0.reason.isOfTornWrite }) else {
            return scan.damages
        }
        part.size = scan.end
        // A journal of an older version, or one whose last line is incomplete, is read but not continued.
        isLastContinued = scan.header?.version == place.versions.upperBound && !scan.isNewlineMissing
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
            supported: place.versions,
            limit: limit
        )
        if let version = scan.header?.version {
            recovery.oldestVersion = min(recovery.oldestVersion ?? version, version)
        }
        var part = LogPart(name: name, file: file, ranges: scan.committed, size: scan.size)
        part.rear = scan.rear
        return (scan, part)
    }

    private func missing(_ name: LogFileName) -> LogDamage {
        LogDamage(file: name.text, line: 0, offset: 0, reason: .missing)
    }

    /// Reports a missing file, unless a file of another log has its name, which was reported already.
    private mutating func reportMissing(_ name: LogFileName) {
        if foreignFiles.contains(name) { return }
        recovery.damages.append(missing(name))
    }
}

extension LogReading {
    /// Opens the log, or creates it.
    ///
    /// An interrupted write at the end is cut off. Other damage is left in place, copied aside once, and reported at
    /// each opening until a compaction has replaced the files. Opening twice has the same effect as opening once.
    ///
    /// - Parameters:
    ///   - label: The label of new files, one JSON value.
    ///   - number: The number of a new log.
    /// - Returns: The log, and what was found.
    /// - Throws: ``FileError`` or ``LogError``.
    package mutating func open(
        label: [UInt8],
        newLog number: @autoclosure () -> UInt64 = JSONLog.anyNumber()
    ) throws -> (log: JSONLog, recovery: LogRecovery) {
        let own = LogIdentity(log: identity?.log ?? number(), label: label)
        place.identity.withLock { $0 = own }
        let log = try repaired()
        // The process that wrote these files may have been killed before a flush, and what is read from them
        // must last.
        try log.flushAsFound()
        if isShared { try log.writer.withLock { try $0.noteTail() } }
        return (log, recovery)
    }

    /// Repairs the directory, and creates the log.
    private mutating func repaired() throws -> JSONLog {
        // Computed before any change, since there may be no number left.
        let next = try continued()
        let stale = staleFiles
        if isSnapshotDamaged { reportStale(stale) }
        try copyDamagedFiles()
        if !isShared { try place.removeTemporaryFiles(among: names) }
        for name in stale { try place.fileSystem.remove(place.path(name)) }
        switch next {
        case .new(let name):
            let journal = try place.makeJournal(
                name,
                previousSize: parts.last.flatMap { $0.name.kind == .journal ? $0.size : nil }
            )
            return JSONLog(place: place, parts: parts, active: journal, foreignFiles: foreignFiles)
        case .last(let last):
            if recovery.droppedTailBytes > 0 {
                try last.file.truncate(to: last.size)
                try last.file.flush()
            }
            return JSONLog(
                place: place,
                parts: Array(parts.dropLast()),
                active: last,
                foreignFiles: foreignFiles
            )
        }
    }

    private enum Continued {
        case last(LogPart)
        case new(LogFileName)
    }

    /// The journal for later commits.
    private func continued() throws -> Continued {
        guard let last = parts.last else { return .new(LogFileName(.journal, 1)) }
        if isLastContinued { return .last(last) }
        // A damaged journal is not continued, so that the damage stays in place.
        let newest = LogFileName(.journal, max(base, last.name.number))
        return .new(LogFileName(.journal, try place.number(after: newest)))
    }

    /// The files that a compaction has replaced and not removed.
    private var staleFiles: [LogFileName] {
        LogFileName.inOrderOfRemoval(names.compactMap { LogFileName($0) }.filter { $0.number < base })
    }

    /// Keeps replaced files aside if the snapshot is damaged, since it may lack some of their lines.
    private mutating func reportStale(_ files: [LogFileName]) {
        for name in files where !foreignFiles.contains(name) {
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
    /// Orders files so that snapshots are removed first: journals without their snapshot are never taken for
    /// a whole log.
    static func inOrderOfRemoval(_ names: [LogFileName]) -> [LogFileName] {
        names.filter { $0.kind == .snapshot }
            + names.filter { $0.kind == .journal }.sorted { $0.number < $1.number }
    }
}
