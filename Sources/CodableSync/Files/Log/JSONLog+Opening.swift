extension JSONLog {
    /// Reads a log, and visits every committed line in the order of the commits.
    ///
    /// The directory is created if it is missing, and not changed otherwise.
    ///
    /// - Parameters:
    ///   - directory: The directory of the log.
    ///   - fileSystem: The file system.
    ///   - format: The name of the format in the first line of each file: ASCII without quotation marks.
    ///   - versions: The versions of the format that the caller reads, of which it writes the newest.
    ///   - isShared: Whether several processes use the log, each while it holds the caller's lock. Damage is
    ///     then an error, since the other processes could not be notified of it, and their temporary files
    ///     are kept.
    ///   - visit: Called with each line and its position; the bytes are valid only during the call. It may
    ///     throw ``UnreadableLine``, which counts as damage of this line alone.
    /// - Returns: What was read, from which the log can be opened.
    /// - Throws: ``FileError``, ``LogError``, or another error of `visit`.
    package static func read(
        in directory: String,
        _ fileSystem: any FileSystem,
        format: String,
        versions: ClosedRange<UInt64>,
        isShared: Bool = false,
        visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void
    ) throws -> LogReading {
        let place = LogPlace(
            directory: directory,
            fileSystem: fileSystem,
            format: format,
            versions: versions,
            identity: Locked(LogIdentity())
        )
        try fileSystem.createDirectory(at: directory)
        var reading = try LogReading(place, isShared: isShared)
        try reading.visitAll(visit)
        return reading
    }

    /// Flushes the last file with contents, and the names of all files; earlier files were flushed when it
    /// was created.
    func flushAsFound() throws {
        try writer.withLock { writer in
            let last = writer.active.ranges.isEmpty ? writer.parts.last : writer.active
            try last?.file.flush()
        }
        try place.fileSystem.syncDirectory(place.directory)
    }
}
