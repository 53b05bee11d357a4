import Foundation
import XCTest

@testable import CodableSync

/// Conflicts in which other libraries silently lose an edit.
final class ConflictPains: EngineScenario {
    // P-03
    func testTheLaterEditWinsInAnyOrderOfSyncs() async throws {
        for order in SyncOrder.allCases {
            let name = order.rawValue
            let (phone, tablet) = try await makePair(Item<NewestWins>(name, "old")) { $0.storage = .inMemory }
            try await tablet.engine.upload(Item(name, "twelve o'clock"))
            clock.advance(by: .seconds(300))
            try await phone.engine.upload(Item(name, "five past"))
            clock.advance(by: .seconds(300))
            // The tablet saves after the phone's edit, but its own edit is older.
            try await tablet.engine.sync()
            try await order.sync(phone)
            try await settle(phone, tablet)
            for device in [phone, tablet] {
                let model = try await device.engine.model(named: name)
                XCTAssertEqual(model?.title, "five past", name)
            }
        }
    }

    // P-04
    func testTheResolverGetsAFetchedChangeAndThePendingEdit() async throws {
        Recording.asked.withLock { $0 = [] }
        let (phone, tablet) = try await makePair(Item<Recording>("a", "old"))
        try await phone.engine.upload(Item("a", "old", note: "mine"))
        try await tablet.engine.upload(Item("a", "old", color: "theirs"))
        try await tablet.engine.sync()
        try await phone.engine.fetchChanges()
        let asked = Recording.asked.withLock { $0 }
        XCTAssertEqual(asked.map(\.client), [Item("a", "old", note: "mine")])
        XCTAssertEqual(asked.map(\.server), [Item("a", "old", color: "theirs")])
        XCTAssertEqual(asked.map(\.ancestor), [Item("a", "old")])
        let told = try await phone.drain()
        XCTAssertEqual(told, [.updated([Item("a", "old", note: "mine", color: "theirs")])])
    }

    // P-07
    func testEditsOfDifferentFieldsNeverRevertEachOther() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        for round in 1...10 {
            var here = try await phone.engine.model(named: "a")
            var there = try await tablet.engine.model(named: "a")
            here?.note = "note \(round)"
            there?.color = "color \(round)"
            try await phone.engine.upload(XCTUnwrap(here))
            try await tablet.engine.upload(XCTUnwrap(there))
            pass()
            try await phone.engine.sync()
            try await tablet.engine.sync()
            try await phone.engine.sync()
            let server = try await serverRecords()
            XCTAssertEqual(server["a"]?.fields["note"], .string("note \(round)"))
            XCTAssertEqual(server["a"]?.fields["color"], .string("color \(round)"))
        }
        let saves = phone.database.modifies.flatMap(\.saves) + tablet.database.modifies.flatMap(\.saves)
        XCTAssertEqual(
            saves.filter { $0.recordChangeTag == nil }.count,
            1,
            "only the creation carries no change tag"
        )
    }

    // P-08
    func testTheModelDecidesAboutAnEditOfADeletedRecordAndAnEventReportsIt() async throws {
        for order in SyncOrder.allCases {
            try await checkEditOfDeleted(Merging.self, order, kept: false)
            try await checkEditOfDeleted(ClientWins.self, order, kept: true)
        }
    }

    private func checkEditOfDeleted<Policy: ItemPolicy>(_ policy: Policy.Type, _ order: SyncOrder, kept: Bool)
        async throws
    {
        let name = "\(order.rawValue)-\(kept)"
        let (phone, tablet) = try await makePair(Item<Policy>(name, "old")) { $0.storage = .inMemory }
        try await tablet.engine.delete(named: [name])
        try await tablet.engine.sync()
        try await phone.engine.upload(Item<Policy>(name, "edited"))
        try await order.sync(phone)
        try await settle(phone, tablet)
        let told = phone.events.all.compactMap { event -> String? in
            guard case .editOfDeleted(let name, let record, let kept) = event else { return nil }
            return "\(name) \(record.fields["title"] == "edited") \(kept)"
        }
        XCTAssertEqual(told, ["\(name) true \(kept)"])
        let server = try await serverRecords()
        XCTAssertEqual(server[name]?.fields["title"], kept ? "edited" : nil, name)
    }

    // P-22
    func testEndlessConflictsStop() async throws {
        let phone = try makeDevice(Item<ClientWins>.self)
        try await phone.engine.upload(Item("a", "old"))
        try await phone.engine.sync()
        let server = try await serverRecords()
        let saved = try XCTUnwrap(server["a"])
        for number in 1...40 {
            var theirs = saved
            theirs.fields["title"] = .string("theirs \(number)")
            theirs.systemFields?.recordChangeTag = "tag \(number)"
            theirs.systemFields?.modificationDate = clock.now.wall.addingTimeInterval(Double(number))
            phone.database.failItem("a", CloudError(.serverRecordChanged, serverRecord: theirs))
        }
        let before = phone.database.modifies.count
        try await phone.engine.upload(Item("a", "mine"))
        try await phone.engine.sync()
        XCTAssertLessThanOrEqual(phone.database.modifies.count - before, 10)
        XCTAssertTrue(phone.events.all.contains(.conflictLoop(recordName: "a")))
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.client?.title), ["mine"])
    }

    // P-23
    func testAConflictWithoutTheServersRecordTriggersALookUp() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        try await tablet.engine.upload(Note("a", "old", color: "theirs"))
        try await tablet.engine.sync()
        phone.database.changeModifyAnswers { answer in
            var answer = answer
            for (id, result) in answer.saveResults {
                if case .failure(var error) = result {
                    error.serverRecord = nil
                    answer.saveResults[id] = .failure(error)
                }
            }
            return answer
        }
        try await phone.engine.upload(Note("a", "old", note: "mine"))
        try await phone.engine.sendChanges()
        XCTAssertEqual(phone.database.count(.lookUp), 1)
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["note"], "mine")
        XCTAssertEqual(server["a"]?.fields["color"], "theirs")
    }

    // P-30
    func testEditsMadeBeforeTheFirstFetchAreMerged() async throws {
        Recording.asked.withLock { $0 = [] }
        let tablet = try makeDevice(Item<Recording>.self)
        try await tablet.engine.upload([Item("both", "theirs", color: "red"), Item("theirs")])
        try await tablet.engine.sync()
        pass()
        let phone = try makeDevice(Item<Recording>.self)
        phone.database.isReachable = false
        try await phone.engine.upload([Item("both", "mine", note: "kept"), Item("mine")])
        _ = await phone.beginSync().result
        phone.database.isReachable = true
        try await settle(phone, tablet)
        let asked = Recording.asked.withLock { $0 }
        XCTAssertEqual(asked.map(\.client.id), ["both"])
        XCTAssertEqual(asked.map(\.ancestor), [nil])
        let models = try await phone.engine.allModels()
        let both = Item<Recording>("both", "mine", note: "kept", color: "red")
        XCTAssertEqual(models, [both, Item("mine"), Item("theirs")])
        try await assertEqualEverywhere(phone, tablet)
    }
}
