import XCTest

@testable import CodableSync

/// Scenarios, group D: merges, and the edit dates that they depend on.
class ConflictScenariosMerging: EngineScenario {
    /// Sync orders and edit orders, each with its own record name.
    private static let cases = SyncOrder.allCases.flatMap { order in
        [false, true].map { (name: "\(order.rawValue)-\($0)", order: order, phoneEditsLater: $0) }
    }

    private func makePairForCases<Policy: ItemPolicy>(_ make: (String) -> Item<Policy>) async throws -> (
        phone: Device<Item<Policy>>, tablet: Device<Item<Policy>>
    ) {
        let (phone, tablet) = try await makePair(make("first"))
        try await phone.engine.upload(Self.cases.map { make($0.name) })
        try await settle(phone, tablet)
        try await show(phone, tablet)
        return (phone, tablet)
    }

    /// CF-05.
    func testEditsOfDifferentFieldsSurviveInAnyOrder() async throws {
        let (phone, tablet) = try await makePairForCases { Note($0, "title") }
        for (name, order, phoneEditsLater) in Self.cases {
            try await collide(
                phone,
                Note(name, "title", note: "mine", count: 1),
                tablet,
                Note(name, "title", color: "theirs", tags: ["t"]),
                order,
                phoneEditsLater: phoneEditsLater
            )
            try await settle(phone, tablet)
            let model = try await tablet.engine.model(named: name)
            let merged = Note(name, "title", note: "mine", color: "theirs", count: 1, tags: ["t"])
            XCTAssertEqual(model, merged, name)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// CF-06.
    func testEditsOfTheSameFieldHaveTheSameResultInAnyOrder() async throws {
        let (phone, tablet) = try await makePairForCases { Note($0, "title") }
        for (name, order, phoneEditsLater) in Self.cases {
            try await collide(
                phone,
                Note(name, "mine"),
                tablet,
                Note(name, "theirs"),
                order,
                phoneEditsLater: phoneEditsLater
            )
            try await settle(phone, tablet)
            let model = try await tablet.engine.model(named: name)
            XCTAssertEqual(model?.title, phoneEditsLater ? "mine" : "theirs", name)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// CF-07.
    func testTheOlderPendingEditLosesInAnyOrder() async throws {
        let (phone, tablet) = try await makePairForCases { Item<NewestWins>($0, "title") }
        for (name, order, phoneEditsLater) in Self.cases {
            try await collide(
                phone,
                Item(name, "mine", note: "mine"),
                tablet,
                Item(name, "theirs"),
                order,
                phoneEditsLater: phoneEditsLater
            )
            try await settle(phone, tablet)
            let model = try await tablet.engine.model(named: name)
            let expected = Item<NewestWins>(name, "mine", note: "mine")
            XCTAssertEqual(model, phoneEditsLater ? expected : Item(name, "theirs"), name)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// CF-09.
    func testThreeDevicesThatEditOneRecordOfflineConverge() async throws {
        let (phone, tablet) = try await makePair(Note("a", "title"))
        let watch = try makeDevice(Note.self)
        try await settle(watch)
        try await show(watch)
        let order = [(phone, "phone"), (tablet, "tablet"), (watch, "watch")]
        for (index, (device, name)) in order.enumerated() {
            try await device.engine.upload(Note("a", "by \(name)", count: index, tags: [name]))
            pass()
        }
        try await settle(watch, phone, tablet)
        try await assertEqualEverywhere(watch, phone, tablet)
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model, Note("a", "by watch", count: 2, tags: ["watch"]))
    }

    /// CF-10.
    func testASecondConflictStartsFromTheResolvedModel() async throws {
        let (phone, tablet) = try await makePair(Item<Recording>("a", "common"))
        Recording.asked.withLock { $0 = [] }
        let mine = Item<Recording>("a", "common", note: "mine")
        try await phone.engine.upload(mine)
        let first = Item<Recording>("a", "common", color: "theirs")
        try await tablet.engine.upload(first)
        try await tablet.engine.sync()
        try await show(tablet)
        try await phone.engine.fetchChanges()
        let second = Item<Recording>("a", "common", color: "theirs", count: 2)
        try await tablet.engine.upload(second)
        try await tablet.engine.sync()
        try await phone.engine.sendChanges()
        let resolved = Item<Recording>("a", "common", note: "mine", color: "theirs")
        let asked = Recording.asked.withLock { $0 }
        XCTAssertEqual(asked.map(\.client), [mine, resolved])
        XCTAssertEqual(asked.map(\.server), [first, second])
        XCTAssertEqual(asked.map(\.ancestor), [Item("a", "common"), first])
        try await settle(phone, tablet)
        try await assertEqualEverywhere(phone, tablet)
        let model = try await tablet.engine.model(named: "a")
        XCTAssertEqual(model, Item("a", "common", note: "mine", color: "theirs", count: 2))
    }

    /// CF-15.
    func testRandomResolversConverge() async throws {
        let (phone, tablet) = try await makePair(Item<Dicing>("a"), Item<Dicing>("b"))
        let watch = try makeDevice(Item<Dicing>.self)
        try await settle(watch)
        for round in 0..<10 {
            for (device, name) in [(phone, "phone"), (tablet, "tablet"), (watch, "watch")] {
                try await device.engine.upload(Item<Dicing>("a", "\(name) \(round)", count: round))
                try await device.engine.upload(Item<Dicing>("b", "\(name) \(round)", count: round))
            }
            try await settle(phone, tablet, watch)
            try await assertEqualEverywhere(phone, tablet, watch)
        }
    }

    /// CF-21.
    func testTheSameRecordCreatedTwiceBecomesOne() async throws {
        for order in SyncOrder.allCases {
            let name = order.rawValue
            Calls.shared.reset(Twins.self)
            let (phone, tablet) = (try makeDevice(Item<Twins>.self), try makeDevice(Item<Twins>.self))
            _ = try await phone.drain()
            try await phone.engine.upload(Item<Twins>(name, "same", tags: ["t"]))
            pass()
            try await tablet.engine.upload(Item<Twins>(name, "same", tags: ["t"]))
            try await tablet.engine.sync()
            try await order.sync(phone)
            XCTAssertEqual(Calls.shared.count(Twins.self), 0, name)
            let isFailed = phone.events.all.contains { if case .failed = $0 { true } else { false } }
            XCTAssertFalse(isFailed, name)
            let told = try await phone.drain()
            XCTAssertTrue(told.contains(.saved([Item(name, "same", tags: ["t"])])), "\(name): \(told)")
            try await settle(phone, tablet)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// CF-22.
    func testDifferentRecordsCreatedWithOneNameAreResolved() async throws {
        for order in SyncOrder.allCases {
            let name = order.rawValue
            Recording.asked.withLock { $0 = [] }
            let (phone, tablet) = (try makeDevice(Item<Recording>.self), try makeDevice(Item<Recording>.self))
            try await phone.engine.upload(Item<Recording>(name, "mine", note: "n"))
            pass()
            try await tablet.engine.upload(Item<Recording>(name, "theirs", color: "c"))
            try await tablet.engine.sync()
            try await order.sync(phone)
            let asked = Recording.asked.withLock { $0 }
            XCTAssertEqual(asked.count, 1, name)
            XCTAssertEqual(asked.first?.ancestor, Optional<Item<Recording>>.none, name)
            try await settle(phone, tablet)
            let server = try await serverRecords()
            XCTAssertEqual(server[name]?.fields["title"], "theirs", name)
            let model = try await tablet.engine.model(named: name)
            XCTAssertEqual(model, Item(name, "theirs", note: "n", color: "c"), name)
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// CF-23.
    func testOptionalsSetOnDifferentSidesBothSurvive() async throws {
        let (phone, tablet) = try await makePair(Note("fetchFirst"), Note("sendFirst"))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await collide(phone, Note(name, note: "mine"), tablet, Note(name, color: "theirs"), order)
            try await settle(phone, tablet)
            for device in [phone, tablet] {
                let model = try await device.engine.model(named: name)
                XCTAssertEqual(model, Note(name, note: "mine", color: "theirs"), name)
            }
            let fields = try await serverRecords()[name]?.fields
            XCTAssertEqual(fields?["note"], "mine", name)
            XCTAssertEqual(fields?["color"], "theirs", name)
        }
    }

    /// CF-24.
    func testAnOptionalClearedByTheMergeIsRemovedFromTheServer() async throws {
        let (phone, tablet) = try await makePair(
            Item<Clearing>("fetchFirst", note: "n"),
            Item<Clearing>("sendFirst", note: "n")
        )
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await collide(
                phone,
                Item(name, "mine", note: "n"),
                tablet,
                Item(name, note: "n", color: "theirs"),
                order
            )
            try await settle(phone, tablet)
            let server = try await serverRecords()
            XCTAssertNotNil(server[name], name)
            XCTAssertNil(server[name]?.fields["note"], name)
            let model = try await tablet.engine.model(named: name)
            XCTAssertEqual(model, Item(name, "mine", color: "theirs"), name)
            try await assertEqualEverywhere(phone, tablet)
        }
    }
}

private enum Twins: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.server }
}
