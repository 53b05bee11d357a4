import XCTest

@testable import CodableSync

/// Scenarios, group C: fetching.
class FetchingScenarios: EngineScenario {
    /// FD-01.
    func testARecordOfAnotherDeviceIsDeliveredOnce() async throws {
        let phone = try makeDevice(Note.self)
        let saved = try await serverSave("a", ["id": "a", "title": "theirs", "count": 1])
        try await phone.engine.fetchChanges()
        let first = try await phone.drain()
        XCTAssertEqual(first, [.updated([Note("a", "theirs", count: 1)])])
        try await phone.engine.fetchChanges()
        let second = try await phone.drain()
        XCTAssertEqual(second, [])
        // The change tag is stored: an edit is saved without a conflict.
        try await phone.engine.upload(Note("a", "ours", count: 1))
        try await phone.engine.sendChanges()
        XCTAssertEqual(phone.database.modifies.count, 1)
        XCTAssertEqual(phone.database.modifies.first?.saves.first?.recordChangeTag, saved.recordChangeTag)
    }

    /// FD-02.
    func testAChangeOfAnotherDeviceIsDelivered() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        try await tablet.engine.upload(Note("a", "new"))
        try await tablet.engine.sync()
        try await phone.engine.sync()
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.updated([Note("a", "new")])])
    }

    /// FD-03.
    func testADeletionOfAnotherDeviceIsDeliveredAndRemovesAllState() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        try await phone.engine.sync()
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.deleted(["a"])])
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 0)
        // No change tag is left: the next save creates the record.
        try await phone.engine.upload(Note("a", "anew"))
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.last?.saves.map(\.recordChangeTag), [nil])
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "anew")
    }

    /// FD-04.
    func testAllDeletionsInOnePageAreDelivered() async throws {
        let names = ["a", "b", "c", "d"]
        let (phone, tablet) = try await makePair(Note("a"), Note("b"), Note("c"), Note("d"), Note("e"))
        try await tablet.engine.delete(named: names)
        try await tablet.engine.sync()
        let pages = phone.database.count(.fetch)
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.count(.fetch), pages + 1)
        let changes = try await phone.drain()
        XCTAssertEqual(changes.flatMap(\.names).sorted(), names)
        XCTAssertTrue(changes.allSatisfy { if case .deleted = $0 { true } else { false } })
    }

    /// FD-05.
    func testANewTagWithEqualContentsIsNotAConflict() async throws {
        let phone = try makeDevice(Item<Touched>.self)
        try await phone.engine.upload(Item("a", "old"))
        try await phone.engine.sync()
        try await show(phone)
        Calls.shared.reset(Touched.self)
        for order in SyncOrder.allCases {
            try await phone.engine.upload(Item("a", order.rawValue))
            let fields = try await serverRecords()["a"]?.fields ?? [:]
            try await serverSave("a", fields)
            try await order.sync(phone)
            let server = try await serverRecords()
            XCTAssertEqual(server["a"]?.fields["title"], .string(order.rawValue))
        }
        XCTAssertEqual(Calls.shared.count(Touched.self), 0)
        let changes = try await phone.drain()
        XCTAssertTrue(changes.allSatisfy { if case .saved = $0 { true } else { false } }, "\(changes)")
    }

    /// FD-06.
    func testAnOlderVersionThatArrivesLaterIsIgnored() async throws {
        let (phone, _) = try await makePair(Note("a", "first"))
        let old = try await serverSave("a", ["id": "a", "title": "second", "count": 0])
        pass()
        try await serverSave("a", ["id": "a", "title": "third", "count": 0])
        try await phone.engine.fetchChanges()
        try await show(phone)
        try await serverSave("b", ["id": "b", "title": "b", "count": 0])
        phone.database.changeFetchAnswers { page in
            var page = page
            page.modifications[old.recordID] = .success(old)
            return page
        }
        try await phone.engine.fetchChanges()
        let changes = try await phone.drain()
        XCTAssertEqual(changes.flatMap(\.names), ["b"])
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model?.title, "third")
    }

    /// FD-16.
    func testAnOwnSaveIsNotDeliveredAsAnUpdate() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "mine"))
        try await phone.engine.sync()
        try await show(phone)
        // The same if the feed shows the save first, because its response is late.
        let gate = Gate()
        phone.database.plan(.modify, .holdAfter(gate))
        try await phone.engine.upload(Note("a", "mine again"))
        let engine = phone.engine
        let sending = Task { try await engine.sendChanges() }
        await gate.reached()
        pass()
        _ = await sending.result
        let fetched = try await phone.engine.fetchChanges()
        XCTAssertEqual(fetched.fetched, 0)
        gate.open()
        try await phone.engine.sync()
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.saved([Note("a", "mine again")])])
        XCTAssertEqual(phone.database.modifies.count, 2)
    }

    /// FD-18.
    func testRecordsOfUnknownTypesLeaveNoTrace() async throws {
        let phone = try makeDevice(Note.self)
        try await serverModify(phone.database, saving: [("x", "Stranger", ["id": "x"])])
        try await phone.engine.fetchChanges()
        XCTAssertTrue(phone.events.all.contains(.ignoredRecords(count: 1)))
        try await serverModify(phone.database, saving: [("x", "Stranger", ["id": "y"])])
        try await phone.engine.sync()
        try await serverModify(phone.database, deleting: ["x"])
        try await phone.engine.sync()
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [])
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 0)
    }

    /// FD-19.
    func testForeignRecordNamesAreAcceptedIfTheyAreValid() async throws {
        let phone = try makeDevice(Note.self)
        var served: [RecordID: Result<Record, CloudError>] = [:]
        for name in ["1:customRecord", "bar", "_x", "", String(repeating: "n", count: 256)] {
            let id = RecordID(recordName: name, zoneID: ZoneID(zoneName: "Item"))
            let system = SystemFields(recordChangeTag: "t-\(name.count)", modificationDate: clock.now.wall)
            served[id] = .success(
                Record(
                    recordType: "Item",
                    recordID: id,
                    fields: ["id": .string(name), "title": "", "count": 0, "tags": .list([])],
                    systemFields: system
                )
            )
        }
        let page = served
        phone.database.changeFetchAnswers { changes in
            var changes = changes
            changes.modifications = page
            return changes
        }
        try await phone.engine.fetchChanges()
        let names = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(names, ["1:customRecord", "bar"])
        XCTAssertTrue(phone.events.all.contains(.ignoredRecords(count: 3)))
    }

    /// FD-20.
    func testTheLastOfTwoVersionsInAPageCounts() async throws {
        let phone = try makeDevice(Note.self)
        try await serverSave("a", ["id": "a", "title": "first", "count": 0])
        try await serverSave("a", ["id": "a", "title": "last", "count": 0])
        try await phone.engine.fetchChanges()
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.updated([Note("a", "last")])])
    }

    /// FD-21.
    func testARecordChangedAndDeletedInAPageIsDeleted() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        let changed = try await serverSave("a", ["id": "a", "title": "new", "count": 0])
        try await tablet.engine.sync()
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        phone.database.changeFetchAnswers { page in
            var page = page
            page.modifications[changed.recordID] = .success(changed)
            return page
        }
        try await phone.engine.fetchChanges()
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.deleted(["a"])])
        let model = try await phone.engine.model(named: "a")
        XCTAssertNil(model)
    }

    /// FD-27.
    func testAPendingEditIsNotOverwrittenByAFetch() async throws {
        let (phone, tablet) = try await makePair(Item<Fetched>("a", "old"))
        Calls.shared.reset(Fetched.self)
        try await phone.engine.upload(Item<Fetched>("a", "old", note: "mine"))
        try await tablet.engine.upload(Item<Fetched>("a", "old", color: "theirs"))
        try await tablet.engine.sync()
        try await phone.engine.fetchChanges()
        XCTAssertEqual(Calls.shared.count(Fetched.self), 1)
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model, Item("a", "old", note: "mine", color: "theirs"))
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName), ["a"])
    }

    /// FD-30.
    func testARecordDeletedAndRecreatedHasTheNewValue() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"), Note("b", "old"))
        for (name, isFetchedBetween) in [("a", false), ("b", true)] {
            try await tablet.engine.delete(named: [name])
            try await tablet.engine.sync()
            if isFetchedBetween { try await phone.engine.fetchChanges() }
            try await tablet.engine.upload(Note(name, "anew"))
            try await tablet.engine.sync()
            try await phone.engine.fetchChanges()
            let changes = try await phone.drain()
            XCTAssertEqual(changes.last, .updated([Note(name, "anew")]), name)
        }
    }

    /// FD-35.
    func testFetchingChangesNothingOnTheServer() async throws {
        let phone = try makeDevice(Note.self)
        try await serverSave("a", ["id": "a", "title": "theirs", "count": 0])
        try await phone.engine.sync()
        let before = try await serverRecords()
        try await phone.engine.upload(Note("b", "mine"))
        for _ in 0..<3 { try await phone.engine.fetchChanges() }
        let after = try await serverRecords()
        XCTAssertEqual(after, before)
        XCTAssertEqual(phone.database.modifies.count, 0)
    }

    /// Not every server says of which type a deleted record was.
    func testADeletionWithoutATypeIsOfThisOne() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        phone.database.changeFetchAnswers { page in
            var page = page
            page.deletions = page.deletions.map { .init(recordID: $0.recordID, recordType: "") }
            return page
        }
        try await phone.engine.fetchChanges()
        let model = try await phone.engine.model(named: "a")
        XCTAssertNil(model)
    }
}

/// A policy whose calls only one test counts.
private enum Touched: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.server }
}

private enum Fetched: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { try conflict.merged() }
}
