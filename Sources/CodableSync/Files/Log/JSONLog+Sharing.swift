/// Changes by other processes to a shared log.
package enum LogTail: Hashable, Sendable {
    /// There were no changes.
    case unchanged
    /// Other processes appended lines, which were visited.
    case appended
    /// Other processes switched to other files, so the log must be opened again.
    case superseded
}

/// The current journal and its size, which change when another process writes.
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
    /// The current journal as this process last read or wrote it.
    package var newestJournal: LogStamp {
        writer.withLock { writer in
            let active = writer.active
            return LogStamp(name: active.name, identity: active.file.identity, size: active.size)
        }
    }

    /// Visits lines that others appended to a shared log; the caller must hold the lock for writing.
    ///
    /// An incomplete write of a killed process is cut off.
    package func catchUp(
        _ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void
    ) throws -> LogTail {
        try writer.withLock { writer in
            try checkOpen()
            let tail = try writer.glance()
            return tail == .appended ? try writer.takeAppended(visit) : tail
        }
    }
}

extension LogWriter {
    /// What others have done, without reading what they appended.
    fileprivate func glance() throws -> LogTail {
        guard !needsNewJournal,
            let status = try place.fileSystem.status(of: place.path(active.name)),
            status.identity == active.file.identity, status.size >= active.size,
            try active.name.next.flatMap({ number in
                try place.fileSystem.status(of: place.path(LogFileName(.journal, number)))
            }) == nil,
            try isTailUnchanged()
        else { return .superseded }
        return status.size == active.size ? .unchanged : .appended
    }

    /// Stores the end of the journal, which identifies its history.
    mutating func noteTail() throws {
        let count = min(64, active.size)
        active.tail = try active.file.read(at: active.size - count, count: Int(count))
    }

    /// Whether the journal still has the same bytes at the known end; a restored file may have any size.
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
        try LogScan.visit(scan.committed, of: active.file, active.name, visit)
        if scan.size > scan.end { try active.file.truncate(to: scan.end) }
        guard scan.end > active.size else { return .unchanged }
        active.extend(to: scan.end)
        try noteTail()
        // The process that wrote these lines may have been killed before the flush, and what is read from
        // them must last.
        try active.file.flush()
        return .appended
    }
}
