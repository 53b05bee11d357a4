extension JSONLog {
    /// Begins a compaction: what is committed from now on goes into a new journal, which it does not touch.
    ///
    /// - Returns: The compaction, to be used on any thread and handed to ``finishCompaction(_:)`` at the end.
    /// - Throws: ``FileError`` if the new files could not be made; the log goes on as it was.
    package func beginCompaction() throws -> LogCompaction {
        let (frozen, name) = try writer.withLock { writer in
            try checkOpen()
            if !writer.needsNewJournal { try writer.checkStillThere() }
            try beginJournal(&writer)
            return (writer.parts, LogFileName(.snapshot, writer.active.name.number))
        }
        return try LogCompaction(log: self, frozen: frozen, name: name)
    }

    /// Takes a finished snapshot in the place of the files that it stands for, and removes everything older.
    ///
    /// They stay open until the next compaction, so that positions in them can still be read until then.
    ///
    /// - Parameter result: What the compaction's `finish()` returned.
    /// - Throws: ``FileError`` if a file could not be removed; the next opening tries again. ``LogError/closed(path:)``:
    ///   then nothing was touched.
    package func finishCompaction(_ result: CompactedLog) throws {
        let snapshot = result.snapshot
        let isReplacing = try writer.withLock { writer in
            try checkOpen()
            let replaced = writer.parts.filter { $0.name.number < snapshot.name.number }
            // A later compaction may have been the first to finish: then this one stands for nothing any more.
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
        // As the directory has them: of a shared log, others may have removed some, or died and left some behind.
        let names = try place.fileSystem.contents(ofDirectory: place.directory).compactMap { LogFileName($0) }
        let own = writer.withLock { writer in Set((writer.parts + [writer.active]).map(\.name)) }
        let obsolete = names.filter { name in
            guard isReplacing else { return name == snapshot.name }
            return name.number < snapshot.name.number || strangers.contains(name) && !own.contains(name)
        }
        for name in LogFileName.inOrderOfRemoval(obsolete) {
            try place.fileSystem.remove(place.path(name))
        }
    }

    /// Removes what an interrupted compaction of a shared log left; nobody else may be compacting it.
    package func removeTemporaryFiles() throws {
        try place.removeTemporaryFiles(among: place.fileSystem.contents(ofDirectory: place.directory))
    }
}
