import XCTest

@testable import CodableSync

/// I-02 to I-07: a crash or a disk failure at every call.
final class JSONLogCrashTests: XCTestCase {
    /// D1, D3, D5: after a power loss at any call, committed groups are there, and the current group is there
    /// completely or not at all.
    ///
    /// Every second call for each moment, or every call in an exhaustive run.
    func testCrashAtEveryCallOfAppendingAndCompacting() throws {
        for (row, moment) in SimulatedDisk.Moment.allCases.enumerated() {
            var last = 0
            for call in Cases.places(every: 2, row: row) {
                last = call
                let fileSystem = SimulatedFileSystem()
                fileSystem.powerOff(at: call, moment)
                let script = LogScript(fileSystem)
                let isDone = script.run()
                for survivors in survivors(of: call) {
                    try check(
                        script,
                        after: fileSystem.crashed(keeping: survivors),
                        "\(call) \(moment) \(survivors)"
                    )
                }
                if isDone { break }
            }
            XCTAssertGreaterThan(last, 40)
        }
    }

    private func survivors(of call: Int) -> [SimulatedDisk.Survivors] {
        [.allWrites, .onlySynced]
            + (0..<Cases.sample(2, of: 5)).map { .random(seed: UInt64(call * 100 + $0)) }
    }

    private func check(_ script: LogScript, after crash: SimulatedFileSystem, _ row: String) throws {
        let (log, lines, recovery) = try LogFixture.open(crash)
        XCTAssertTrue(
            lines == script.committed || lines == script.committed + script.attempted,
            "\(row): \(lines.count) lines, \(script.committed.count) committed"
        )
        XCTAssertFalse(recovery.isDamaged, "\(row): \(recovery.damages)")
        try log.commit(LogFixture.group(["\"later\""]), flush: true)
        let again = try LogFixture.open(crash.crashed(keeping: .onlySynced))
        XCTAssertEqual(again.lines, lines + ["\"later\""], row)
    }

    /// I-06: a crash while a crash is being recovered from changes nothing.
    func testCrashDuringRecovery() throws {
        let fileSystem = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 2, to: fileSystem).flatMap { $0 }
        let log = try LogFixture.open(fileSystem).log
        _ = try log.beginCompaction()
        fileSystem.powerOff(at: fileSystem.calls.count + 1, .torn)
        XCTAssertThrowsError(try log.commit(LogFixture.group(["\"torn\"", "\"too\""]), flush: true))
        for moment in SimulatedDisk.Moment.allCases {
            var call = 0
            while true {
                let restart = fileSystem.crashed(keeping: .allWrites)
                restart.powerOff(at: call, moment)
                let isDone = (try? LogFixture.open(restart)) != nil
                for survivors in survivors(of: call) {
                    let (_, lines, recovery) = try LogFixture.open(restart.crashed(keeping: survivors))
                    XCTAssertEqual(lines, written, "\(call) \(moment) \(survivors)")
                    XCTAssertFalse(recovery.isDamaged, "\(call) \(moment) \(survivors)")
                }
                if isDone { break }
                call += 1
            }
            XCTAssertGreaterThan(call, 5)
        }
    }

    /// D5: the disk is full at every byte in turn, then has room again.
    func testAFullDiskAtEveryByteLosesNothing() throws {
        for room in 0..<160 {
            let fileSystem = SimulatedFileSystem()
            let written = try LogFixture.write(groups: 1, to: fileSystem)[0]
            let log = try LogFixture.open(fileSystem).log
            let group = try LogFixture.group([String(repeating: "1", count: 100), "2", "3"])
            fileSystem.leaveRoom(for: room)
            let isCommitted = (try? log.commit(group, flush: true)) != nil
            XCTAssertEqual(isCommitted, room >= 148, "\(room)")
            if !isCommitted {
                XCTAssertThrowsError(try log.commit(group, flush: true)) {
                    XCTAssertTrue(($0 as? FileError)?.isOutOfSpace == true, "\($0)")
                }
                XCTAssertEqual(try LogFixture.open(fileSystem.crashed(keeping: .onlySynced)).lines, written)
                fileSystem.leaveRoom(for: nil)
                try log.commit(group, flush: true)
            }
            let (_, lines, recovery) = try LogFixture.open(fileSystem.crashed(keeping: .onlySynced))
            XCTAssertEqual(lines.count, 5, "\(room)")
            XCTAssertFalse(recovery.isDamaged, "\(room)")
        }
    }

    /// D5 during a compaction: the log continues, and a later compaction succeeds.
    func testAFullDiskDuringACompactionLosesNothing() throws {
        var failures = 0
        for room in stride(from: 0, to: 600, by: 7) {
            let fileSystem = SimulatedFileSystem()
            let written = try LogFixture.write(groups: 4, to: fileSystem).flatMap { $0 }
            let log = try LogFixture.open(fileSystem).log
            fileSystem.leaveRoom(for: room)
            do { try LogFixture.compact(log) } catch { failures += 1 }
            fileSystem.leaveRoom(for: nil)
            try log.commit(LogFixture.group(["1"]), flush: true)
            XCTAssertEqual(
                try LogFixture.open(fileSystem.crashed(keeping: .onlySynced)).lines,
                written + ["1"]
            )
            try LogFixture.compact(log)
            let (_, lines, recovery) = try LogFixture.open(fileSystem)
            XCTAssertEqual(lines, written + ["1"])
            XCTAssertFalse(recovery.isDamaged)
        }
        XCTAssertGreaterThan(failures, 20)
    }

    /// D4: after a failed flush the file is not trusted; the next group goes into a new file.
    func testAfterAFailedFlushTheNextGroupGoesIntoANewFile() throws {
        let fileSystem = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 1, to: fileSystem)[0]
        let log = try LogFixture.open(fileSystem).log
        fileSystem.fail(.flush, code: EIO)
        XCTAssertThrowsError(try log.commit(LogFixture.group(["\"lost\""]), flush: true)) {
            XCTAssertEqual(($0 as? FileError)?.code, EIO)
        }
        XCTAssertEqual(try LogFixture.open(fileSystem.crashed(keeping: .allWrites)).lines, written)
        let position = try log.commit(LogFixture.group(["\"kept\""]), flush: true)[0]
        XCTAssertEqual(position.file, LogFileName(.journal, 2).identifier)
        for survivors in [SimulatedDisk.Survivors.onlySynced, .allWrites] {
            let (_, lines, recovery) = try LogFixture.open(fileSystem.crashed(keeping: survivors))
            XCTAssertEqual(lines, written + ["\"kept\""])
            XCTAssertFalse(recovery.isDamaged)
        }
    }

    /// The disk may have written what it could not flush.
    func testLinesOfAFailedFlushAreRemovedFromTheDisk() throws {
        let fileSystem = SimulatedFileSystem()
        _ = try LogFixture.write(groups: 1, to: fileSystem)
        let log = try LogFixture.open(fileSystem).log
        fileSystem.fail(.flush, code: EIO)
        XCTAssertThrowsError(try log.commit(LogFixture.group(["\"ghost\""]), flush: true))
        XCTAssertEqual(fileSystem.calls.suffix(2).map(\.kind), [.truncate, .flush])
    }

    /// Lines of a failed commit don't count, even if they could not be removed from the file.
    func testAFailedGroupThatCannotBeTruncatedIsNotVisited() throws {
        let fileSystem = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 1, to: fileSystem)[0]
        let log = try LogFixture.open(fileSystem).log
        fileSystem.fail(.flush, code: EIO)
        fileSystem.fail(.truncate, code: EIO)
        XCTAssertThrowsError(try log.commit(LogFixture.group(["\"ghost\""]), flush: true))
        try log.commit(LogFixture.group(["\"kept\""]), flush: true)
        let (again, lines, recovery) = try LogFixture.open(fileSystem)
        XCTAssertEqual(lines, written + ["\"kept\""])
        XCTAssertFalse(recovery.isDamaged)
        try LogFixture.compact(again)
        XCTAssertEqual(try LogFixture.open(fileSystem).lines, written + ["\"kept\""])
    }

    func testATornWriteIsTruncated() throws {
        let fileSystem = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 1, to: fileSystem)[0]
        let log = try LogFixture.open(fileSystem).log
        fileSystem.fail(.append, code: EIO, torn: 9)
        XCTAssertThrowsError(try log.commit(LogFixture.group(["\"torn line\""]), flush: true))
        try log.commit(LogFixture.group(["\"whole\""]), flush: true)
        XCTAssertEqual(try LogFixture.open(fileSystem).lines, written + ["\"whole\""])
        XCTAssertEqual(fileSystem.names(in: "/log"), ["journal-1.jsonl"])
    }

    /// Every kind of call fails once at every second place: no committed group is lost, and the log
    /// continues.
    func testAFailureOfAnyCallLosesNoCommittedGroup() throws {
        for (row, kind) in FileError.Operation.allCases.enumerated() {
            for count in Cases.places(every: 2, row: row, below: 30) {
                let fileSystem = SimulatedFileSystem()
                _ = try LogFixture.open(fileSystem)
                fileSystem.fail(kind, after: count, code: EIO)
                let script = LogScript(fileSystem)
                script.goesOnAfterErrors = true
                _ = script.run()
                let (_, lines, recovery) = try LogFixture.open(fileSystem.crashed(keeping: .onlySynced))
                XCTAssertEqual(lines, script.committed, "\(kind) \(count)")
                XCTAssertFalse(recovery.isDamaged, "\(kind) \(count): \(recovery.damages)")
            }
        }
    }
}

/// The life of a log: opening, commits, a compaction with commits meanwhile, reopening.
private final class LogScript {
    private(set) var committed: [String] = []
    private(set) var attempted: [String] = []
    var goesOnAfterErrors = false
    private let fileSystem: SimulatedFileSystem

    init(_ fileSystem: SimulatedFileSystem) {
        self.fileSystem = fileSystem
    }

    /// Runs to the end (`true`), or until a call fails (`false`).
    func run() -> Bool {
        do {
            for part in 0..<2 {
                let log = try tolerating { try LogFixture.open(fileSystem).log }
                guard let log else { continue }
                for index in 0..<3 { try commit(["\"\(part).\(index)\"", "\"more\""], to: log) }
                try tolerating { try compact(log, part) }
                try commit(["\"\(part) at the end\""], to: log)
                log.close()
            }
            return true
        } catch {
            return false
        }
    }

    private func compact(_ log: JSONLog, _ part: Int) throws {
        let compaction = try log.beginCompaction()
        try commit(["\"\(part) during\""], to: log)
        let result = try LogFixture.write(compaction, log)
        try commit(["\"\(part) before the swap\""], to: log)
        try log.finishCompaction(result)
    }

    private func commit(_ lines: [String], to log: JSONLog) throws {
        attempted = lines
        try tolerating {
            try log.commit(LogFixture.group(lines), flush: true)
            committed += lines
        }
        attempted = []
    }

    @discardableResult
    private func tolerating<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch {
            guard goesOnAfterErrors else { throw error }
            return nil
        }
    }
}
