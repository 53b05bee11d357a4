/// The part of a log that is appended to.
struct LogWriter: Sendable {
    let place: LogPlace
    /// The files that are not appended to any more, in the order of their contents.
    var parts: [LogPart]
    /// The journal that is appended to.
    var active: LogPart
    /// Whether the disk cannot be trusted with the end of the active journal.
    var needsNewJournal = false
    /// Files that a compaction has replaced, kept open for those who still hold a position in them.
    var retired: [LogPart] = []
    /// Whether something was committed that was not flushed.
    var isUnflushed = false

    /// Writes groups with one call; each is whole or absent after a crash, and damage to one costs the others nothing.
    mutating func commit(_ groups: [LogGroup], flush: Bool) throws -> [LogPosition] {
        try checkStillThere()
        var bytes: [UInt8] = []
        var positions: [LogPosition] = []
        for group in groups where !group.isEmpty {
            positions += group.positions(in: active.name.identifier, at: active.size + UInt64(bytes.count))
            bytes += group.bytes
            bytes += LogMarks.commit(group.commitMark)
        }
        guard !bytes.isEmpty || isUnflushed else { return [] }
        if !bytes.isEmpty {
            do {
                try active.file.append(bytes)
            } catch {
                takeBack(isDoubtful: false)
                throw error
            }
        }
        try self.flush(if: flush)
        if !bytes.isEmpty {
            active.extend(to: active.size + UInt64(bytes.count))
            active.note(bytes)
        }
        isUnflushed = !flush
        return positions
    }

    /// Flushes what was committed without it.
    mutating func flushRest() throws {
        guard isUnflushed else { return }
        try flush(if: true)
        isUnflushed = false
    }

    private mutating func flush(if isWanted: Bool) throws {
        guard isWanted else { return }
        do {
            try active.file.flush()
        } catch {
            // A system that failed to write once may report success the next time, with the data lost.
            takeBack(isDoubtful: true)
            throw error
        }
    }

    /// Cuts off what a failed commit left; it was promised to nobody.
    private mutating func takeBack(isDoubtful: Bool) {
        needsNewJournal = needsNewJournal || isDoubtful
        do throws(FileError) {
            try active.file.truncate(to: active.size)
            if isDoubtful { try active.file.flush() }
        } catch {
            // The next journal says how much of this one counts.
            needsNewJournal = true
        }
    }

    /// Another file under the same name means that the directory is not the one that was opened.
    func checkStillOurs() throws {
        let path = place.path(active.name)
        guard try place.fileSystem.status(of: path)?.identity == active.file.identity else {
            throw LogError.replaced(path: path)
        }
    }

    /// Another file under the same name, or another size, means that somebody else is at work here.
    func checkStillThere() throws {
        let path = place.path(active.name)
        let status = try place.fileSystem.status(of: path)
        guard let status, status.identity == active.file.identity, status.size == active.size else {
            throw LogError.replaced(path: path)
        }
    }
}
