import XCTest

@testable import CodableSync

/// A log on a simulated disk, with distinct lines.
enum LogFixture {
    static let directory = "/log"

    /// Opens the log, and returns the visited lines.
    static func open(
        _ fileSystem: any FileSystem,
        directory: String = directory,
        version: UInt64 = 1
    ) throws -> (log: JSONLog, lines: [String], recovery: LogRecovery) {
        var lines: [String] = []
        let (log, recovery) = try JSONLog.open(
            directory: directory,
            fileSystem: fileSystem,
            format: "test",
            version: version
        ) { line, _ in lines.append(String(decoding: line, as: UTF8.self)) }
        return (log, lines, recovery)
    }

    static func group(_ lines: [String]) throws -> LogGroup {
        var group = LogGroup()
        for line in lines { try group.append(Array(line.utf8)) }
        return group
    }

    /// A log with some groups of two lines each; returns all lines.
    static func write(
        groups: Int,
        to fileSystem: any FileSystem,
        directory: String = directory
    ) throws -> [[String]] {
        let log = try open(fileSystem, directory: directory).log
        let all = (0..<groups).map { ["{\"a\":\($0)}", "{\"text\":\"line of group \($0)\"}"] }
        for lines in all { try log.commit(group(lines), flush: true) }
        return all
    }

    /// Visits the lines that a compaction of the log replaces.
    static func visitFrozen(
        _ log: JSONLog,
        _ visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void
    ) throws {
        for part in log.writer.withLock({ $0.parts }) {
            try LogScan.visit(part.ranges, of: part.file, part.name, visit)
        }
    }

    /// Replaces the log by a snapshot of the lines that a filter keeps.
    static func compact(_ log: JSONLog, keeping isKept: (String) -> Bool = { _ in true }) throws {
        try log.finishCompaction(write(log.beginCompaction(), log, keeping: isKept))
    }

    /// Writes a snapshot of the lines that a filter keeps.
    static func write(
        _ compaction: LogCompaction,
        _ log: JSONLog,
        keeping isKept: (String) -> Bool = { _ in true }
    ) throws -> CompactedLog {
        try compaction.write { snapshot in
            try visitFrozen(log) { line, position in
                if isKept(String(decoding: line, as: UTF8.self)) {
                    _ = try snapshot.append(log.read(position))
                }
            }
            return []
        }
    }

    /// Writes a snapshot of one line.
    static func write(_ line: [UInt8], _ compaction: LogCompaction) throws -> CompactedLog {
        try compaction.write { snapshot in
            _ = try snapshot.append(line)
            return []
        }
    }
}

extension JSONLog {
    /// Reads a log, and opens it.
    static func open(
        directory: String,
        fileSystem: any FileSystem,
        format: String,
        version: UInt64,
        oldestVersion: UInt64 = 1,
        visit: (UnsafeRawBufferPointer, LogPosition) throws -> Void
    ) throws -> (log: JSONLog, recovery: LogRecovery) {
        var reading = try read(
            in: directory,
            fileSystem,
            format: format,
            versions: min(oldestVersion, version)...version,
            visit: visit
        )
        return try reading.open(label: reading.label ?? Array("{}".utf8))
    }
}
