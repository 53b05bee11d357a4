import XCTest

@testable import CodableSync

/// Scenarios, group P: nothing is discarded or parked silently, and no contents are shown without need.
final class TransparencyScenarios: EngineScenario {
    // MARK: OB-01

    /// OB-01.
    func testParkedChangesAreListedAndCanBeRetriedReplacedOrDiscarded() async throws {
        let phone = try makeDevice(Note.self)
        let names = ["retried", "replaced", "dropped"]
        for name in names { phone.database.failItemAlways(name, CloudError(.invalidArguments)) }
        phone.database.failItemAlways("strange", CloudError(.unknown("strange")))
        try await phone.engine.upload(names.map { Note($0, "first") } + [Note("strange")])
        for _ in 0..<8 {
            try await phone.engine.sync()
            pass(.seconds(3600))
        }
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(Set(parked.map(\.recordName)), Set(names + ["strange"]))
        for change in parked {
            XCTAssertEqual(change.client?.id, change.recordName)
            XCTAssertFalse(change.parkReason?.message.isEmpty ?? true)
            let isStrange = change.recordName == "strange"
            XCTAssertEqual(change.parkReason?.kind, isStrange ? .unknownError : .refused)
            XCTAssertEqual(change.parkReason?.attempts, isStrange ? 8 : 1)
        }
        try await phone.restart()
        let kept = try await phone.engine.parkedChanges()
        XCTAssertEqual(kept, parked, "reasons and attempts survive a restart")

        for name in names + ["strange"] { phone.database.failItemAlways(name, nil) }
        try await phone.engine.retry(named: ["retried"])
        try await phone.engine.upload(Note("replaced", "second"))
        try await phone.engine.discard(named: ["dropped"])
        try await phone.engine.delete(named: ["strange"])
        try await phone.engine.sync()
        let left = try await phone.engine.parkedChanges()
        XCTAssertEqual(left, [])
        let server = try await serverRecords().mapValues { $0.fields["title"] }
        XCTAssertEqual(server, ["retried": "first", "replaced": "second"])
    }

    // MARK: OB-02

    /// Resolves randomly by seed: keeps either side, discards the edit, or throws.
    private enum Moody: ItemPolicy {
        static let die = Locked(SplitMix64(seed: 5))

        static func roll(_ sides: UInt64) -> UInt64 { die.withLock { $0.next() % sides } }

        static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
            switch roll(4) {
            case 0: return conflict.client
            case 1: return conflict.server
            case 2: return nil
            default: throw Throwing.Undecided()
            }
        }

        static func resolveDeletion(of client: Item<Self>) throws -> Item<Self>? {
            roll(2) == 0 ? client : nil
        }
    }

    /// OB-02.
    func testEveryDiscardedLocalValueHasOneEvent() async throws {
        let phone = try makeDevice(Item<Moody>.self)
        var discarded: [String] = []
        for round in 0..<60 {
            let name = "r-\(Moody.roll(3))"
            let stamp = "stamp \(round)"
            pass()
            switch Moody.roll(5) {
            case 0: break
            case 1: try await serverDelete(name)
            case 2: try await phone.engine.fetchChanges()
            default:
                try await serverSave(
                    name,
                    ["id": .string(name), "title": .string("theirs \(round)"), "count": 0]
                )
            }
            pass()
            // The next upload replaces an edit that a conflict parked.
            let replaced = try await phone.engine.parkedChanges().first { $0.recordName == name }
            if let title = replaced?.client?.title { discarded.append(title) }
            try await phone.engine.upload(Item<Moody>(name, stamp))
            if Moody.roll(6) == 0 { try await phone.engine.discard(named: [name]) }
            if Moody.roll(4) == 0 { phone.database.plan(.modify, .loseAnswer) }
            _ = await phone.beginSync().result
            phone.database.clearPlans()
            pass(.seconds(3600))
            try await phone.engine.sync()
            if Moody.roll(5) == 0 { try await phone.restart() }
            let pending = try await phone.engine.pendingChanges().filter { $0.recordName == name }
            let server = try await serverRecords()[name]?.fields["title"]
            if pending.isEmpty, server != .string(stamp) { discarded.append(stamp) }
        }
        XCTAssertGreaterThan(discarded.count, 10)
        XCTAssertEqual(phone.events.discardedTitles.sorted(), discarded.sorted())
        try await phone.restart()
        let notes = try await phone.engine.diagnostics().notes.filter { $0.kind == .discarded }
        XCTAssertEqual(notes.count, discarded.count)
        XCTAssertTrue(notes.allSatisfy { $0.recordName != nil })
    }

    // MARK: OB-04

    /// OB-04.
    func testAModelParkedAsTooLargeCanBeReplacedDeletedOrKept() async throws {
        let phone = try makeDevice(Note.self)
        let names = ["smaller", "deleted", "kept"]
        for name in names { phone.database.failItemAlways(name, CloudError(.limitExceeded)) }
        try await phone.engine.upload(names.map { Note($0, "large") })
        try await phone.engine.sync()
        try await phone.restart()
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(Set(parked.map(\.recordName)), Set(names))
        XCTAssertEqual(Set(parked.map(\.parkReason?.kind)), [.tooLarge])
        for name in names { phone.database.failItemAlways(name, nil) }
        try await phone.engine.upload(Note("smaller", "small"))
        let smaller = try await phone.engine.parkedChanges().map(\.recordName)
        XCTAssertEqual(Set(smaller), ["deleted", "kept"])
        try await phone.engine.delete(named: ["deleted"])
        let deleted = try await phone.engine.parkedChanges().map(\.recordName)
        XCTAssertEqual(deleted, ["kept"])
        try await phone.engine.sync()
        let server = try await serverRecords().mapValues { $0.fields["title"] }
        XCTAssertEqual(server, ["smaller": "small"])
        try await phone.restart()
        let kept = try await phone.engine.parkedChanges()
        XCTAssertEqual(kept.map(\.client), [Note("kept", "large")])
    }

    // MARK: I-48

    // I-48
    func testDiagnosticsKeepNotesAcrossRestarts() async throws {
        let phone = try makeDevice(Note.self)
        phone.database.failItemAlways("refused", CloudError(.invalidArguments))
        try await phone.engine.upload([Note("refused"), Note("dropped")])
        try await phone.engine.discard(named: ["dropped"])
        try await phone.engine.sync()
        try await serverSave("strange", ["id": "strange", "title": 7, "count": 0])
        try await phone.engine.fetchChanges()
        _ = try await phone.drain(leaving: 1)
        let undecodable = try await phone.engine.diagnostics().undecodable
        XCTAssertEqual(undecodable, ["strange"])
        for _ in 0..<2 {
            let notes = try await phone.engine.diagnostics().notes
            XCTAssertEqual(notes.map(\.kind), [.discarded, .parked])
            XCTAssertEqual(notes.map(\.recordName), ["dropped", "refused"])
            try await phone.restart()
        }
        let diagnostics = try await phone.engine.diagnostics()
        XCTAssertEqual(diagnostics.parkedCount, 1)
        XCTAssertEqual(diagnostics.undeliveredCount, 1, "the undecodable record is kept")
        XCTAssertEqual(diagnostics.knownCount, 1)
    }

    // I-48
    func testDiagnosticsKeepTheLatestThousandNotes() async throws {
        let phone = try makeDevice(Note.self)
        let names = (0..<1100).map { "n-\($0)" }
        try await phone.engine.upload(names.map { Note($0) })
        try await phone.engine.discard(named: names)
        let notes = try await phone.engine.diagnostics().notes
        XCTAssertEqual(notes.map(\.recordName), names.suffix(1000))
        try await phone.restart()
        let kept = try await phone.engine.diagnostics().notes
        XCTAssertEqual(kept, notes)
    }

    /// OB-01: an app can react to the event immediately.
    func testAParkingIsReportedOnceItIsStored() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.sync()
        try await phone.engine.upload(Note("a"))
        let gate = Gate()
        phone.database.failItem("a", CloudError(.invalidArguments))
        phone.database.plan(.modify, .holdAfter(gate))
        let send = Task { [engine = phone.engine] in try await engine.sendChanges() }
        await gate.reached()
        let parking = files.hold(.append)
        gate.open()
        await parking.reached()
        XCTAssertEqual(phone.events.parkedNames, [], "retry would not find the change yet")
        parking.release()
        _ = try await send.value
        XCTAssertEqual(phone.events.parkedNames, ["a"])
        let parked = try await phone.engine.parkedChanges().map(\.recordName)
        XCTAssertEqual(parked, ["a"])
    }
}

extension EventLog {
    /// The titles of this device's discarded values, one for each event.
    fileprivate var discardedTitles: [String] {
        all.compactMap { event -> RecordValue? in
            switch event {
            case .conflictResolved(_, let client, _, .server): client.fields["title"]
            case .editOfDeleted(_, let client, kept: false): client.fields["title"]
            case .discarded(_, let client, .discarded), .discarded(_, let client, .replaced):
                client.fields["title"]
            default: nil
            }
        }.compactMap { if case .string(let title) = $0 { title } else { nil } }
    }
}
