import XCTest

@testable import CodableSync

/// Lost requests and answers, missing zones, and a full quota.
extension SendingScenarios {
    private enum Lost: MergingPolicy {}
    private typealias Model = Item<Lost>

    // SN-17
    func testASaveWhoseAnswerWasLostIsRecognized() async throws {
        for fetchesFirst in [true, false] {
            Calls.shared.reset(Lost.self)
            let name = fetchesFirst ? "fetched" : "sent"
            let (phone, _) = try makeFragileDevice(Model.self)
            for title in ["created", "edited"] {
                phone.database.plan(.modify, .loseAnswer)
                try await phone.engine.upload(Model(name, title, note: "n", tags: ["t"]))
                await tryToSync(phone)
                let pending = try await phone.pendingNames()
                XCTAssertEqual(pending, [name])
                if title == "edited" { try await phone.crash() }
                if !fetchesFirst { try await phone.engine.sendChanges() }
                try await phone.engine.sync()
                let left = try await phone.pendingNames()
                XCTAssertEqual(left, [], name)
            }
            XCTAssertEqual(Calls.shared.count(Lost.self), 0, name)
            let tag = try await serverRecords()[name]?.recordChangeTag
            try await phone.engine.upload(Model(name, "last"))
            try await phone.engine.sync()
            XCTAssertEqual(phone.database.modifies.last?.saves.first?.recordChangeTag, tag, name)
            let server = try await serverRecords()
            XCTAssertEqual(server[name]?.fields["title"], "last", name)
        }
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 2)
    }

    // SN-18, SN-22
    func testARequestThatNeverArrivedIsSentAgainOnce() async throws {
        for code in [CloudError.Code.networkFailure, .operationCancelled] {
            let phone = try makeDevice(Model.self) { $0.storage = .inMemory }
            phone.database.failNext(.modify, code)
            try await phone.engine.upload(Model(code.name, "mine"))
            await tryToSync(phone)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [code.name])
            var server = try await serverRecords()
            XCTAssertNil(server[code.name])
            let summary = try await phone.engine.sync()
            XCTAssertEqual(summary.sent, 1, code.name)
            XCTAssertEqual(phone.database.modifies.count, 2, code.name)
            server = try await serverRecords()
            XCTAssertEqual(server[code.name]?.fields["title"], "mine")
        }
    }

    // SN-20
    func testADeletionWhoseAnswerWasLostIsConfirmed() async throws {
        for answersUnknownItem in [true, false] {
            let name = answersUnknownItem ? "unknownItem" : "success"
            let phone = try makeDevice(Model.self) { $0.storage = .inMemory }
            try await phone.engine.upload(Model(name))
            try await phone.engine.sync()
            _ = try await phone.drain()
            phone.database.plan(.modify, .loseAnswer)
            try await phone.engine.delete(Model(name))
            await tryToSync(phone)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [name])
            if answersUnknownItem { phone.database.failItem(name, CloudError(.unknownItem)) }
            try await phone.engine.sendChanges()
            let left = try await phone.pendingNames()
            XCTAssertEqual(left, [], name)
            try await phone.engine.sync()
            let told = try await phone.drain()
            XCTAssertEqual(told, [], name)
            let parked = try await phone.engine.parkedChanges()
            XCTAssertEqual(parked, [], name)
        }
    }

    // SN-23
    func testACrashBetweenTwoRequestsLosesNeither() async throws {
        let (phone, _) = try makeFragileDevice(Model.self)
        try await phone.engine.upload(Model("deleted"))
        try await phone.engine.sync()
        phone.database.setLimits(DatabaseLimits(maximumItems: 1))
        try await phone.restart()
        let gate = Gate()
        phone.database.plan(.modify, .holdAfter(Gate.opened), .holdBefore(gate))
        try await phone.engine.upload(Model("saved"))
        try await phone.engine.delete(Model("deleted"))
        let run = phone.beginSync()
        await gate.reached()
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["deleted"], "each request is confirmed separately")
        try await phone.crash()
        _ = await run.result
        gate.open(throwing: CloudError(.networkFailure))
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["saved"])
        let left = try await phone.pendingNames()
        XCTAssertEqual(left, [])
    }

    // SN-24
    func testAMissingZoneIsCreatedAndStaleTagsAreDropped() async throws {
        let phone = try makeDevice(Model.self)
        try await phone.engine.upload([Model("a", "old"), Model("b")])
        try await phone.engine.sync()
        _ = try await phone.drain()
        let other = try makeDevice(Model.self).database.base
        _ = try await other.modifyRecordZones(saving: [], deleting: [ZoneID(zoneName: "Item")])
        try await phone.engine.upload(Model("a", "new"))
        try await phone.engine.sendChanges()
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a"])
        XCTAssertEqual(server["a"]?.fields["title"], "new")
        XCTAssertNil(phone.database.modifies.last?.saves.first?.recordChangeTag)
        let told = try await phone.drain()
        XCTAssertEqual(told.flatMap(\.names).sorted(), ["a", "b"])
        XCTAssertTrue(told.contains(.deleted(["b"])))
    }

    private enum Reviving: ItemPolicy {
        static func resolve(_ conflict: Conflict<Item<Reviving>>) throws -> Item<Reviving>? {
            conflict.client
        }
        static func resolveDeletion(of client: Item<Reviving>) throws -> Item<Reviving>? { client }
    }

    // SN-25
    func testAnEditOfADeletedRecordFollowsTheModelsPolicy() async throws {
        let loser = try makeDevice(Model.self) { $0.zoneName = "Loser" }
        try await loser.engine.upload(Model("a", "old"))
        try await loser.engine.sync()
        _ = try await loser.drain()
        try await serverDelete("a", zone: "Loser")
        try await loser.engine.upload(Model("a", "edited"))
        try await loser.engine.sendChanges()
        var server = try await serverRecords("Loser")
        XCTAssertEqual(server, [:])
        let told = try await loser.drain()
        XCTAssertEqual(told, [.deleted(["a"])])
        let kept = loser.events.all.compactMap { event -> Bool? in
            if case .editOfDeleted("a", _, let kept) = event { kept } else { nil }
        }
        XCTAssertEqual(kept, [false])

        let winner = try makeDevice(Item<Reviving>.self) { $0.zoneName = "Winner" }
        try await winner.engine.upload(Item("a", "old"))
        try await winner.engine.sync()
        try await serverDelete("a", zone: "Winner")
        try await winner.engine.upload(Item("a", "edited"))
        try await winner.engine.sendChanges()
        server = try await serverRecords("Winner")
        XCTAssertEqual(server["a"]?.fields["title"], "edited")
        XCTAssertNil(winner.database.modifies.last?.saves.first?.recordChangeTag)
    }

    // SN-28
    func testAFullQuotaIsReportedOnceAndRetriedRarely() async throws {
        let phone = try makeDevice(Model.self) { $0.automaticallySyncs = true }
        try await phone.engine.sync()
        phone.database.failAlways(.modify, CloudError(.quotaExceeded))
        try await phone.engine.upload((0..<5).map { Model("n\($0)") })
        func quotaEvents() -> Int { phone.events.count { $0 == .quotaExceeded } }
        for number in 1...4 {
            try await quiet(phone)
            let status = try await phone.engine.diagnostics().status
            XCTAssertEqual(status, .paused(.quotaExceeded), "after try \(number)")
            XCTAssertEqual(phone.database.modifies.count, number)
            try await pass(.seconds(599), phone)
            XCTAssertEqual(phone.database.modifies.count, number, "no retry before ten minutes")
            clock.advance(by: .seconds(1))
        }
        try await quiet(phone)
        XCTAssertEqual(phone.database.modifies.count, 5, "the last try")
        await tryToSync(phone)
        XCTAssertEqual(quotaEvents(), 1)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending.count, 5)

        phone.database.failAlways(.modify, nil)
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 5)
        // A later failure is reported again.
        phone.database.failNext(.modify, .quotaExceeded)
        try await phone.engine.upload(Model("later"))
        try await quiet(phone)
        XCTAssertEqual(quotaEvents(), 2)
    }

    // SN-34
    func testTwoVersionsOfOneRecordAreNeverInFlightTogether() async throws {
        let phone = try makeDevice(Model.self) { $0.automaticallySyncs = true }
        try await phone.engine.sync()
        let gate = Gate()
        phone.database.plan(.modify, .holdBefore(gate))
        try await phone.engine.upload([Model("a", "v1"), Model("b", "v1")])
        await gate.reached()
        for version in 2...4 { try await phone.engine.upload(Model("a", "v\(version)")) }
        XCTAssertEqual(phone.database.modifies.count, 1)
        gate.open()
        try await quiet(phone)
        XCTAssertEqual(phone.database.peak(.modify), 1)
        let titles = phone.database.modifies.flatMap(\.saves)
            .filter { $0.recordID.recordName == "a" }.map { $0.fields["title"] }
        XCTAssertEqual(titles, ["v1", "v4"])
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "v4")
    }
}
