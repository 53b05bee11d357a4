/// The first line of a log's file, which identifies the file, the log, and what the log belongs to.
package struct LogHeader: Hashable, Sendable {
    /// The version of the format.
    package var version: UInt64
    /// The oldest version that can read the file although it is another's; `nil` if there is none.
    package var readableFrom: UInt64? = nil
    /// The file's own name, which exposes a copy under another name.
    package var name: LogFileName
    /// The random number that all files of the log share.
    package var log: UInt64
    /// The size of the previous journal when this one was created.
    package var previousSize: UInt64?
    /// The owner's description of what the log belongs to, as one JSON value.
    package var label: [UInt8]
}

/// The number and label in the headers of a log.
struct LogIdentity: Hashable, Sendable {
    var log: UInt64 = 0
    /// What the log belongs to, as one JSON value.
    var label: [UInt8] = []
}

extension JSONLog {
    /// A random number for a log.
    @Sendable
    package static func anyNumber() -> UInt64 { .random(in: 0 ... .max) }

    /// Reads the label of a log's newest file, without opening the log.
    ///
    /// - Parameters:
    ///   - directory: The directory of the log.
    ///   - fileSystem: The file system.
    ///   - format: The name of the format.
    ///   - versions: The versions that are read.
    /// - Returns: The label, empty if there is no file of a log; `nil` if the first line of the newest one is damaged.
    /// - Throws: ``FileError``, or ``LogError`` for a file of another format or version.
    package static func newestLabel(
        in directory: String,
        _ fileSystem: any FileSystem,
        format: String,
        versions: ClosedRange<UInt64>
    ) throws -> [UInt8]? {
        let place = LogPlace(
            directory: directory,
            fileSystem: fileSystem,
            format: format,
            versions: versions,
            identity: Locked(LogIdentity())
        )
        guard try fileSystem.status(of: directory) != nil else { return [] }
        let names = LogFileName.inOrderOfReading(try fileSystem.contents(ofDirectory: directory))
        let (headers, foreignFiles) = try LogHeader.read(names, in: place)
        guard let newest = names.filter({ foreignFiles[$0] == nil }).max(by: { $0.isOlder(than: $1) }) else {
            return []
        }
        return headers.first { $0.name == newest }?.label
    }
}

extension LogFileName {
    /// The log's files: the newest snapshot, the journals in their order, and older snapshots.
    static func inOrderOfReading(_ names: [String]) -> [LogFileName] {
        let names = names.compactMap { LogFileName($0) }
        let journals = names.filter { $0.kind == .journal }.sorted { $0.number < $1.number }
        let snapshots = names.filter { $0.kind == .snapshot }.sorted { $0.number > $1.number }
        return snapshots.prefix(1) + journals + snapshots.dropFirst()
    }

    /// Whether the file was begun before another; a snapshot stands before the journal of the same number.
    func isOlder(than other: LogFileName) -> Bool {
        if number != other.number { return number < other.number }
        return kind == .snapshot && other.kind == .journal
    }
}

extension LogHeader {
    /// Reads the headers of files, and finds the files that do not belong to the log.
    ///
    /// The newest file says which log it is.
    ///
    /// - Throws: ``FileError``, or ``LogError`` for a file of another format or another version.
    static func read(
        _ names: [LogFileName],
        in place: LogPlace
    ) throws -> (headers: [LogHeader], foreignFiles: [LogFileName: String]) {
        var headers: [LogHeader] = []
        var misnamed: [LogFileName: LogHeader] = [:]
        for name in names {
            let file = try place.fileSystem.openFile(at: place.path(name), for: .reading)
            defer { file.close() }
            guard let header = try read(file, name, in: place) else { continue }
            if header.name == name { headers.append(header) } else { misnamed[name] = header }
        }
        let log = headers.max { $0.name.isOlder(than: $1.name) }?.log
        let own = headers.filter { $0.log == log }
        let others = headers.filter { $0.log != log }
        // The file may be a copy of one of the log's files, or come from a log that has nothing to do with it.
        let foreignFiles = misnamed.mapValues { header in
            let isCopy = own.contains { $0.log == header.log }
            return isCopy ? "it is a copy of \(header.name.text)" : "it is \(header.name.text) of another log"
        }
        return (own, others.reduce(into: foreignFiles) { $0[$1.name] = "it is part of another log" })
    }

    private static func read(
        _ file: any OpenFile,
        _ name: LogFileName,
        in place: LogPlace
    ) throws -> LogHeader? {
        var header: LogHeader?
        // The log writes no longer first lines.
        let end = min(try file.size(), 1 << 20)
        try LogLines(file: file, range: 0..<end, chunk: 4096).forEach { line in
            header = try LogMarks.header(
                at: line.bytes,
                of: file.path,
                format: place.format,
                supported: place.versions
            )?.header
            return false
        }
        return header
    }
}
