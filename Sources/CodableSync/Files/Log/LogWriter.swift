/// The appendable end of a log.
struct LogWriter: Sendable {
    let place: LogPlace
    /// The frozen files, in the order of their contents.
    var parts: [LogPart]
    /// The current journal.
    var active: LogPart
    /// Whether the disk cannot be trusted with the end of the active journal.
    var needsNewJournal = false
    /// Files that a compaction has replaced, kept open for readers that still have positions in them.
    var retired: [LogPart] = []
    /// Whether there are commits that were not flushed.
    var isUnflushed = false

    /// Writes a group with one call; after a crash it is complete or absent, and damage to it does not affect others.
    mutating func commit(_ group: LogGroup, flush: Bool) throws -> [LogPosition] {
        try checkStillThere()
        guard !group.isEmpty else {
            if flush { try flushRest() }
            return []
        }
        let bytes = group.bytes + LogMarks.commit(group.commitMark)
        do {
            try active.file.append(bytes)
        } catch {
            takeBack(isDoubtful: false)
            throw error
        }
        if flush { try self.flush() }
        isUnflushed = !flush
        let positions = group.positions(in: active.name.identifier, at: active.size)
        active.extend(to: active.size + UInt64(bytes.count))
        active.note(bytes)
        return positions
    }

    /// Flushes commits that were not flushed.
    mutating func flushRest() throws {
        guard isUnflushed else { return }
        try flush()
        isUnflushed = false
    }

    private mutating func flush() throws {
        do {
            try active.file.flush()
        } catch {
            // After a failed flush, the system may report success the next time although the data is lost.
            takeBack(isDoubtful: true)
            throw error
        }
    }

    /// Cuts off the bytes of a failed commit.
    private mutating func takeBack(isDoubtful: Bool) {
        needsNewJournal = needsNewJournal || isDoubtful
        do throws(FileError) {
            try active.file.truncate(to: active.size)
            if isDoubtful { try active.file.flush() }
        } catch {
            // The next journal states how much of this one is valid.
            needsNewJournal = true
        }
    }

    /// Throws unless the journal's name still belongs to the same file; otherwise the directory was replaced.
    func checkStillOurs() throws {
        let path = place.path(active.name)
        guard try place.fileSystem.status(of: path)?.identity == active.file.identity else {
            throw LogError.replaced(path: path)
        }
    }

    /// Throws unless the journal is still the same file with the same size; otherwise another process is
    /// writing here.
    func checkStillThere() throws {
        let path = place.path(active.name)
        let status = try place.fileSystem.status(of: path)
        guard let status, status.identity == active.file.identity, status.size == active.size else {
            throw LogError.replaced(path: path)
        }
    }
}
