import XCTest

@testable import CodableSync

/// Scenarios, group D: conflicts whose resolver fails, and conflicts interrupted by a crash.
class ConflictScenariosFailing: EngineScenario {
    /// Causes a conflict whose edit is parked, and checks that neither side is lost.
    ///
    /// An empty word stands for the record's name.
    private func checkParking<Policy: ItemPolicy>(
        _ policy: Policy.Type,
        _ kind: ParkReason.Kind,
        mentions words: String...,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        let (phone, tablet) = try await makePair(Item<Policy>("fetchFirst"), Item<Policy>("sendFirst"))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await collide(phone, Item(name, "mine"), tablet, Item(name, "theirs"), order)
            let parked = try await phone.engine.parkedChanges().filter { $0.recordName == name }
            XCTAssertEqual(parked.map(\.client), [Item(name, "mine")], name, file: file, line: line)
            XCTAssertEqual(parked.map(\.server), [Item(name, "theirs")], name, file: file, line: line)
            XCTAssertEqual(parked.map(\.parkReason?.kind), [kind], name, file: file, line: line)
            for word in words.map({ $0.isEmpty ? name : $0 }) {
                let message = parked.first?.parkReason?.message ?? ""
                XCTAssertTrue(message.contains(word), "\(name): \(message)", file: file, line: line)
            }
            let told = try await phone.drain()
            XCTAssertEqual(told, [.updated([Item(name, "theirs")])], name, file: file, line: line)
            let shown = try await phone.engine.model(named: name)
            XCTAssertEqual(shown?.title, "theirs", name, file: file, line: line)
            let events = phone.events.all.filter {
                if case .parked(name, _) = $0 { true } else { false }
            }
            XCTAssertEqual(events.count, 1, name, file: file, line: line)
            try await phone.engine.sync()
            let server = try await serverRecords()
            XCTAssertEqual(server[name]?.fields["title"], "theirs", name, file: file, line: line)
        }
        let names = try await serverRecords().keys.sorted()
        XCTAssertEqual(names, ["fetchFirst", "sendFirst"], file: file, line: line)
        try await phone.engine.upload(Item<Policy>("fetchFirst", "replaced"))
        try await phone.engine.sync()
        let left = try await phone.engine.parkedChanges().map(\.recordName)
        XCTAssertEqual(left, ["sendFirst"], file: file, line: line)
        let server = try await serverRecords()
        XCTAssertEqual(server["fetchFirst"]?.fields["title"], "replaced", file: file, line: line)
    }

    /// CF-12.
    func testAThrowingResolverParksTheEditAndLosesNeitherSide() async throws {
        try await checkParking(
            Throwing.self,
            .resolverFailed,
            mentions: "The model's code threw: undecided"
        )
    }

    /// CF-13.
    func testAResolverThatRenamesIsRejectedWithBothNames() async throws {
        try await checkParking(Renaming.self, .resolverFailed, mentions: "", "other")
    }

    /// CF-14.
    func testAResolvedModelThatIsTooLargeParksTheEdit() async throws {
        try await checkParking(Overgrowing.self, .resolverFailed, mentions: "bytes")
    }

    /// CF-14.
    func testAResolvedModelThatCannotBeEncodedParksTheEdit() async throws {
        let (phone, tablet) = (try makeDevice(Fussy.self), try makeDevice(Fussy.self))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await phone.engine.upload(Fussy(id: name, weight: 1))
            try await tablet.engine.upload(Fussy(id: name, weight: 2))
            try await tablet.engine.sync()
            try await order.sync(phone)
            let parked = try await phone.engine.parkedChanges().filter { $0.recordName == name }
            XCTAssertEqual(parked.map(\.client), [Fussy(id: name, weight: 1)], name)
            XCTAssertEqual(parked.map(\.server), [Fussy(id: name, weight: 2)], name)
            XCTAssertEqual(parked.map(\.parkReason?.kind), [.resolverFailed], name)
            XCTAssertTrue(parked.first?.parkReason?.message.contains("weight") == true, name)
            let told = try await phone.drain()
            XCTAssertEqual(told, [.updated([Fussy(id: name, weight: 2)])], name)
            let server = try await serverRecords("Fussy")
            XCTAssertEqual(server[name]?.fields["weight"], 2.0, name)
        }
    }

    /// CF-25.
    func testAnUndecodableServerValueIsNotOverwritten() async throws {
        withoutSchema()
        let (phone, _) = try await makePair(Note("fetchFirst"), Note("sendFirst"))
        for order in SyncOrder.allCases {
            let name = order.rawValue
            try await phone.engine.upload(Note(name, "mine"))
            try await serverSave(name, ["id": .string(name), "title": 7, "count": 0])
            let before = try await serverRecords()[name]
            try await order.sync(phone)
            try await phone.engine.sync()
            let after = try await serverRecords()[name]
            XCTAssertEqual(after, before, name)
            try await assertParkedAsUndecodable(Note(name, "mine"), phone)
            let isTold = phone.events.all.contains {
                if case .parked(name, _) = $0 { true } else { false }
            }
            XCTAssertTrue(isTold, name)
        }
    }

    /// CF-25: a read that finds no decodable record does not mark the server's version as seen.
    func testAnUndecodableServerValueIsNotOverwrittenAfterARead() async throws {
        withoutSchema()
        let (phone, _) = try await makePair(Note("other"))
        for readsAll in [false, true] {
            let name = readsAll ? "all" : "one"
            try await serverSave(name, ["id": .string(name), "title": 7, "count": 0])
            try await phone.engine.fetchChanges()
            let before = try await serverRecords()[name]
            if readsAll {
                let shown = try await phone.engine.allModels()
                XCTAssertEqual(shown.map(\.id), ["other"])
            } else {
                let shown = try await phone.engine.model(named: name)
                XCTAssertNil(shown)
            }
            try await phone.engine.upload(Note(name, "mine"))
            try await phone.engine.sync()
            let after = try await serverRecords()[name]
            XCTAssertEqual(after, before, name)
            try await assertParkedAsUndecodable(Note(name, "mine"), phone)
        }
    }

    /// Asserts that an edit is parked because a field of the server's record cannot be decoded.
    private func assertParkedAsUndecodable(
        _ edit: Note,
        _ phone: Device<Note>,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        let parked = try await phone.engine.parkedChanges().filter { $0.recordName == edit.id }
        XCTAssertEqual(parked.map(\.client), [edit], edit.id, file: file, line: line)
        XCTAssertEqual(
            parked.map(\.parkReason?.kind),
            [.serverValueUndecodable],
            edit.id,
            file: file,
            line: line
        )
        let message = parked.first?.parkReason?.message ?? ""
        XCTAssertTrue(message.contains("title"), message, file: file, line: line)
    }

    /// CF-18.
    func testAfterACrashAnUnstoredConflictIsResolvedAgain() async throws {
        for survivors in [SimulatedDisk.Survivors.allWrites, .onlySynced] {
            let name = "\(survivors)"
            let disk = SimulatedFileSystem()
            let (phone, tablet) = try await makePair(Item<Interrupted>(name)) { $0.fileSystem = disk }
            try await phone.engine.upload(Item<Interrupted>(name, note: "mine"))
            try await tablet.engine.upload(Item<Interrupted>(name, color: "theirs"))
            try await tablet.engine.sync()
            let left = Locked<SimulatedFileSystem?>(nil)
            Interrupted.interruption.withLock { interruption in
                interruption = { left.withLock { $0 = disk.crashed(keeping: survivors) } }
            }
            defer { Interrupted.interruption.withLock { $0 = nil } }
            try await phone.engine.fetchChanges()
            try await phone.engine.close()
            let found = try XCTUnwrap(left.withLock { $0 })
            let again = try makeDevice(Item<Interrupted>.self, on: found)
            Calls.shared.reset(Interrupted.self)
            // The conflict may already be resolved when this returns.
            let pending = try await again.engine.pendingChanges()
            XCTAssertEqual(pending.map(\.recordName), [name])
            try await again.engine.sync()
            XCTAssertEqual(Calls.shared.count(Interrupted.self), 1, name)
            try await settle(again, tablet)
            let model = try await tablet.engine.model(named: name)
            XCTAssertEqual(model, Item(name, note: "mine", color: "theirs"), name)
            try await assertEqualEverywhere(again, tablet)
        }
    }

    /// CF-19.
    func testAfterACrashAStoredOutcomeIsSentWithoutTheResolver() async throws {
        for isServerMoved in [false, true] {
            let name = "moved-\(isServerMoved)"
            let disk = SimulatedFileSystem()
            let (phone, tablet) = try await makePair(Item<Recording>(name)) { $0.fileSystem = disk }
            try await phone.engine.upload(Item<Recording>(name, note: "mine"))
            try await tablet.engine.upload(Item<Recording>(name, color: "theirs"))
            try await tablet.engine.sync()
            try await phone.engine.fetchChanges()
            let (again, _) = try await crash(phone, on: disk)
            if isServerMoved {
                try await tablet.engine.upload(Item<Recording>(name, color: "theirs", count: 1))
                try await tablet.engine.sync()
            }
            Recording.asked.withLock { $0 = [] }
            try await again.engine.sendChanges()
            XCTAssertEqual(Recording.asked.withLock { $0.count }, isServerMoved ? 1 : 0, name)
            try await settle(again, tablet)
            let model = try await tablet.engine.model(named: name)
            XCTAssertEqual(
                model,
                Item(name, note: "mine", color: "theirs", count: isServerMoved ? 1 : 0),
                name
            )
            try await assertEqualEverywhere(again, tablet)
        }
    }

    /// A discarded edit is not delivered, even if a conflict has merged it.
    func testADiscardedMergeIsNotDelivered() async throws {
        let (phone, tablet) = try await makePair(Note("a", "Tea"))
        try await tablet.engine.upload(Note("a", "Tea", note: "theirs"))
        try await tablet.engine.sync()
        try await phone.engine.upload(Note("a", "mine"))
        phone.database.failNext(.modify, .networkFailure)
        await assertThrows(.cloud(CloudError(.networkFailure))) { try await phone.engine.sync() }
        try await phone.engine.discard(named: ["a"])
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("a", "Tea", note: "theirs")])
        let delivered = try await phone.drain().flatMap(\.models)
        XCTAssertEqual(delivered, shown)
    }
}

/// Resolves to a weight that cannot be encoded.
private struct Fussy: RecordCodable, Equatable, Identifiable {
    var id: String
    var weight: Double

    static func resolveConflict(_ conflict: Conflict<Fussy>) throws -> Fussy? {
        Fussy(id: conflict.client.id, weight: .nan)
    }
}
