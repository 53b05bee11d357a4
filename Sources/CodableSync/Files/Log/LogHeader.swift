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

/// Distinguishes the files of a log from those of others.
///
/// The log compares numbers; its owner interprets the labels and chooses between logs.
package struct LogMembership {
    /// Draws the number of a new log.
    package var newLog: () -> UInt64
    /// Returns the files that do not belong to the log, each with the reason.
    ///
    /// The headers start with the newest snapshot, followed by the journals in their order and older
    /// snapshots. If it throws, the directory is not opened.
    package var foreignFiles: ([LogHeader]) throws -> [LogFileName: String]
    /// Returns the label of new files, one JSON value; called after the visit.
    package var label: () -> [UInt8]

    package init(
        newLog: @escaping () -> UInt64 = Self.anyNumber,
        foreignFiles: @escaping ([LogHeader]) throws -> [LogFileName: String] = Self.ofOtherLogs,
        label: @escaping () -> [UInt8] = { Array("{}".utf8) }
    ) {
        self.newLog = newLog
        self.foreignFiles = foreignFiles
        self.label = label
    }

    /// A random number for a log.
    @Sendable
    package static func anyNumber() -> UInt64 { .random(in: 0 ... .max) }

    /// Returns the files whose log differs from that of the first file.
    package static func ofOtherLogs(_ headers: [LogHeader]) -> [LogFileName: String] {
        var foreignFiles: [LogFileName: String] = [:]
        for header in headers where header.log != headers[0].log {
            foreignFiles[header.name] = "it is part of another log"
        }
        return foreignFiles
    }
}

/// The number and label in the headers of a log; the label changes when the log gets an owner.
struct LogIdentity: Hashable, Sendable {
    var log: UInt64
    var label: [UInt8]
}

extension LogHeader {
    /// Reads the headers of files, and finds the files that do not belong to the log.
    ///
    /// - Throws: ``FileError``, ``LogError`` for a file of another format or a newer version, or the owner's
    ///   error for a directory that is not its own.
    static func read(
        _ names: [LogFileName],
        in place: LogPlace,
        _ membership: LogMembership
    ) throws -> (headers: [LogHeader], foreignFiles: [LogFileName: String]) {
        var headers: [LogHeader] = []
        var misnamed: [LogFileName: LogHeader] = [:]
        for name in names {
            let file = try place.fileSystem.openFile(at: place.path(name), for: .reading)
            defer { file.close() }
            guard let header = try read(file, name, in: place) else { continue }
            if header.name == name { headers.append(header) } else { misnamed[name] = header }
        }
        let others = try headers.isEmpty ? [:] : membership.foreignFiles(headers)
        let own = headers.filter { others[$0.name] == nil }
        // The file may be a copy of one of the log's files, or come from a log that has nothing to do with it.
        let foreignFiles = misnamed.mapValues { header in
            let isCopy = own.contains { $0.log == header.log }
            return isCopy ? "it is a copy of \(header.name.text)" : "it is \(header.name.text) of another log"
        }
        return (own, foreignFiles.merging(others) { $1 })
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
