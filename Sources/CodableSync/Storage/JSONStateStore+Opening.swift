import RecordCoding

/// Opening the journal.
extension JSONStateStore {
    /// Opens the journal in a directory, and reads the state from it.
    ///
    /// - Parameters:
    ///   - directory: The directory of the journal; it is created if it is missing.
    ///   - fileSystem: The file system.
    ///   - identity: What the journal must belong to; `nil` accepts any identity.
    ///   - user: Whose the state is if it is new; `nil` if nobody's.
    ///   - compactionSize: The size from which the files are compacted if that saves enough space.
    ///   - newLog: Draws the random number of a new log.
    /// - Returns: The store, the state, and the findings.
    /// - Throws: `FileError`, `LogError`, ``NewerEntry``, or `ForeignState`.
    package static func open(
        directory: String,
        fileSystem: any FileSystem,
        identity: StateIdentity? = nil,
        user: String? = nil,
        compactionSize: UInt64 = JSONStateStore.compactionSize,
        newLog: () -> UInt64 = JSONLog.anyNumber
    ) throws -> Opened {
        var (fold, reading, label) = try read(
            directory,
            fileSystem,
            new: StateLabel(identity: identity, user: user)
        )
        try label.check(identity)
        let lost = try fold.finish { position, error in
            try reading.report(unreadable(error, at: position, in: directory), at: position)
        }
        var (log, recovery) = try reading.open(label: label.encoded, newLog: newLog())
        var index = fold.index(behind: log.rear)
        // What exists nowhere else is checked now, other contents when they are read.
        for position in recovery.isDamaged ? [] : fold.positionsOfEdits(in: index) {
            if try isWhole(position, in: log) { continue }
            recovery.damages.append(try log.setAside(position))
        }
        var lostEdits: [String] = []
        if recovery.isDamaged {
            try readRear(of: log, into: &fold)
            index = fold.index(behind: log.rear)
            // Of a record whose last row cannot be read, the last row that can be counts.
            if !lost.isEmpty { try reading.visitAgain { line, _ in fold.applyAgain(line, of: lost) } }
            lostEdits = StateRepair.lostEdits(in: fold)
            // Likewise if the last row names contents that are lost: the edit before may be whole.
            var former = FormerRows(of: fold.recordsWithoutContents)
            if !former.isEmpty { try reading.visitAgain { line, _ in former.take(line, fold.hasContents) } }
            fold.goBack(to: former)
        }
        let store = JSONStateStore(
            log: log,
            fold: fold,
            index: index,
            compactionSize: compactionSize,
            label: label
        )
        return Opened(
            store: store,
            state: fold.state,
            nextHandle: fold.lastHandle + 1,
            recovery: recovery,
            repairs: recovery.isDamaged ? StateRepair.rows(for: fold) : [],
            lostEdits: lostEdits
        )
    }

    /// Reads the lines of the journal, and changes nothing.
    ///
    /// - Parameters:
    ///   - directory: The directory of the journal.
    ///   - fileSystem: The file system.
    ///   - new: Whose the state is if it is new.
    /// - Returns: What the lines give, the log, and whose the state is.
    /// - Throws: Like opening.
    private static func read(
        _ directory: String,
        _ fileSystem: any FileSystem,
        new: StateLabel
    ) throws -> (fold: JournalFold, reading: LogReading, label: StateLabel) {
        var fold = JournalFold(identity: new.identity)
        let reading = try JSONLog.read(
            in: directory,
            fileSystem,
            format: format,
            versions: version...version
        ) { line, position in
            do {
                let problems = try fold.take(line, at: position)
                if !problems.isEmpty { throw UnreadableLine(problems.joined(separator: "; ")) }
            } catch let foreign as ForeignState {
                throw foreign
            } catch {
                throw try unreadable(error, at: position, in: directory)
            }
        }
        let label = fold.adopt(reading.label.map { StateLabel($0) ?? StateLabel() } ?? new)
        return (fold, reading, label)
    }

    /// Reads whose a state is from its rows, and changes nothing.
    ///
    /// - Parameters:
    ///   - directory: The directory of the journal.
    ///   - fileSystem: The file system.
    /// - Returns: The label, and whether there is damage.
    /// - Throws: Like opening.
    static func labelInRows(
        of directory: String,
        _ fileSystem: any FileSystem
    ) throws -> (label: StateLabel, isDamaged: Bool) {
        let (_, reading, label) = try read(directory, fileSystem, new: StateLabel())
        return (label, reading.recovery.isDamaged)
    }

    /// Reads what the newest file of a state says, without opening the state.
    ///
    /// - Parameters:
    ///   - directory: The directory of the journal.
    ///   - fileSystem: The file system.
    /// - Returns: The label.
    /// - Throws: `FileError`, or `LogError` for a state of another version.
    static func newestHeader(in directory: String, _ fileSystem: any FileSystem) throws -> NewestHeader {
        let label = try JSONLog.newestLabel(
            in: directory,
            fileSystem,
            format: format,
            versions: version...version
        )
        if label?.isEmpty == true { return .missing }
        return label.flatMap { StateLabel($0) as StateLabel? }.map { .label($0) } ?? .damaged
    }

    /// Finds out which contents of the snapshot are left, since there is damage.
    ///
    /// A row says where its contents are, also if the newline before or behind them is damaged.
    private static func readRear(of log: JSONLog, into fold: inout JournalFold) throws {
        for position in fold.positionsInSnapshot(behind: log.rear) {
            do {
                try log.read(position).withUnsafeBytes { fold.takeFromRear($0, at: position) }
            } catch LogError.unknownPosition {
                continue
            }
        }
        try log.visitRear { fold.takeFromRear($0, at: $1) }
    }

    private static func isWhole(_ position: LogPosition, in log: JSONLog) throws -> Bool {
        do {
            return try log.read(position).withUnsafeBytes { JournalLine.isWhole($0) }
        } catch LogError.unknownPosition {
            return false
        }
    }

    /// The reason to leave a line out.
    ///
    /// - Throws: ``NewerEntry`` if only a newer version of the library can read it.
    private static func unreadable(
        _ error: any Error,
        at position: LogPosition,
        in directory: String
    ) throws -> UnreadableLine {
        if case JournalLineError.unknownKind(let kind) = error {
            let file = directory.appending(path: LogFileName(identifier: position.file).text)
            throw NewerEntry(path: file, offset: position.offset, kind: kind)
        }
        let reason = error is JSONError ? "\(error) of the line" : "\(error)"
        return (error as? UnreadableLine) ?? UnreadableLine(reason)
    }
}
