/// A file of a log and its committed size.
struct LogPart: Sendable {
    var name: LogFileName
    var file: any OpenFile
    var ranges: [Range<UInt64>]
    /// The offset of the next group; everything before it is committed or reported as damaged.
    var size: UInt64
    /// The lines of a snapshot that no group has.
    var rear: Range<UInt64>?
    /// Up to 64 bytes before `size`; if the file has other bytes there, it was replaced.
    var tail: [UInt8] = []

    /// Notes bytes that were appended.
    mutating func note(_ bytes: [UInt8]) {
        tail = bytes.count >= 64 ? Array(bytes.suffix(64)) : Array((tail + bytes).suffix(64))
    }

    mutating func extend(to end: UInt64) {
        if let last = ranges.last, last.upperBound == size {
            ranges[ranges.count - 1] = last.lowerBound..<end
        } else {
            ranges.append(size..<end)
        }
        size = end
    }
}

/// The directory of a log, and the identity of its files.
struct LogPlace: Sendable {
    var directory: String
    var fileSystem: any FileSystem
    var format: String
    /// The versions of the format that are read; the newest one is written.
    var versions: ClosedRange<UInt64>
    /// The number and label for new files.
    let identity: Locked<LogIdentity>

    /// Removes incomplete files that a crash left behind; anything but a regular file is not the log's.
    func removeTemporaryFiles(among names: [String]) throws {
        let isOurs = { (name: String) in LogFileName(name) != nil || name.hasPrefix("damaged-") }
        for name in names where name.hasSuffix(".tmp") && isOurs(String(name.dropLast(4))) {
            let path = directory.appending(path: name)
            if try fileSystem.status(of: path)?.kind == .file { try fileSystem.remove(path) }
        }
    }

    func path(_ name: LogFileName) -> String { directory.appending(path: name.text) }

    /// Creates a journal atomically, with its first group: a crash can't leave an incomplete one.
    func makeJournal(
        _ name: LogFileName,
        previousSize: UInt64?,
        with group: LogGroup = LogGroup()
    ) throws -> LogPart {
        let header = header(of: name, previousSize: previousSize)
        let bytes = group.isEmpty ? header : header + group.bytes + LogMarks.commit(group.commitMark)
        try fileSystem.writeAtomically(bytes, to: path(name))
        let file = try fileSystem.openFile(at: path(name), for: .appending)
        var part = LogPart(name: name, file: file, ranges: [], size: UInt64(header.count))
        if !group.isEmpty { part.extend(to: UInt64(bytes.count)) }
        part.note(bytes)
        return part
    }

    /// Removes a file that may not exist.
    func removeIfThere(_ name: LogFileName) throws {
        guard try fileSystem.status(of: path(name)) != nil else { return }
        try fileSystem.remove(path(name))
        try fileSystem.syncDirectory(directory)
    }

    /// The first line of a new file.
    func header(of name: LogFileName, previousSize: UInt64? = nil) -> [UInt8] {
        let identity = identity.withLock { $0 }
        let header = LogHeader(
            version: versions.upperBound,
            name: name,
            log: identity.log,
            previousSize: previousSize,
            label: identity.label
        )
        return LogMarks.header(header, format: format)
    }

    /// The number of the files that come after this one.
    func number(after name: LogFileName) throws(LogError) -> UInt32 {
        guard let number = name.next else { throw .noNumberLeft(path: path(name)) }
        return number
    }
}
