/// What others did to a shared log.
package enum LogTail: Hashable, Sendable {
    /// Nothing.
    case unchanged
    /// They appended this many lines, which were visited.
    case appended(lines: Int)
    /// They went on to other files: the log must be opened again.
    case superseded
}

/// Which file of a log is appended to, and how far it is: another one means that somebody was at work.
package struct LogStamp: Hashable, Sendable {
    package var name: LogFileName
    package var identity: FileIdentity
    package var size: UInt64

    package init(name: LogFileName, identity: FileIdentity, size: UInt64) {
        self.name = name
        self.identity = identity
        self.size = size
    }
}

extension JSONLog {
    /// The journal that is appended to, as it was when it was last read or written here.
    package var newestJournal: LogStamp {
        writer.withLock { writer in
            let active = writer.active
            return LogStamp(name: active.name, identity: active.file.identity, size: active.size)
        }
    }

    /// Remembers how the journal ends, so that another past is told from this one.
    func noteTail() throws {
        try writer.withLock { try $0.noteTail() }
    }

    /// Visits what others appended to a shared log; the caller must hold the lock that they hold while they write.
    ///
    /// What a writer left unfinished that was killed is cut off.
    package func catchUp(
        _ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void
    ) throws -> LogTail {
        try writer.withLock { writer in
            try checkOpen()
            switch try writer.glance() {
            case .same: return .unchanged
            case .replaced: return .superseded
            case .longer: return try writer.takeAppended(visit)
            }
        }
    }
}

extension LogWriter {
    fileprivate enum Glance {
        case same, longer, replaced
    }

    fileprivate func glance() throws -> Glance {
        guard !needsNewJournal,
            let status = try place.fileSystem.status(of: place.path(active.name)),
            status.identity == active.file.identity, status.size >= active.size,
            try active.name.next.flatMap({ number in
                try place.fileSystem.status(of: place.path(LogFileName(.journal, number)))
            }) == nil,
            try isTailUnchanged()
        else { return .replaced }
        return status.size == active.size ? .same : .longer
    }

    fileprivate mutating func noteTail() throws {
        let count = min(64, active.size)
        active.tail = try active.file.read(at: active.size - count, count: Int(count))
    }

    /// A file that was put back in place may have any size.
    private func isTailUnchanged() throws -> Bool {
        let count = active.tail.count
        return try active.file.read(at: active.size - UInt64(count), count: count) == active.tail
    }

    fileprivate mutating func takeAppended(
        _ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void
    ) throws -> LogTail {
        let scan = try LogScan.scan(active.file, active.name, behind: active.size)
        if let damage = scan.damages.first(where: { $0.offset < scan.end || !$0.reason.isOfTornWrite }) {
            throw LogError.damaged(path: active.file.path, damage)
        }
        var lines = 0
        try LogScan.visit(scan.committed, of: active.file, active.name) { line, position in
            lines += 1
            try visit(line, position)
        }
        if scan.size > scan.end { try active.file.truncate(to: scan.end) }
        guard scan.end > active.size else { return .unchanged }
        active.extend(to: scan.end)
        try noteTail()
        // Whoever wrote it may have been killed before the flush; what is answered from it must last.
        try active.file.flush()
        return .appended(lines: lines)
    }
}
