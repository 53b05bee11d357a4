import XCTest

@testable import CodableSync

/// Scenarios, group J: several versions of an app on one cloud.
class EvolutionScenarios: EngineScenario {
    /// The next version of the app on the same device, offline.
    private func update<Old, New>(_ device: Device<Old>, to model: New.Type) async throws -> Device<New> {
        try await device.engine.close()
        let files = device.files
        let updated = try makeDevice(model) { $0.fileSystem = files }
        updated.database.isReachable = false
        return updated
    }

    private func undecodable<Model>(_ device: Device<Model>, _ name: String) -> [String] {
        device.events.all.compactMap { event in
            if case .undecodable(name, let reason) = event { reason } else { nil }
        }
    }

    /// EV-01.
    func testAnEditByAnOlderAppKeepsUnknownFields() async throws {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV2.self))
        try await new.engine.upload(PlaceV2(id: "a", title: "old", note: "kept", stars: 5))
        try await new.engine.sync()
        try await old.engine.sync()
        try await show(old)
        pass()
        try await old.engine.upload(PlaceV1(id: "a", title: "edited"))
        try await old.engine.sync()
        let fields = try await serverRecords("Place")["a"]?.fields
        XCTAssertEqual(fields?["note"], "kept")
        XCTAssertEqual(fields?["stars"], 5)
        try await new.engine.sync()
        let model = try await new.engine.model(named: "a")
        XCTAssertEqual(model, PlaceV2(id: "a", title: "edited", note: "kept", stars: 5))
    }

    /// EV-02.
    func testAMergeByAnOlderAppKeepsUnknownFields() async throws {
        for order in SyncOrder.allCases {
            let name = order.rawValue
            let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV2.self))
            try await new.engine.upload(PlaceV2(id: name, title: "old", note: "first"))
            try await new.engine.sync()
            try await old.engine.sync()
            try await show(old)
            pass()
            try await old.engine.upload(PlaceV1(id: name, title: "edited"))
            try await new.engine.upload(PlaceV2(id: name, title: "old", kind: .hill, note: "kept", stars: 5))
            try await new.engine.sync()
            try await order.sync(old)
            try await new.engine.sync()
            let model = try await new.engine.model(named: name)
            let expected = PlaceV2(id: name, title: "edited", kind: .hill, note: "kept", stars: 5)
            XCTAssertEqual(model, expected, name)
            let seen = try await old.engine.model(named: name)
            XCTAssertEqual(seen, PlaceV1(id: name, title: "edited", kind: .hill), name)
        }
    }

    /// EV-03.
    func testARecordOfAnOlderAppDecodesWithDefaultValues() async throws {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV2.self))
        try await old.engine.upload(PlaceV1(id: "a", title: "old"))
        try await old.engine.sync()
        try await new.engine.sync()
        let told = try await new.drain()
        XCTAssertEqual(told, [.updated([PlaceV2(id: "a", title: "old", note: nil, stars: 3)])])
    }

    /// EV-04: the same if the previous version of the app has accepted the record.
    func testARecordThatAnUpdateCannotDecodeIsNotOverwritten() async throws {
        let (other, old) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV1.self))
        try await other.engine.upload(PlaceV1(id: "settings", title: "theirs"))
        try await settle(other, old)
        _ = try await old.drain()
        let before = try await serverRecords("Place")["settings"]
        let strict = try await update(old, to: PlaceRequiring.self)
        strict.database.isReachable = true
        // The app finds no usable record and starts with its own defaults.
        let found = try await strict.engine.model(named: "settings")
        XCTAssertNil(found)
        try await strict.engine.upload(PlaceRequiring(id: "settings", title: "default", owner: "me"))
        try await strict.engine.sync()
        let after = try await serverRecords("Place")["settings"]
        XCTAssertEqual(after, before)
        let parked = try await strict.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.serverValueUndecodable])
    }

    /// EV-04.
    func testARecordWithoutARequiredFieldIsKeptUntilAnUpdateCanDecodeIt() async throws {
        let (old, strict) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceRequiring.self))
        try await old.engine.upload(PlaceV1(id: "a", title: "theirs"))
        try await old.engine.sync()
        try await strict.engine.sync()
        let before = try await serverRecords("Place")["a"]
        // Reported when it would be delivered, with the field's name.
        try await strict.engine.upload(PlaceRequiring(id: "b", owner: "me"))
        try await strict.engine.sync()
        _ = try await strict.drain(leaving: 1)
        XCTAssertEqual(undecodable(strict, "a").count, 1)
        XCTAssertTrue(undecodable(strict, "a").first?.contains("owner") == true)
        // Not overwritten: an edit with the same record name is parked.
        try await strict.engine.upload(PlaceRequiring(id: "a", title: "mine", owner: "me"))
        try await strict.engine.sync()
        let parked = try await strict.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["a"])
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.serverValueUndecodable])
        let after = try await serverRecords("Place")["a"]
        XCTAssertEqual(after, before)
        // The update decodes the stored value offline, and the parked edit is still there.
        let mended = try await update(strict, to: PlaceMended.self)
        let told = try await mended.drain()
        XCTAssertEqual(told, [.updated([PlaceMended(id: "a", title: "theirs")])])
        let kept = try await mended.engine.parkedChanges()
        XCTAssertEqual(kept.map(\.client), [PlaceMended(id: "a", title: "mine", owner: "me")])
        XCTAssertEqual(kept.map(\.server), [PlaceMended(id: "a", title: "theirs")])
        mended.database.isReachable = true
        try await mended.engine.retry(named: ["a"])
        try await mended.engine.sync()
        let server = try await serverRecords("Place")
        XCTAssertEqual(server["a"]?.fields["owner"], "me")
        let left = try await mended.engine.parkedChanges()
        XCTAssertEqual(left, [])
    }

    /// EV-05.
    func testAnUpdatedAppShowsTheFieldsThatTheOlderOneReceived() async throws {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV2.self))
        let place = PlaceV2(id: "a", title: "title", note: "new", stars: 5)
        try await new.engine.upload(place)
        try await new.engine.sync()
        try await old.engine.sync()
        _ = try await old.drain()
        let updated = try await update(old, to: PlaceV2.self)
        let models = try await updated.engine.allModels()
        XCTAssertEqual(models, [place])
    }

    /// EV-05, with an edit that the older version made.
    func testAnEditByTheOlderAppIsSentByTheUpdatedOne() async throws {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV2.self))
        try await new.engine.upload(PlaceV2(id: "a", title: "title", note: "new", stars: 5))
        try await new.engine.sync()
        try await old.engine.sync()
        try await show(old)
        pass()
        try await old.engine.upload(PlaceV1(id: "a", title: "edited"))
        let updated = try await update(old, to: PlaceV2.self)
        updated.database.isReachable = true
        try await updated.engine.sync()
        let model = try await updated.engine.model(named: "a")
        XCTAssertEqual(model, PlaceV2(id: "a", title: "edited", note: "new", stars: 5))
        try await new.engine.sync()
        try await assertEqualEverywhere(new, updated, in: "Place")
    }

    /// EV-06: an upload replaces the whole record.
    func testAnUnknownFieldInANestedStructIsLostInAnUploadByAnOlderApp() async throws {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV2.self))
        let address = PlaceV2.Address(city: "Oslo", street: "Gate 1")
        try await new.engine.upload(PlaceV2(id: "a", title: "old", address: address))
        try await new.engine.sync()
        try await old.engine.sync()
        let received = try await old.engine.model(named: "a")
        XCTAssertEqual(received?.address, PlaceV1.Address(city: "Oslo"))
        try await old.engine.upload(PlaceV1(id: "a", title: "edited"))
        try await old.engine.sync()
        try await new.engine.sync()
        let model = try await new.engine.model(named: "a")
        XCTAssertEqual(model, PlaceV2(id: "a", title: "edited", address: PlaceV2.Address(city: "Oslo")))
    }

    /// EV-06: how a model prevents this.
    func testANewSchemaVersionPreventsEditsByOlderApps() async throws {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceNewSchema.self))
        try await old.engine.upload(PlaceV1(id: "a", title: "old"))
        try await settle(old)
        try await show(old)
        try await new.engine.sync()
        try await show(new)
        pass()
        let address = PlaceV2.Address(city: "Oslo", street: "Gate 1")
        try await new.engine.upload(PlaceNewSchema(id: "a", title: "new", address: address))
        try await new.engine.sync()
        let before = try await serverRecords("Place")["a"]
        XCTAssertEqual(before?.fields["codableSyncSchema"], 2)
        pass()
        try await old.engine.upload(PlaceV1(id: "a", title: "edited"))
        try await old.engine.sync()
        let parked = try await old.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.serverValueUndecodable])
        XCTAssertTrue(parked.first?.parkReason?.message.contains("schema version 2") == true)
        let after = try await serverRecords("Place")["a"]
        XCTAssertEqual(after, before)
        // The update sends the edit, merged with what it could not read before.
        let updated = try await update(old, to: PlaceNewSchema.self)
        updated.database.isReachable = true
        try await updated.engine.sync()
        let merged = PlaceNewSchema(id: "a", title: "edited", address: address)
        let told = try await updated.drain()
        XCTAssertEqual(told, [.updated([merged])])
        try await new.engine.sync()
        let seen = try await new.engine.model(named: "a")
        XCTAssertEqual(seen, merged)
    }

    /// EV-07.
    func testAClearedOptionalIsAbsentOnTheServerAndNilElsewhere() async throws {
        let (phone, tablet) = (try makeDevice(PlaceV2.self), try makeDevice(PlaceV2.self))
        try await phone.engine.upload(PlaceV2(id: "a", note: "set"))
        try await settle(phone, tablet)
        try await phone.engine.upload(PlaceV2(id: "a", note: nil))
        try await phone.engine.sync()
        let server = try await serverRecords("Place")["a"]
        XCTAssertNotNil(server)
        XCTAssertNil(server?.fields["note"])
        try await tablet.engine.sync()
        let model = try await tablet.engine.model(named: "a")
        XCTAssertEqual(model, PlaceV2(id: "a", note: nil))
    }

    /// EV-08.
    func testAnUnknownEnumCaseIsUndecodableOrUsesTheModelsFallback() async throws {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV2.self))
        let tolerant = try makeDevice(PlaceWithFallback.self)
        try await new.engine.upload([PlaceV2(id: "a", kind: .lake), PlaceV2(id: "b")])
        try await new.engine.sync()
        try await old.engine.sync()
        let told = try await old.drain(leaving: 1)
        XCTAssertEqual(told, [.updated([PlaceV1(id: "b")])])
        XCTAssertEqual(undecodable(old, "a").count, 1)
        let updated = try await update(old, to: PlaceV2.self)
        let later = try await updated.drain()
        XCTAssertEqual(later, [.updated([PlaceV2(id: "a", kind: .lake)])])
        try await tolerant.engine.sync()
        let model = try await tolerant.engine.model(named: "a")
        XCTAssertEqual(model?.kind, .other)
    }

    /// EV-09.
    func testRenamingAFieldKeepsTheOldOne() async throws {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceRenamed.self))
        try await old.engine.upload(PlaceV1(id: "a", title: "title"))
        try await old.engine.sync()
        try await new.engine.sync()
        try await show(new)
        pass()
        try await new.engine.upload(PlaceRenamed(id: "a", name: "name"))
        try await new.engine.sync()
        let fields = try await serverRecords("Place")["a"]?.fields
        XCTAssertEqual(fields?["title"], "title")
        XCTAssertEqual(fields?["name"], "name")
        try await old.engine.sync()
        let model = try await old.engine.model(named: "a")
        XCTAssertEqual(model, PlaceV1(id: "a", title: "title"))
    }

    /// EV-10.
    func testAnEditWithATypeTheServerRejectsIsParkedWithItsMessage() async throws {
        let phone = try makeDevice(PlaceV1.self)
        let text = "invalid attempt to set value type INT64 for field 'title' for type 'Place'"
        phone.database.failItemAlways("a", CloudError(.invalidArguments, message: text))
        try await phone.engine.upload([PlaceV1(id: "a"), PlaceV1(id: "b")])
        try await phone.engine.sync()
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["a"])
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.refused])
        XCTAssertTrue(parked.first?.parkReason?.message.contains(text) == true)
        let server = try await serverRecords("Place")
        XCTAssertEqual(server.keys.sorted(), ["b"])
        let requests = phone.database.modifies.count
        try await phone.engine.sync()
        XCTAssertEqual(phone.database.modifies.count, requests)
    }

    /// EV-22.
    func testAWrongValueOfAComputedFieldIsIgnored() async throws {
        withoutSchema()
        let phone = try makeDevice(PlaceComputed.self)
        try await phone.engine.upload(PlaceComputed(id: "a", title: "quiet"))
        try await phone.engine.sync()
        _ = try await phone.drain()
        try await serverModify(
            phone.database,
            saving: [("a", "Place", ["id": "a", "title": "quiet", "loud": 7])],
            zone: "Place"
        )
        try await phone.engine.sync()
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model, PlaceComputed(id: "a", title: "quiet"))
        XCTAssertEqual(model?.loud, "QUIET")
        try await phone.engine.upload(PlaceComputed(id: "a", title: "quiet too"))
        try await phone.engine.sync()
        let fields = try await serverRecords("Place")["a"]?.fields
        XCTAssertEqual(fields?["loud"], "QUIET TOO")
    }
}
