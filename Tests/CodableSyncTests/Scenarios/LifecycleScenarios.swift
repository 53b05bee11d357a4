import Foundation
import XCTest

@testable import CodableSync

/// Scenarios, group L: start, stop, close and release at any time.
class LifecycleScenarios: EngineScenario {
    // LC-01
    func testASecondStartDoesNothing() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        try await phone.engine.uploadOnce { [Note("a")] }
        try await phone.engine.start()
        try await quiet(phone)
        let before = phone.database.totalCount
        let counts = phone.engine.core.resources.counts
        let engine = phone.engine
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { try await engine.uploadOnce { [Note("b")] } } }
            try await group.waitForAll()
        }
        try await phone.engine.start()
        try await quiet(phone)
        XCTAssertEqual(phone.database.totalCount, before)
        XCTAssertEqual(phone.engine.core.resources.counts.tasks, counts.tasks)
        XCTAssertEqual(phone.engine.core.resources.counts.sleeps, counts.sleeps)
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a"])
    }

    // LC-02, P4
    func testAnAnswerAfterAStopStillCounts() async throws {
        for isSaved in [true, false] {
            let name = "a-\(isSaved)"
            let phone = try await makeRestingDevice {
                $0.storage = .inMemory
                $0.zoneName = name
            }
            _ = try await phone.drain()
            let gate = Gate()
            phone.database.plan(.modify, .holdAfter(gate))
            try await phone.engine.upload(Note(name, "mine"))
            await gate.reached()
            await phone.engine.stop()
            let before = phone.database.totalCount
            gate.open(throwing: isSaved ? nil : CloudError(.serverResponseLost))
            try await quiet(phone)
            XCTAssertEqual(phone.database.totalCount, before, "a stopped engine sends no request")
            var pending = try await phone.pendingNames()
            XCTAssertEqual(pending, isSaved ? [] : [name])
            let status = try await phone.engine.diagnostics().status
            XCTAssertEqual(status, .stopped)
            Calls.shared.reset(Merging.self)
            try await phone.engine.start()
            try await quiet(phone)
            pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], name)
            XCTAssertEqual(Calls.shared.count(Merging.self), 0)
            let changes = try await phone.drain()
            XCTAssertEqual(changes, [.saved([Note(name, "mine")])])
            try await phone.engine.close()
        }
    }

    // P4: the stop before the first call is remembered.
    func testAStopBeforeTheFirstCallCounts() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        await phone.engine.stop()
        try await phone.engine.upload(Note("a"))
        try await quiet(phone)
        await assertThrows(.stopped) { try await phone.engine.sync() }
        XCTAssertEqual(phone.database.totalCount, 0)
        try await phone.engine.start()
        try await passUntil("the change is sent", phone) { try await phone.pendingNames().isEmpty }
    }

    // LC-04, P2, P4, I-10
    func testCallsDuringASendAreCorrectWhateverItsOutcome() async throws {
        let outcomes: [CloudError?] = [nil, CloudError(.serverResponseLost), CloudError(.networkFailure)]
        for (number, outcome) in outcomes.enumerated() {
            for isHeldBefore in [true, false] {
                let zone = "Zone\(number)\(isHeldBefore)"
                let phone = try await makeRestingDevice {
                    $0.storage = .inMemory
                    $0.zoneName = zone
                }
                try await phone.engine.upload([
                    Note("deleted", "old"),
                    Note("edited", "old"),
                    Note("again", "old"),
                ])
                try await quiet(phone)
                let gate = Gate()
                phone.database.plan(.modify, isHeldBefore ? .holdBefore(gate) : .holdAfter(gate))
                try await phone.engine.upload([
                    Note("deleted", "v1"),
                    Note("edited", "v1"),
                    Note("again", "v1"),
                ])
                await gate.reached()
                try await phone.engine.delete(named: ["deleted", "again"])
                await phone.engine.stop()
                try await phone.engine.upload([Note("edited", "v2"), Note("new", "v2")])
                try await phone.engine.start()
                try await phone.engine.upload(Note("again", "v3"))
                var models = try await phone.engine.allModels()
                let expected = [Note("again", "v3"), Note("edited", "v2"), Note("new", "v2")]
                XCTAssertEqual(models, expected, zone)
                gate.open(throwing: outcome)
                try await passUntil("all changes are sent", phone) { try await phone.pendingNames().isEmpty }
                try await quiet(phone)
                models = try await phone.engine.allModels()
                XCTAssertEqual(models, expected, zone)
                let server = try await serverRecords(zone)
                XCTAssertEqual(
                    server.mapValues { $0.fields["title"] },
                    ["again": "v3", "edited": "v2", "new": "v2"],
                    zone
                )
                XCTAssertEqual(phone.database.peak(.modify), 1, zone)
                try await phone.engine.close()
            }
        }
    }

    // LC-04, P4: each request before the first send is held in turn.
    func testCallsDuringEachStepOfTheFirstSyncAreCorrect() async throws {
        let lanes: [ScriptedDatabase.Operation] = [.account, .zones, .subscriptions, .fetch, .modify]
        for (number, lane) in lanes.enumerated() {
            for isStoppedWhenAnswered in number < 3 ? [number % 2 == 0] : [true, false] {
                let zone = "First\(lane.rawValue)\(isStoppedWhenAnswered)"
                let phone = try makeDevice(Note.self) {
                    $0.automaticallySyncs = true
                    $0.storage = .inMemory
                    $0.zoneName = zone
                }
                let gate = Gate()
                phone.database.plan(lane, .holdAfter(gate))
                try await phone.engine.upload([Note("a", "v1"), Note("b", "v1")])
                await gate.reached()
                try await phone.engine.upload(Note("a", "v2"))
                await phone.engine.stop()
                try await phone.engine.delete(named: ["b"])
                if !isStoppedWhenAnswered { try await phone.engine.start() }
                gate.open()
                try await quiet(phone)
                try await phone.engine.start()
                try await passUntil("all changes are sent", phone) { try await phone.pendingNames().isEmpty }
                try await quiet(phone)
                let server = try await serverRecords(zone)
                XCTAssertEqual(server.mapValues { $0.fields["title"] }, ["a": "v2"], zone)
                XCTAssertLessThanOrEqual(phone.database.highestPeak, 1, zone)
                let models = try await phone.engine.allModels()
                XCTAssertEqual(models, [Note("a", "v2")], zone)
                try await phone.engine.close()
            }
        }
    }

    // LC-08
    func testCloseEndsEveryStreamAndEveryCall() async throws {
        let phone = try await makeRestingDevice()
        let engine = phone.engine
        let (changes, events, status, accounts) = (
            engine.changes, engine.events, engine.status, engine.accountStatus
        )
        let loops = [
            Task { for await _ in changes {} }, Task { for await _ in events {} },
            Task { for await _ in status {} }, Task { for await _ in accounts {} },
        ]
        let gate = Gate()
        phone.database.plan(.fetch, .holdBefore(gate))
        let waiting = (0..<5).map { _ in phone.beginSync() }
        await gate.reached()
        await engine.reach("all calls wait") { $0.waiterCount == 5 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await engine.close() } }
            try await group.waitForAll()
        }
        try await engine.close()
        for loop in loops { await loop.value }
        for call in waiting { await assertThrows(.closed) { try await call.value } }
        gate.open()
        let next = SyncEngine<Note>(database: phone.database, configuration: phone.configuration)
        try await next.upload(Note("b"))
        try await next.close()
    }

    // G4
    func testEveryCallOnAClosedEngineThrows() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("kept"))
        try await phone.engine.close()
        let engine = phone.engine
        await assertThrows(.closed) { try await engine.upload(Note("b")) }
        await assertThrows(.closed) { try await engine.delete(named: ["kept"]) }
        await assertThrows(.closed) { try await engine.uploadOnce { [Note("c")] } }
        await assertThrows(.closed) { try await engine.start() }
        await assertThrows(.closed) { try await engine.sync() }
        await assertThrows(.closed) { try await engine.sendChanges() }
        await assertThrows(.closed) { try await engine.fetchChanges() }
        await assertThrows(.closed) { try await engine.allModels() }
        await assertThrows(.closed) { try await engine.pendingChanges() }
        await assertThrows(.closed) { try await engine.resync() }
        await assertThrows(.closed) { try await engine.diagnostics() }
        await engine.stop()
        for await change in engine.changes { XCTFail("\(change)") }
        XCTAssertEqual(phone.database.totalCount, 0)
        try await phone.restart()
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["kept"])
    }

    // LC-08, P4
    func testClosingDuringTheOpeningEndsWaitingCalls() async throws {
        for round in 0..<50 {
            let phone = try makeDevice(Note.self) { $0.automaticallySyncs = round % 2 == 0 }
            let engine = phone.engine
            let calls = (0..<3).map { _ in phone.beginSync() }
            let upload = Task { try await engine.upload(Note("a")) }
            for _ in 0..<round % 10 { await Task.yield() }
            try await engine.close()
            for call in calls {
                let result = await call.result
                if case .failure(let error) = result { XCTAssertEqual(error as? SyncError, .closed) }
            }
            let isTaken = (try? await upload.value) != nil
            try await phone.restart()
            let model = try await phone.engine.model(named: "a")
            if isTaken { XCTAssertNotNil(model) }
            try await phone.engine.close()
        }
    }

    // LC-03, LC-10: for the engine; the machine's test runs thousands of rounds.
    func testStartsAndStopsWithUploadsLeakNothing() async throws {
        let phone = try await makeRestingDevice()
        let counts = phone.engine.core.resources.counts
        let sleepers = clock.sleeperCount
        var files: [Int] = []
        for round in 0..<300 {
            try await phone.engine.start()
            if round % 5 == 0 { try await phone.engine.upload(Note("n\(round % 50)", "\(round)")) }
            await phone.engine.stop()
            if round % 100 == 99 {
                try await quiet(phone)
                files.append(try openFiles())
            }
        }
        try await phone.engine.start()
        try await quiet(phone)
        XCTAssertEqual(phone.engine.core.resources.counts.tasks, counts.tasks)
        XCTAssertEqual(phone.engine.core.resources.counts.sleeps, counts.sleeps)
        await clock.reach("no timer is left") { $0.count == sleepers }
        XCTAssertLessThanOrEqual(files.last ?? 0, (files.first ?? 0) + 4)
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 10)
        XCTAssertEqual(phone.database.highestPeak, 1)
    }
}
