extension JSONLog {
    /// Starts a compaction; later commits go into a new journal, which the compaction does not touch.
    ///
    /// - Returns: The compaction, which may run on any thread; pass its result to ``finishCompaction(_:)``.
    /// - Throws: ``FileError`` if the new file could not be created; the log then continues as before.
    package func beginCompaction() throws -> LogCompaction {
        try writer.withLock { writer in
            try checkOpen()
            if !writer.needsNewJournal { try writer.checkStillThere() }
            try beginJournal(&writer)
            return LogCompaction(log: self, name: LogFileName(.snapshot, writer.active.name.number))
        }
    }

    /// Replaces files with their finished snapshot, and removes everything older.
    ///
    /// The replaced files stay open until the next compaction, so that positions in them can still be read
    /// until then.
    ///
    /// - Parameter result: The result of ``LogCompaction/write(_:)``.
    /// - Throws: ``FileError`` if a file could not be removed; the next opening tries again.
    ///   ``LogError/closed(path:)`` if the log was closed; nothing was changed then.
    package func finishCompaction(_ result: CompactedLog) throws {
        let snapshot = result.snapshot
        let isReplacing = try writer.withLock { writer in
            try checkOpen()
            let replaced = writer.parts.filter { $0.name.number < snapshot.name.number }
            // A later compaction may have finished first, which makes this snapshot obsolete.
            guard
                !writer.parts.contains(where: {
                    $0.name.kind == .snapshot && $0.name.number >= snapshot.name.number
                })
            else { return false }
            writer.parts = [snapshot] + writer.parts.filter { $0.name.number >= snapshot.name.number }
            files.withLock { table in
                table?[snapshot.name.identifier] = snapshot.file
                for part in writer.retired { table?[part.name.identifier] = nil }
            }
            writer.retired = replaced
            return true
        }
        // Read from the directory: with a shared log, other processes may have removed files or left some
        // behind.
        let names = try place.fileSystem.contents(ofDirectory: place.directory).compactMap { LogFileName($0) }
        let own = writer.withLock { writer in Set((writer.parts + [writer.active]).map(\.name)) }
        let obsolete = names.filter { name in
            guard isReplacing else { return name == snapshot.name }
            return name.number < snapshot.name.number || foreignFiles.contains(name) && !own.contains(name)
        }
        for name in LogFileName.inOrderOfRemoval(obsolete) {
            try place.fileSystem.remove(place.path(name))
        }
    }

    /// Removes the files of an interrupted compaction of a shared log; no other process may be compacting it.
    package func removeTemporaryFiles() throws {
        try place.removeTemporaryFiles(among: place.fileSystem.contents(ofDirectory: place.directory))
    }
}
