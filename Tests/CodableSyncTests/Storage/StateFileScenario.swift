import Foundation
import XCTest

@testable import CodableSync

/// A device with two fetched records and three edits that exist only on its disk, for tests to damage.
class StateFileScenario: EngineScenario {
    static let known = ["known1", "known2"]
    static let edits = ["p1", "p2", "p3"]

    /// The disk of such a device, after its engine was closed.
    func prepare(compacted: Bool = false, delivered: Bool = true) async throws -> StateFiles {
        let (phone, disk) = try makeFragileDevice(Note.self)
        for name in Self.known { try await serverSave(Note(name, "Tea")) }
        try await phone.engine.sync()
        if delivered { _ = try await phone.drain() }
        for name in Self.edits { try await phone.engine.upload(Note(name, "edit")) }
        try await phone.engine.close()
        let files = try StateFiles(disk)
        if compacted { try files.compact() }
        return files
    }

    func open(_ files: StateFiles) throws -> Device<Note> { try makeDevice(Note.self, on: files.disk) }

    /// The texts of the device's `stateRecovered` events.
    func recoveries<Model>(of device: Device<Model>) -> [String] {
        device.events.all.compactMap { if case .stateRecovered(let text) = $0 { text } else { nil } }
    }

    /// Syncs, and asserts that all records were fetched again, that none of them changed, and that the cloud
    /// agrees.
    func assertFetchesAll(
        _ device: Device<Note>,
        _ row: String = "",
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        let met = Locked<Set<String>>([])
        device.database.changeFetchAnswers { page in
            met.withLock { $0.formUnion(page.modifications.keys.map(\.recordName)) }
            return page
        }
        let before = try await serverRecords()
        try await device.engine.sync()
        let names = met.withLock { $0 }
        XCTAssertTrue(names.isSuperset(of: before.keys), "\(row): \(names)", file: file, line: line)
        for name in Self.known {
            let after = try await serverRecords()
            XCTAssertEqual(
                after[name]?.recordChangeTag,
                before[name]?.recordChangeTag,
                row,
                file: file,
                line: line
            )
        }
        try await assertEqualEverywhere(device, file: file, line: line)
    }

    /// The error of the first call that opens the engine; asserts that it changes no file.
    func refusal(
        _ files: StateFiles,
        _ row: String = "",
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws -> SyncError? {
        let before = files.all
        let device = try open(files)
        do {
            try await device.engine.upload(Note("refused"))
            XCTFail("\(row): it was opened", file: file, line: line)
            return nil
        } catch {
            XCTAssertEqual(files.all, before, "\(row): a file was changed", file: file, line: line)
            try await device.engine.close()
            return error as? SyncError
        }
    }

    /// The message of the first call that opens the engine, if its error has this code.
    func refusalMessage(_ code: SyncError.Code, _ files: StateFiles, _ row: String = "") async throws
        -> String?
    {
        let error = try await refusal(files, row)
        return error?.code == code ? error?.message : nil
    }
}

/// The files of a state on a simulated disk.
struct StateFiles {
    var disk: SimulatedFileSystem
    let directory: String

    init(_ disk: SimulatedFileSystem) throws {
        self.disk = disk
        let journal = try XCTUnwrap(disk.files.keys.first { $0.hasSuffix(".jsonl") })
        directory = journal.directoryPath
    }

    /// The same files on a separate disk.
    func copy() -> StateFiles {
        var copy = self
        copy.disk = disk.crashed(keeping: .allWrites)
        return copy
    }

    /// All files except the lock, by path.
    var all: [String: [UInt8]] {
        disk.files.filter { !$0.key.hasSuffix("/lock") }
    }

    var names: [String] { disk.names(in: directory) }

    subscript(name: String) -> [UInt8] {
        get { disk.bytes(at: directory + "/" + name) ?? [] }
        nonmutating set { disk.place(newValue, at: directory + "/" + name) }
    }

    func remove(_ name: String) throws { try disk.remove(directory + "/" + name) }

    /// The contents of the quarantined copies.
    var quarantine: [[UInt8]] { names.filter { $0.hasPrefix("damaged-") }.map { self[$0] } }

    func compact() throws {
        let store = try JSONStateStore.open(directory: directory, fileSystem: disk).store
        try store.compact()
        store.close()
    }

    /// The header line of a file, as this directory's log writes it.
    func header(of name: String) throws -> [UInt8] {
        let header = try names.compactMap { name in
            try self[name].withUnsafeBytes { bytes in
                try LogMarks.header(
                    at: bytes,
                    of: name,
                    format: "codablesync-state",
                    supported: JSONStateStore.version...JSONStateStore.version
                )
            }?.header
        }.first
        var own = try XCTUnwrap(header)
        own.name = try XCTUnwrap(LogFileName(name))
        own.previousSize = nil
        return LogMarks.header(own, format: "codablesync-state")
    }

    /// The lines of a file in their groups, without the log's own marks.
    func groups(_ name: String) -> [[String]] {
        var groups: [[String]] = [[]]
        for line in String(decoding: self[name], as: UTF8.self).split(separator: "\n").dropFirst() {
            if line.hasPrefix("{\"commit\":") {
                groups.append([])
            } else if line.hasPrefix("{\"end\":") {
                break
            } else {
                groups[groups.count - 1].append(String(line))
            }
        }
        return groups.filter { !$0.isEmpty }
    }

    /// The bytes behind the groups of a snapshot.
    func rear(_ name: String) -> [UInt8] {
        guard let end = self[name].firstRange(of: Array("\n{\"end\":".utf8)) else { return [] }
        return Array(self[name][end.upperBound...].drop { $0 != UInt8(ascii: "\n") }.dropFirst())
    }

    /// Rewrites a file with groups of lines, whose checksums are valid whatever the lines are; what stands behind the
    /// groups of a snapshot stays.
    func write(_ groups: [[[UInt8]]], to name: String) throws {
        let logName = try XCTUnwrap(LogFileName(name))
        var bytes = try header(of: name)
        var count = 0
        for lines in groups {
            var checksum = LineChecksum()
            for line in lines {
                line.withUnsafeBytes { checksum.absorb($0) }
                bytes += line + [UInt8(ascii: "\n")]
            }
            count += lines.count
            let sum = checksum.value(count: lines.count)
            bytes += LogMarks.commit(LogMarks.Commit(count: lines.count, checksum: sum, isEnd: false))
        }
        if logName.kind == .snapshot {
            let rear = rear(name)
            bytes += LogMarks.commit(.end(count: count, behind: UInt64(rear.count))) + rear
        }
        self[name] = bytes
    }

    func write(_ groups: [[String]], to name: String) throws {
        try write(groups.map { $0.map { Array($0.utf8) } }, to: name)
    }

    /// The edits in those groups of a file that `intact` accepts.
    func edits(in bytes: [UInt8], intact: (Range<Int>) -> Bool) -> [String] {
        var start = 0
        var found: [String] = []
        for end in bytes.endsOfCommits {
            let group = String(decoding: bytes[start..<end], as: UTF8.self)
            if intact(start..<end) {
                found += StateFileScenario.edits.filter { group.contains("{\"zone\":1,\"name\":\"\($0)\"") }
            }
            start = end
        }
        for line in bytes[start...].split(separator: UInt8(ascii: "\n")) where line.first == UInt8(ascii: "[")
        {
            if intact(line.startIndex..<line.endIndex + 1) { continue }
            let text = String(decoding: line, as: UTF8.self)
            found.removeAll { text.contains("{\"name\":\"\($0)\"") }
        }
        return found.sorted()
    }
}
