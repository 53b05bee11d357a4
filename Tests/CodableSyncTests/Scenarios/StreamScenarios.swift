import XCTest

@testable import CodableSync

/// When changes count as accepted, and how long a stream holds them back.
class StreamScenarios: EngineScenario {
    struct Left: Error {}

    /// A device with this number of undelivered records.
    func makeFilled(
        _ count: Int,
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) async throws -> Device<Note> {
        let phone = try makeDevice(Note.self, configure: configure)
        try await fill(phone.database, count)
        try await phone.engine.fetchChanges()
        return phone
    }

    func undelivered(_ device: Device<Note>) async throws -> Int {
        try await device.engine.diagnostics().undeliveredCount
    }

    // I-24
    func testRequestingTheNextElementAcceptsThePreviousOne() async throws {
        let phone = try await makeFilled(450)
        var iterator = phone.engine.changes.makeAsyncIterator()
        let first = await iterator.next()
        XCTAssertEqual(first?.names.count, 200)
        let held = try await undelivered(phone)
        XCTAssertEqual(held, 450)
        let second = await iterator.next()
        XCTAssertEqual(second?.names.count, 200)
        await phone.engine.reach("the first is accepted") { $0.undeliveredCount == 250 }
        try await phone.restart()
        let rest = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(rest.count, 250)
        XCTAssertTrue(Set(rest).isDisjoint(with: first?.names ?? []))
        XCTAssertTrue(Set(rest).isSuperset(of: second?.names ?? []))
    }

    // FD-13.
    func testLeavingALoopAcceptsNothing() async throws {
        let phone = try await makeFilled(3)
        let engine = phone.engine
        let ways: [(String, @Sendable () async throws -> [String]?)] = [
            (
                "break",
                {
                    for await change in engine.changes { return change.names }; return nil
                }
            ),
            (
                "throw",
                {
                    var names: [String]?
                    do {
                        for await change in engine.changes {
                            names = change.names
                            throw Left()
                        }
                    } catch {}
                    return names
                }
            ),
            (
                "cancelled in the body",
                {
                    var names: [[String]] = []
                    for await change in engine.changes {
                        names.append(change.names)
                        withUnsafeCurrentTask { $0?.cancel() }
                    }
                    return names.count == 1 ? names[0] : nil
                }
            ),
        ]
        for (way, loop) in ways {
            let names = try await Task { try await loop() }.value
            XCTAssertEqual(names?.sorted(), ["r-0", "r-1", "r-2"], way)
            let held = try await undelivered(phone)
            XCTAssertEqual(held, 3, way)
        }
        let next = try await phone.drain()
        XCTAssertEqual(
            next.map { $0.names.sorted() },
            [["r-0", "r-1", "r-2"]],
            "the next stream gets it again"
        )
    }

    // FD-13.
    func testALoopCanceledWhileWaitingHasAcceptedItsPreviousElement() async throws {
        let phone = try await makeFilled(3)
        let changes = phone.engine.changes
        let loop = Task { () -> Int in
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        await phone.engine.reach("the loop waits") {
            $0.undeliveredCount == 0 && $0.machine?.state.summary.isFollowed == true
        }
        loop.cancel()
        let count = await loop.value
        XCTAssertEqual(count, 1)
        try await serverSave("r-1", ["title": "later"])
        try await phone.engine.fetchChanges()
        let next = try await phone.drain()
        XCTAssertEqual(next.map(\.names), [["r-1"]])
    }

    // I-24, I-27
    func testUnacceptedChangesAreDeliveredAgainInOrderAfterRestarts() async throws {
        let phone = try makeDevice(Note.self)
        var seen: [String: Int] = [:]
        var last: [String: Int] = [:]
        var random = SplitMix64(seed: 11)
        for version in 1...60 {
            let name = "r-\(random.next() % 4)"
            try await serverSave(Note(name, count: version))
            last[name] = version
            if random.next() % 2 == 0 { try await phone.engine.fetchChanges() }
            var iterator = phone.engine.changes.makeAsyncIterator()
            var inHand = 0
            for _ in 0..<(random.next() % 4) {
                let waiting = try await undelivered(phone)
                guard waiting > inHand, let change = await iterator.next() else { break }
                inHand = change.names.count
                for model in change.models {
                    XCTAssertGreaterThanOrEqual(model.count, seen[model.id] ?? 0, model.id)
                    seen[model.id] = model.count
                }
            }
            if random.next() % 4 == 0 { try await phone.restart() }
        }
        try await phone.engine.fetchChanges()
        for change in try await phone.drain() { for model in change.models { seen[model.id] = model.count } }
        XCTAssertEqual(seen, last)
    }

    func testEachStreamGetsEveryChangeAndAllMustAcceptIt() async throws {
        let phone = try await makeFilled(3)
        var first = phone.engine.changes.makeAsyncIterator()
        var second = phone.engine.changes.makeAsyncIterator()
        let (one, two) = (await first.next(), await second.next())
        XCTAssertEqual(one, two)
        try await serverSave("r-7", ["id": "r-7", "title": "", "count": 0])
        try await phone.engine.fetchChanges()
        let next = await first.next()
        XCTAssertEqual(next?.names, ["r-7"])
        let held = try await undelivered(phone)
        XCTAssertEqual(held, 4, "the second stream has accepted nothing")
        let secondNext = await second.next()
        XCTAssertEqual(secondNext?.names, ["r-7"])
        await phone.engine.reach("both have accepted the first") { $0.undeliveredCount == 1 }
    }

    func testAStreamThatIsNeverIteratedHoldsNothingBack() async throws {
        let phone = try await makeFilled(3)
        let kept = phone.engine.changes
        _ = try await phone.drain()
        let held = try await undelivered(phone)
        XCTAssertEqual(held, 0)
        withExtendedLifetime(kept) {}
    }

    func testAStreamKeptAfterABreakHoldsBackChanges() async throws {
        let phone = try await makeFilled(3)
        var kept: AsyncStream<ModelChange<Note>>? = phone.engine.changes
        if let kept { for await _ in kept { break } }
        var other = phone.engine.changes.makeAsyncIterator()
        _ = await other.next()
        let waiting = Task { await other.next() }
        try await serverSave("r-7", ["id": "r-7", "title": "", "count": 0])
        try await phone.engine.fetchChanges()
        let next = await waiting.value
        XCTAssertEqual(next?.names, ["r-7"])
        let held = try await undelivered(phone)
        XCTAssertEqual(held, 4, "the kept stream holds them back")
        kept = nil
        await phone.engine.reach("the kept stream is released") { $0.undeliveredCount == 1 }
    }

    func testASecondLoopOnAStreamAcceptsTheFirstLoopsElement() async throws {
        let phone = try await makeFilled(450)
        let kept = phone.engine.changes
        var first: [String] = []
        for await change in kept {
            first = change.names
            break
        }
        for await change in kept {
            XCTAssertTrue(Set(first).isDisjoint(with: change.names))
            break
        }
        await phone.engine.reach("the first is accepted") { $0.undeliveredCount == 250 }
    }

    // I-28
    func testChangesOfARecordAreCoalescedIncludingDeletions() async throws {
        let phone = try makeDevice(Note.self)
        _ = try await phone.drain()
        for round in 0..<20 {
            for name in ["a", "b", "c"] { try await serverSave(Note(name, "\(round)")) }
            if round == 19 { try await serverDelete("c") }
            try await phone.engine.fetchChanges()
            let held = try await undelivered(phone)
            XCTAssertLessThanOrEqual(held, 3)
        }
        let changes = try await phone.drain()
        XCTAssertEqual(Set(changes.flatMap(\.models)), [Note("a", "19"), Note("b", "19")])
        XCTAssertEqual(changes.last, .deleted(["c"]))
        XCTAssertEqual(changes.flatMap(\.names).count, 3)
    }

    // I-29
    func testAnEchoOfAnOwnWriteIsNeverDeliveredAsAnUpdate() async throws {
        let phone = try makeDevice(Note.self)
        var told = try await phone.drain()
        try await phone.engine.upload([Note("a", "1"), Note("b", "1")])
        try await phone.engine.sync()
        try await phone.engine.fetchChanges()
        phone.database.plan(.modify, .loseAnswer)
        try await phone.engine.upload(Note("a", "2"))
        _ = await phone.beginSync().result
        try await phone.engine.sync()
        told += try await phone.drain()
        phone.database.plan(.modify, .loseAnswer)
        try await phone.engine.upload(Note("b", "2"))
        _ = await phone.beginSync().result
        try await phone.restart()
        phone.database.failNext(.fetch, .changeTokenExpired)
        try await phone.engine.sync()
        try await phone.engine.resync()
        try await phone.engine.sync()
        told += try await phone.drain()
        for change in told {
            guard case .saved = change else { return XCTFail("\(change)") }
        }
        XCTAssertEqual(Set(told.flatMap(\.models)).intersection([Note("a", "2"), Note("b", "2")]).count, 2)
    }

    /// CR-11.
    func testAnAppThatCrashesOnOneRecordGetsAllOthers() async throws {
        let phone = try await makeFilled(30)
        let deadly = "r-17"
        var accepted: Set<String> = []
        var reasons: [[String]] = []
        for _ in 0..<6 {
            var inHand: [String] = []
            for await change in phone.engine.changes {
                accepted.formUnion(inHand)
                inHand = change.names
                if inHand.contains(deadly) { break }
            }
            reasons.append(inHand)
            try await phone.restart()
        }
        XCTAssertEqual(accepted, Set((0..<30).map { "r-\($0)" }).subtracting([deadly]))
        XCTAssertEqual(reasons[0].count, 30)
        XCTAssertEqual(Array(reasons.dropFirst()), Array(repeating: [deadly], count: 5))
        // The app can skip the record: requesting the next element accepts it.
        let last = try await phone.drain()
        XCTAssertEqual(last.map(\.names), [[deadly]])
        try await phone.restart()
        let again = try await phone.drain()
        XCTAssertEqual(again, [])
    }

    /// CR-11: the process crashes, but the device keeps its power.
    func testElementsBeingHandledAreRememberedAfterACrash() async throws {
        let disk = SimulatedFileSystem()
        let phone = try makeDevice(Note.self, on: disk)
        try await fill(phone.database, 5)
        try await phone.engine.fetchChanges()
        let first = await phone.peek()
        XCTAssertEqual(first?.names.count, 5)
        let (again, _) = try await crash(phone, on: disk, keeping: .allWrites)
        again.database.isReachable = false
        let elements = try await again.drain()
        XCTAssertEqual(elements.map(\.names.count), [1, 1, 1, 1, 1])
    }
}
