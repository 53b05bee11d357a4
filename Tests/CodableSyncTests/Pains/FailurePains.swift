import Foundation
import XCTest

@testable import CodableSync

/// Failures are retried or reported, and never lose a change.
final class FailurePains: EngineScenario {
    // P-05
    func testEveryTransientFailureIsRetriedWithoutACall() async throws {
        let codes = CloudError.Code.known.filter { CloudError($0).recovery == .retry }
        XCTAssertGreaterThanOrEqual(codes.count, 7)
        let lanes = [ScriptedDatabase.Operation.account, .zones, .fetch, .modify]
        // Every second pair of a code and a lane, unless all cases are requested.
        for (row, code) in codes.enumerated() {
            for lane in Cases.places(every: 2, row: row, below: 4).map({ lanes[$0] }) {
                let what = "\(code.name) of \(lane.rawValue)"
                let phone = try makeDevice(Note.self) {
                    $0.storage = .inMemory
                    $0.automaticallySyncs = true
                }
                phone.database.failNext(lane, code, times: 8)
                try await phone.engine.upload(Note(what.filter(\.isLetter)))
                var waits: [TimeInterval] = []
                for failure in 1...8 {
                    try await quiet(phone)
                    XCTAssertEqual(phone.database.count(lane), failure, what)
                    let status = try await phone.engine.diagnostics().status
                    XCTAssertTrue(status.isWaiting, "\(what), failure \(failure)")
                    if case .waiting(let date) = status {
                        waits.append(date.timeIntervalSince(clock.now.wall))
                    }
                    clock.advance(by: .seconds(1 << (failure - 1)))
                }
                try await quiet(phone)
                let isAtEnd = try await isDone(phone)
                XCTAssertTrue(isAtEnd, "\(what), the end")
                XCTAssertEqual(phone.database.count(lane), 9, what)
                let (early, late) = (waits.prefix(4).reduce(0, +), waits.suffix(4).reduce(0, +))
                if !waits.isEmpty { XCTAssertGreaterThan(late, early, "the waits grow: \(what)") }
                let parked = try await phone.engine.parkedChanges()
                XCTAssertEqual(parked, [], what)
                try await phone.engine.close()
            }
        }
    }

    /// Whether everything has been sent and the feed has been read to its end.
    private func isDone(_ phone: Device<Note>) async throws -> Bool {
        let diagnostics = try await phone.engine.diagnostics()
        return diagnostics.pendingCount == 0 && diagnostics.lastFetch != nil
    }

    // P-06
    func testNoServerErrorRemovesAChange() async throws {
        // Codes alternate between item errors and request errors, unless all cases are requested.
        for (row, code) in (CloudError.Code.known + [.unknown("tomorrow")]).enumerated() {
            for place in Cases.places(every: 2, row: row, below: 2) {
                let isOfTheItem = place == 0
                let name = "\(code.name)-\(isOfTheItem)"
                let phone = try makeDevice(Item<ClientWins>.self) {
                    $0.storage = .inMemory
                    $0.zoneName = name
                }
                let error = CloudError(code)
                if isOfTheItem {
                    phone.database.failItemAlways(name, error)
                } else {
                    phone.database.failAlways(.modify, error)
                }
                try await phone.engine.upload(Item(name, "mine"))
                for _ in 0..<10 { _ = await phone.beginSync().result }
                let pending = try await phone.pendingNames()
                XCTAssertEqual(pending, [name], name)
                let parkings = phone.events.parkedNames.count
                XCTAssertLessThanOrEqual(parkings, 1, name)
                let isReported = phone.events.all.contains { event in
                    switch event {
                    case .failed, .parked, .quotaExceeded, .unmentioned, .zoneLost, .conflictLoop: true
                    case .sendEnded(_, _, let failed): failed > 0
                    default: false
                    }
                }
                XCTAssertTrue(isReported, name)

                phone.database.failItemAlways(name, nil)
                phone.database.failAlways(.modify, nil)
                try await phone.engine.resolvePurge(.uploadAgain)
                try await phone.engine.retry(named: [name])
                for _ in 0..<2 where try await !phone.pendingNames().isEmpty {
                    _ = await phone.beginSync().result
                    clock.advance(by: .seconds(3600))
                }
                let server = try await serverRecords(name)
                XCTAssertEqual(server[name]?.fields["title"], "mine", name)
                let left = try await phone.pendingNames()
                XCTAssertEqual(left, [], name)
            }
        }
    }

    // P-20
    func testATooLargeRecordCostsOneRequest() async throws {
        let phone = try makeDevice(Note.self)
        phone.database.failItemAlways("large", CloudError(.limitExceeded))
        try await phone.engine.upload((0..<10).map { Note("n\($0)") } + [Note("large")])
        for _ in 0..<5 { try await phone.engine.sync() }
        XCTAssertEqual(phone.database.modifies.filter { $0.names.contains("large") }.count, 1)
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.tooLarge])
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 10)
    }

    // P-21
    func testTenFailuresCauseTenRetries() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        try await phone.engine.sync()
        let sends = phone.database.count(.modify)
        phone.database.failNext(.fetch, .networkFailure, times: 10)
        phone.database.failNext(.modify, .networkFailure, times: 10)
        let fake = try XCTUnwrap(phone.database.base as? FakeDatabase)
        try await phone.engine.upload(Note("a"))
        fake.emit(.changes(in: nil))
        func failures() -> Int { phone.events.count { if case .failed = $0 { true } else { false } } }
        try await passUntil("everything is sent", phone) {
            // Push notifications keep coming and change nothing while the engine waits.
            for _ in 0..<5 { fake.emit(.changes(in: nil)) }
            try await quiet(phone)
            return try await phone.pendingNames().isEmpty && failures() >= 20
        }
        try await quiet(phone)
        XCTAssertEqual(phone.database.count(.modify) - sends, 11)
        XCTAssertEqual(phone.database.peak(.fetch), 1)
        XCTAssertEqual(phone.database.peak(.modify), 1)
        XCTAssertEqual(failures(), 20)
    }

    // P-24
    func testOneBadRecordDoesNotBlockOthers() async throws {
        withoutSchema()
        let phone = try makeDevice(Note.self)
        phone.database.failItemAlways("n250", CloudError(.invalidArguments))
        try await phone.engine.upload((0..<500).map { Note("n\($0)") })
        let sent = try await phone.engine.sync()
        XCTAssertEqual(sent.sent, 499)
        XCTAssertEqual(phone.events.parkedNames, ["n250"])

        try await serverSave("n250", ["id": "n250", "title": .int64(7)])
        let tablet = try makeDevice(Note.self)
        try await tablet.engine.sync()
        let received = await tablet.take(3).flatMap(\.names)
        XCTAssertEqual(received.count, 499)
        let reported = tablet.events.all.compactMap { event -> String? in
            if case .undecodable(let name, _) = event { name } else { nil }
        }
        XCTAssertEqual(reported, ["n250"])
    }

    // P-27
    func testNothingWaitsForTheMainActor() async throws {
        let phone = try makeDevice(Note.self)
        let engine = phone.engine
        let outcome = await MainActor.run {
            // The main thread is blocked until the engine has finished elsewhere.
            let isDone = DispatchSemaphore(value: 0)
            Task.detached {
                try await engine.upload(Note("a"))
                try await engine.sync()
                for await _ in engine.changes { break }
                isDone.signal()
            }
            return isDone.wait(timeout: .now() + 120)
        }
        XCTAssertEqual(outcome, .success)
    }

    // P-27: a stream also survives trouble with the disk.
    func testAStreamSurvivesAFullDisk() async throws {
        let tablet = try makeDevice(Note.self)
        let (phone, files) = try makeFragileDevice(Note.self)
        let titles = Told<[String]>([])
        let changes = phone.engine.changes
        let loop = Task {
            for await change in changes { titles.withLock { $0 += change.models.map(\.title) } }
        }
        for (index, title) in ["before", "during", "after"].enumerated() {
            try await tablet.engine.upload(Note("a", title))
            try await tablet.engine.sync()
            if index == 1 { files.leaveRoom(for: 0) }
            let result = await phone.beginSync().result
            if index == 1 {
                XCTAssertThrowsError(try result.get())
                files.leaveRoom(for: nil)
            } else {
                XCTAssertNoThrow(try result.get())
                await titles.reach(title) { $0.last == title }
            }
        }
        XCTAssertEqual(titles.withLock { $0 }, ["before", "after"])
        loop.cancel()
    }
}

extension SyncStatus {
    var isWaiting: Bool {
        switch self {
        case .waiting, .offline: true
        default: false
        }
    }
}
