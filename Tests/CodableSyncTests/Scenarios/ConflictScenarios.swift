import XCTest

@testable import CodableSync

extension EngineScenario {
    /// Edits a record on both devices, on the phone first; the tablet's edit is in the cloud when the phone
    /// syncs.
    ///
    /// - Returns: The change tag of the tablet's version.
    @discardableResult
    func collide<Policy>(
        _ phone: Device<Item<Policy>>,
        _ mine: Item<Policy>,
        _ tablet: Device<Item<Policy>>,
        _ theirs: Item<Policy>,
        _ order: SyncOrder,
        phoneEditsLater: Bool = false
    ) async throws -> String? {
        try await show(phone, tablet)
        if !phoneEditsLater { try await phone.engine.upload(mine) }
        pass()
        try await tablet.engine.upload(theirs)
        pass()
        if phoneEditsLater { try await phone.engine.upload(mine) }
        pass()
        try await tablet.engine.sync()
        _ = try await tablet.drain()
        let tag = try await serverRecords()[mine.id]?.recordChangeTag
        try await order.sync(phone)
        return tag
    }

    /// The outcomes of the conflicts that a device resolved since its events were cleared.
    func outcomes<Model>(_ device: Device<Model>) async throws -> [ConflictOutcome] {
        try await quiet(device)
        return device.events.all.compactMap {
            if case .conflictResolved(_, _, _, let outcome) = $0 { outcome } else { nil }
        }
    }
}

/// Scenarios, group D: the outcome of a conflict, whether a fetch or a send finds it.
class ConflictScenarios: EngineScenario {
    /// CF-01.
    func testTheClientsModelReachesAllDevices() async throws {
        let (phone, tablet) = try await makePair(
            Item<ClientWins>("fetchFirst"),
            Item<ClientWins>("sendFirst")
        )
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await collide(phone, Item(name, "mine"), tablet, Item(name, "theirs"), order)
            let found = try await outcomes(phone)
            XCTAssertEqual(found, [.client], name)
            try await tablet.engine.sync()
            let told = try await tablet.drain()
            XCTAssertEqual(told, [.updated([Item(name, "mine")])], name)
            let server = try await serverRecords()
            XCTAssertEqual(server[name]?.fields["title"], "mine", name)
            try await settle(phone, tablet)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// CF-02.
    func testTheServersModelDiscardsTheEdit() async throws {
        let (phone, tablet) = try await makePair(
            Item<ServerWins>("fetchFirst"),
            Item<ServerWins>("sendFirst")
        )
        for order in SyncOrder.allCases {
            let name = order.rawValue
            let before = phone.database.modifies.count
            try await collide(phone, Item(name, "mine"), tablet, Item(name, "theirs"), order)
            try await phone.engine.sync()
            let told = try await phone.drain()
            XCTAssertEqual(told, [.updated([Item(name, "theirs")])], name)
            let pending = try await phone.engine.pendingChanges()
            XCTAssertEqual(pending, [], name)
            XCTAssertLessThanOrEqual(phone.database.modifies.count, before + 1, name)
            let server = try await serverRecords()
            XCTAssertEqual(server[name]?.fields["title"], "theirs", name)
            try await settle(phone, tablet)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// CF-03.
    func testAMergeIsSavedWithTheServersTagAndDelivered() async throws {
        let (phone, tablet) = try await makePair(Note("fetchFirst"), Note("sendFirst"))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            let mine = Note(name, note: "mine")
            let tag = try await collide(phone, mine, tablet, Note(name, color: "theirs"), order)
            let merged = Note(name, note: "mine", color: "theirs")
            let told = try await phone.drain()
            XCTAssertEqual(told, [.updated([merged])], name)
            XCTAssertEqual(phone.database.modifies.last?.saves.map(\.recordChangeTag), [tag], name)
            try await settle(phone, tablet)
            let model = try await tablet.engine.model(named: name)
            XCTAssertEqual(model, merged, name)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// CF-04.
    func testNilDiscardsTheEditAndReportsIt() async throws {
        let (phone, tablet) = try await makePair(Item<GivingUp>("fetchFirst"), Item<GivingUp>("sendFirst"))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await collide(phone, Item(name, "mine"), tablet, Item(name, "theirs"), order)
            let found = try await outcomes(phone)
            XCTAssertEqual(found, [.server], name)
            let lost = phone.events.all.compactMap { event -> RecordValue? in
                if case .conflictResolved(name, let client, _, _) = event {
                    client.fields["title"]
                } else {
                    nil
                }
            }
            XCTAssertEqual(lost, ["mine"], name)
            let told = try await phone.drain()
            XCTAssertEqual(told, [.updated([Item(name, "theirs")])], name)
            let requests = phone.database.modifies.count
            for _ in 0..<3 { try await phone.engine.sync() }
            XCTAssertEqual(phone.database.modifies.count, requests, name)
            let notes = try await phone.engine.diagnostics().notes
            XCTAssertEqual(notes.filter { $0.recordName == name && $0.kind == .discarded }.count, 1, name)
        }
    }

    /// CF-08.
    func testTheResolverGetsTheLatestModelTheServersModelAndTheAncestor() async throws {
        let (phone, tablet) = try await makePair(
            Item<Recording>("fetchFirst", "common"),
            Item<Recording>("sendFirst", "common")
        )
        for order in SyncOrder.allCases {
            let name = order.rawValue
            Recording.asked.withLock { $0 = [] }
            try await phone.engine.upload(Item<Recording>(name, "common", note: "older"))
            let begin = clock.now.wall
            try await collide(
                phone,
                Item(name, "common", note: "newest"),
                tablet,
                Item(name, "common", color: "theirs"),
                order
            )
            let asked = Recording.asked.withLock { $0 }
            XCTAssertEqual(asked.map(\.client), [Item(name, "common", note: "newest")], name)
            XCTAssertEqual(asked.map(\.server), [Item(name, "common", color: "theirs")], name)
            XCTAssertEqual(asked.map(\.ancestor), [Item(name, "common")], name)
            XCTAssertEqual(asked.map { $0.clientEdited.timeIntervalSince(begin) }, [0], name)
            XCTAssertEqual(asked.map { $0.serverEdited.timeIntervalSince(begin) }, [60], name)
        }
    }

    /// CF-20.
    func testEqualContentsWithAnotherTagNeedNoResolver() async throws {
        let (phone, tablet) = try await makePair(Item<Equal>("fetchFirst"), Item<Equal>("sendFirst"))
        Calls.shared.reset(Equal.self)
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await collide(phone, Item(name, "same"), tablet, Item(name, "same"), order)
            let pending = try await phone.engine.pendingChanges()
            XCTAssertEqual(pending, [], name)
            // The tag was adopted: the next edit has no conflict.
            let requests = phone.database.modifies.count
            try await phone.engine.upload(Item<Equal>(name, "next"))
            try await phone.engine.sync()
            XCTAssertEqual(phone.database.modifies.count, requests + 1, name)
            try await settle(phone, tablet)
            try await assertEqualEverywhere(phone, tablet)
        }
        XCTAssertEqual(Calls.shared.count(Equal.self), 0)
    }

    /// CF-27.
    func testWithoutAPendingChangeTheResolverIsNotCalled() async throws {
        let (phone, tablet) = try await makePair(Item<Unasked>("a"), Item<Unasked>("b"))
        Calls.shared.reset(Unasked.self)
        for round in 0..<5 {
            let title = "\(round)"
            try await phone.engine.upload([Item<Unasked>("a", title), Item<Unasked>("new-\(round)")])
            try await phone.engine.sync()
            try await tablet.engine.sync()
            try await tablet.engine.upload(Item<Unasked>("b", title))
            try await tablet.engine.delete(named: ["new-\(round)"])
            try await tablet.engine.sync()
            try await phone.engine.sync()
            _ = try await phone.drain()
            _ = try await tablet.drain()
        }
        XCTAssertEqual(Calls.shared.count(Unasked.self), 0)
        try await assertEqualEverywhere(phone, tablet)
    }
}

/// Policies whose calls only one test counts.
private enum Equal: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.server }
}

private enum Unasked: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.server }
}
