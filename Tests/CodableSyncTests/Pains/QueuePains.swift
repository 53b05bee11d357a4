import Foundation
import XCTest

@testable import CodableSync

/// Changes that other libraries lost in their queues are kept here.
final class QueuePains: EngineScenario {
    private enum Policy: MergingPolicy {}
    private typealias Model = Item<Policy>

    override func setUpWithError() throws {
        try super.setUpWithError()
        Calls.shared.reset(Policy.self)
    }

    // P-01
    func testAnEditDuringAnUploadSurvivesARestartAtAnyPoint() async throws {
        for crash in ["never", "before the answer", "after the answer"] {
            let (phone, _) = try makeFragileDevice(Model.self)
            let gate = Gate()
            phone.database.plan(.modify, .holdAfter(gate))
            try await phone.engine.upload(Model(crash, "first"))
            let run = phone.beginSync()
            await gate.reached()
            try await phone.engine.upload(Model(crash, "second"))
            // Nothing is sent after the held request, so the second edit stays queued.
            phone.database.failNext(.modify, .networkFailure)
            if crash == "before the answer" { try await phone.crash() }
            gate.open()
            _ = await run.result
            if crash == "after the answer" { try await phone.crash() }
            let pending = try await phone.engine.pendingChanges()
            XCTAssertEqual(pending.map(\.client?.title), ["second"], crash)
            phone.database.clearPlans()
            try await phone.engine.sync()
            let server = try await serverRecords()
            XCTAssertEqual(server[crash]?.fields["title"], "second", crash)
            let told = try await phone.drain().flatMap(\.models).filter { $0.id == crash }
            XCTAssertEqual(told.map(\.title), ["second"], crash)
        }
        XCTAssertEqual(Calls.shared.count(Policy.self), 0)
    }

    // P-02
    func testQuickEditsNeverConflictWithEachOther() async throws {
        let phone = try makeDevice(Model.self) { $0.automaticallySyncs = true }
        try await phone.engine.sync()
        for edit in 1...30 {
            // Every third request is held until the next edit has been made.
            let gate = Gate()
            if edit % 3 == 0 {
                phone.database.plan(.modify, edit % 2 == 0 ? .holdBefore(gate) : .holdAfter(gate))
            }
            try await phone.engine.upload(Model("a", "v\(edit)", count: edit))
            if edit % 3 == 0 {
                await gate.reached()
                try await phone.engine.upload(Model("a", "during \(edit)", count: edit))
            }
            gate.open()
        }
        try await phone.engine.upload(Model("a", "last", count: 100))
        try await quiet(phone)
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "last")
        XCTAssertEqual(Calls.shared.count(Policy.self), 0)
    }

    // P-09
    func testEverySequenceOfUploadsAndDeletionsEndsWithTheLastCall() async throws {
        let phone = try makeDevice(Model.self)
        // Four calls, upload or delete, each of the first three followed by a sync, a lost response, or
        // nothing: every fourth of the 27 combinations, unless all cases are requested.
        for row in 0..<16 {
            for pauses in Cases.places(every: 9, row: row, below: 27) {
                let name = "r\(row)-\(pauses)"
                var pause = pauses
                for step in 0..<4 {
                    if row >> step & 1 == 0 {
                        try await phone.engine.upload(Model(name, "step \(step)"))
                    } else {
                        try await phone.engine.delete(named: [name])
                    }
                    switch pause % 3 {
                    case 1: try await phone.engine.sendChanges()
                    case 2:
                        phone.database.plan(.modify, .loseAnswer)
                        _ = await Task { [engine = phone.engine] in try await engine.sendChanges() }.result
                        phone.database.clearPlans()
                    default: break
                    }
                    pause /= 3
                }
            }
        }
        try await phone.engine.sync()
        let server = try await serverRecords()
        for row in 0..<16 {
            for pauses in Cases.places(every: 9, row: row, below: 27) {
                let name = "r\(row)-\(pauses)"
                let expected: RecordValue? = row >> 3 & 1 == 0 ? "step 3" : nil
                XCTAssertEqual(server[name]?.fields["title"], expected, name)
            }
        }
        XCTAssertEqual(Calls.shared.count(Policy.self), 0)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
        try await assertEqualEverywhere(phone)
    }

    // P-11
    func testADamagedStateFileLosesNothingThatCanBeRead() async throws {
        let (phone, files) = try makeFragileDevice(Model.self)
        for number in 0..<20 { try await phone.engine.upload(Model("n\(number)", "Tea")) }
        try await phone.engine.close()
        let path = try XCTUnwrap(files.files.keys.first { $0.hasSuffix(".jsonl") })
        var bytes = try XCTUnwrap(files.bytes(at: path))
        let middle = bytes.count / 2
        bytes[middle] ^= 0x15
        files.place(bytes, at: path)

        let again = try makeDevice(Model.self) { $0.fileSystem = files }
        let pending = try await again.pendingNames()
        XCTAssertGreaterThanOrEqual(pending.count, 19)
        XCTAssertTrue(
            again.events.all.contains { if case .stateRecovered = $0 { true } else { false } },
            "\(again.events.all)"
        )
        let damaged = files.files.values.contains(bytes)
        XCTAssertTrue(damaged, "the damaged file is kept: \(files.files.keys.sorted())")
        try await again.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), pending)
    }

    // P-12: at each moment of every second call, unless all cases are requested.
    func testAcknowledgedEditsSurviveACrashAtEveryWrite() async throws {
        for call in Cases.places(every: 2) {
            for moment in SimulatedDisk.Moment.allCases {
                let (phone, files) = try makeFragileDevice(Model.self)
                files.powerOff(at: call, moment)
                var acknowledged: [String] = []
                var wasInterrupted = false
                for name in ["a", "b", "c", "d"] {
                    do {
                        try await phone.engine.upload(Model(name))
                        acknowledged.append(name)
                    } catch {
                        wasInterrupted = true
                    }
                }
                if !wasInterrupted {
                    XCTAssertGreaterThan(call, 10, "the uploads make more than ten calls")
                    return
                }
                for survivors in [SimulatedDisk.Survivors.onlySynced, .allWrites, .random(seed: 7)] {
                    let after = try makeDevice(Model.self) {
                        $0.fileSystem = files.crashed(keeping: survivors)
                    }
                    let pending = try await after.pendingNames()
                    XCTAssertTrue(
                        Set(acknowledged).isSubset(of: pending),
                        "call \(call), \(moment), \(survivors): \(acknowledged) of \(pending)"
                    )
                }
            }
        }
        XCTFail("the uploads never ran without a crash")
    }

    // P-25
    func testTheCostOfQueueingDoesNotGrowWithTheQueue() async throws {
        let (phone, files) = try makeFragileDevice(Model.self)
        func cost(ofUploading names: [String]) async throws -> (bytes: Int, calls: Int) {
            let (bytes, calls) = (files.writtenBytes, files.calls.count)
            for name in names { try await phone.engine.upload(Model(name, "Tea")) }
            return (files.writtenBytes - bytes, files.calls.count - calls)
        }
        let first = try await cost(ofUploading: (0..<150).map { "first-\($0)" })
        try await phone.engine.upload((0..<2000).map { Model("n\($0)", "Tea") })
        let last = try await cost(ofUploading: (0..<150).map { "last-\($0)" })
        XCTAssertLessThan(last.bytes, first.bytes * 12 / 10)
        XCTAssertLessThan(last.calls, first.calls * 12 / 10)
        XCTAssertLessThan(last.bytes, 150 * 1000)
        XCTAssertTrue(files.files.keys.allSatisfy { $0.hasPrefix("/device") })
    }
}
