import XCTest

@testable import CodableSync

/// Devices run several versions of a model that grows; nothing is lost, and defaults are no edits.
class GrowingModelScenarios: EngineScenario {
    /// A device with version 1, which has uploaded a place, and one with version 2, which has shown it.
    private func makePair() async throws -> (old: Device<PlaceV1>, new: Device<PlaceDefaulted>) {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceDefaulted.self))
        try await old.engine.upload(PlaceV1(id: "a", title: "old"))
        try await old.engine.sync()
        try await new.engine.sync()
        try await show(new)
        try await show(old)
        pass()
        return (old, new)
    }

    private func fields() async throws -> [String: RecordValue] {
        try await serverRecords("Place")["a"]?.fields ?? [:]
    }

    private func read<Model>(_ device: Device<Model>, _ name: String) async throws -> Model {
        let model = try await device.engine.model(named: name)
        return try XCTUnwrap(model)
    }

    // MARK: Defaults

    /// EV-03.
    func testAnOlderRecordHasItsDefaultsAndNothingIsSent() async throws {
        let (_, new) = try await makePair()
        let model = try await new.engine.model(named: "a")
        XCTAssertEqual(model, PlaceDefaulted(id: "a", title: "old", stars: 3, owner: .init(name: "nobody")))
        let before = new.database.modifies.count
        try await new.restart()
        try await new.engine.sync()
        XCTAssertEqual(new.database.modifies.count, before)
        let server = try await fields()
        XCTAssertNil(server["stars"])
        XCTAssertNil(server["owner"])
    }

    func testTheNextEditSendsTheDefaults() async throws {
        let (old, new) = try await makePair()
        try await new.engine.edit(named: "a") { $0.title = "new" }
        try await new.engine.sync()
        let server = try await fields()
        XCTAssertEqual(server["title"], "new")
        XCTAssertEqual(server["stars"], 3)
        XCTAssertNotNil(server["owner"])
        try await old.engine.sync()
        try await old.engine.edit(named: "a") { $0.title = "old again" }
        try await settle(old)
        let after = try await fields()
        XCTAssertEqual(after["title"], "old again")
        XCTAssertEqual(after["stars"], 3)
        XCTAssertEqual(after["owner"], server["owner"])
    }

    func testAnEditThatSetsADefaultToItselfSendsNothing() async throws {
        let (_, new) = try await makePair()
        let edit = try await new.engine.edit(named: "a") { $0.stars = 3 }
        XCTAssertEqual(edit.before, edit.after)
        let pending = try await new.engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    func testADraftSendsTheDefaultsAndWhatItChanged() async throws {
        let (_, new) = try await makePair()
        let original = try await read(new, "a")
        var draft = original
        draft.stars = 5
        try await new.engine.upload(draft, editedFrom: original)
        try await new.engine.sync()
        let server = try await fields()
        XCTAssertEqual(server["stars"], 5)
        XCTAssertNotNil(server["owner"])
    }

    /// Neither in an edit nor in a draft, and whichever side is found first.
    func testADefaultDoesNotWinOverAnotherDevicesValue() async throws {
        for order in SyncOrder.allCases {
            for isDraft in [false, true] {
                let name = "\(order)-\(isDraft)"
                let old = try makeDevice(PlaceV1.self)
                let (new, other) = (try makeDevice(PlaceDefaulted.self), try makeDevice(PlaceDefaulted.self))
                try await old.engine.upload(PlaceV1(id: name, title: "old"))
                try await old.engine.sync()
                for device in [new, other] {
                    try await device.engine.sync()
                    try await show(device)
                }
                try await other.engine.edit(named: name) { $0.stars = 5 }
                try await other.engine.sync()
                // The later edit has the default.
                pass()
                if isDraft {
                    let original = try await read(new, name)
                    var draft = original
                    draft.title = "new"
                    try await new.engine.upload(draft, editedFrom: original)
                } else {
                    try await new.engine.edit(named: name) { $0.title = "new" }
                }
                try await order.sync(new)
                try await settle(new, other)
                let expected = PlaceDefaulted(
                    id: name,
                    title: "new",
                    stars: 5,
                    owner: .init(name: "nobody")
                )
                for device in [new, other] {
                    let model = try await device.engine.model(named: name)
                    XCTAssertEqual(model, expected, name)
                }
            }
        }
    }

    /// A resolver that keeps the cloud's model sends no defaults by itself.
    func testKeepingTheServersModelSendsNoDefaults() async throws {
        let (old, _) = try await makePair()
        let new = try makeDevice(PlaceServerWins.self)
        try await new.engine.sync()
        try await show(new)
        try await old.engine.edit(named: "a") { $0.title = "theirs" }
        try await old.engine.sync()
        pass()
        try await new.engine.edit(named: "a") { $0.title = "mine" }
        try await settle(new)
        let server = try await fields()
        XCTAssertEqual(server["title"], "theirs")
        XCTAssertNil(server["stars"])
        let pending = try await new.engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    func testAFirstUploadWithTheDefaultDoesNotWinOverTheServersValue() async throws {
        let (new, other) = (try makeDevice(PlaceDefaulted.self), try makeDevice(PlaceDefaulted.self))
        try await other.engine.upload(PlaceDefaulted(id: "a", title: "place", stars: 5))
        try await other.engine.sync()
        pass()
        try await new.engine.upload(PlaceDefaulted(id: "a", title: "place"))
        try await settle(new, other)
        let model = try await new.engine.model(named: "a")
        XCTAssertEqual(model?.stars, 5)
        try await assertEqualEverywhere(new, other, in: "Place")
    }

    /// EV-04.
    func testTheErrorForAMissingFieldNamesTheRemediesAndAnUpdateWithDefaultsReadsTheRecord() async throws {
        let (_, _) = try await makePair()
        let strict = try makeDevice(PlaceRequiringStars.self)
        try await strict.engine.sync()
        do {
            try await strict.engine.edit(named: "a") { $0.stars = 1 }
            XCTFail("The record has no stars.")
        } catch let error as SyncError where error.code == .recordUndecodable {
            XCTAssertTrue(
                error.message.contains("optional, or conform the model to FieldDefaulting"),
                error.message
            )
        }
        try await strict.engine.close()
        let files = strict.files
        let mended = try makeDevice(PlaceDefaulted.self) { $0.fileSystem = files }
        mended.database.isReachable = false
        let model = try await mended.engine.model(named: "a")
        XCTAssertEqual(model?.stars, 3)
    }

    // MARK: Removed and retyped properties

    func testAnEditByAVersionWithoutAPropertyKeepsItsField() async throws {
        let full = try makeDevice(PlaceV2.self)
        try await full.engine.upload(PlaceV2(id: "a", title: "old", note: "kept", stars: 5))
        try await full.engine.sync()
        let reduced = try makeDevice(PlaceReduced.self)
        try await reduced.engine.sync()
        try await show(reduced)
        pass()
        let edits: [(String, () async throws -> Void)] = [
            ("edit", { try await reduced.engine.edit(named: "a") { $0.title = "edit" } }),
            (
                "draft",
                {
                    try await reduced.engine.upload(
                        PlaceReduced(id: "a", title: "draft"),
                        editedFrom: PlaceReduced(id: "a", title: "edit")
                    )
                }
            ),
            ("upload", { try await reduced.engine.upload(PlaceReduced(id: "a", title: "upload")) }),
        ]
        for (title, edit) in edits {
            try await edit()
            try await reduced.engine.sync()
            try await show(reduced)
            let server = try await fields()
            XCTAssertEqual(server["title"], .string(title))
            XCTAssertEqual(server["note"], "kept", title)
            XCTAssertEqual(server["stars"], 5, title)
            XCTAssertNotNil(server["address"], title)
        }
        try await full.engine.sync()
        let model = try await full.engine.model(named: "a")
        XCTAssertEqual(model, PlaceV2(id: "a", title: "upload", note: "kept", stars: 5))
    }

    /// EV-10: with the rule of the cloud that a field keeps its type.
    func testAChangedTypeIsRefusedUnderTheSameKeyAndWorksUnderANewOne() async throws {
        let first = try makeDevice(PlaceV2.self)
        try await first.engine.upload(PlaceV2(id: "a", title: "old", stars: 5))
        try await first.engine.sync()
        let retyped = try makeDevice(PlaceRetyped.self)
        try await retyped.engine.upload(PlaceRetyped(id: "b", stars: "five"))
        try await retyped.engine.sync()
        let parked = try await retyped.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["b"])
        let reasons = retyped.events.all.compactMap { event in
            if case .undecodable("a", let reason) = event { reason } else { nil }
        }
        XCTAssertEqual(reasons.count, 1)
        XCTAssertTrue(reasons.first?.contains("give it another key") == true, "\(reasons)")

        let renamed = try makeDevice(PlaceRekeyed.self)
        try await renamed.engine.upload(PlaceRekeyed(id: "c", title: "", stars: "five"))
        try await renamed.engine.sync()
        try await show(renamed)
        try await renamed.engine.edit(named: "a") { $0.stars = "six" }
        try await renamed.engine.sync()
        let server = try await fields()
        XCTAssertEqual(server["stars"], 5)
        XCTAssertEqual(server["rating"], "six")
        try await first.engine.sync()
        let model = try await first.engine.model(named: "a")
        XCTAssertEqual(model?.stars, 5)
    }

    // MARK: Parts of values that a version does not know

    private func makeNestedPair(
        _ id: String = "a"
    ) async throws -> (old: Device<PlaceTolerant>, new: Device<PlaceV2>) {
        let (old, new) = (try makeDevice(PlaceTolerant.self), try makeDevice(PlaceV2.self))
        let address = PlaceV2.Address(city: "Oslo", street: "Gate 1")
        try await new.engine.upload(PlaceV2(id: id, title: "old", kind: .lake, address: address))
        try await new.engine.sync()
        try await old.engine.sync()
        try await show(old)
        try await show(new)
        pass()
        return (old, new)
    }

    private let grown = PlaceV2(
        id: "a",
        title: "edited",
        kind: .lake,
        address: PlaceV2.Address(city: "Oslo", street: "Gate 1")
    )

    /// EV-06, EV-08: a nested property and an enum case that the version does not know.
    func testAnEditKeepsWhatItsVersionDoesNotKnowOfOtherFields() async throws {
        let (old, new) = try await makeNestedPair()
        try await old.engine.edit(named: "a") { $0.title = "edited" }
        try await settle(old)
        try await new.engine.sync()
        let model = try await new.engine.model(named: "a")
        XCTAssertEqual(model, grown)
    }

    func testADraftKeepsWhatItsVersionDoesNotKnowOfOtherFields() async throws {
        let (old, new) = try await makeNestedPair()
        let original = try await read(old, "a")
        var draft = original
        draft.title = "edited"
        try await old.engine.upload(draft, editedFrom: original)
        try await settle(old)
        try await new.engine.sync()
        let model = try await new.engine.model(named: "a")
        XCTAssertEqual(model, grown)
    }

    func testAMergeKeepsWhatItsVersionDoesNotKnowOfOtherFields() async throws {
        for order in SyncOrder.allCases {
            let (old, new) = try await makeNestedPair(order.rawValue)
            try await new.engine.edit(named: order.rawValue) {
                $0.title = "theirs"
                $0.address.street = "Gate 2"
            }
            try await new.engine.sync()
            pass()
            try await old.engine.edit(named: order.rawValue) { $0.title = "edited" }
            try await order.sync(old)
            try await settle(old)
            try await new.engine.sync()
            let model = try await new.engine.model(named: order.rawValue)
            var expected = grown
            expected.id = order.rawValue
            expected.address.street = "Gate 2"
            XCTAssertEqual(model, expected, order.rawValue)
        }
    }

    /// The older version sees no conflict, since it does not know what the newer one has changed.
    func testAnEditKeepsAChangeThatItsVersionDoesNotSee() async throws {
        for order in SyncOrder.allCases {
            let (old, new) = try await makeNestedPair(order.rawValue)
            try await new.engine.edit(named: order.rawValue) { $0.address.street = "Gate 3" }
            try await new.engine.sync()
            pass()
            try await old.engine.edit(named: order.rawValue) { $0.title = order.rawValue }
            try await order.sync(old)
            try await settle(old)
            try await new.engine.sync()
            let model = try await new.engine.model(named: order.rawValue)
            var expected = grown
            expected.id = order.rawValue
            expected.title = order.rawValue
            expected.address.street = "Gate 3"
            XCTAssertEqual(model, expected, order.rawValue)
        }
    }

    func testAnEditOfTheNestedValueReplacesAllOfIt() async throws {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV2.self))
        let address = PlaceV2.Address(city: "Oslo", street: "Gate 1")
        try await new.engine.upload(PlaceV2(id: "a", address: address))
        try await new.engine.sync()
        try await old.engine.sync()
        try await old.engine.edit(named: "a") { $0.address.city = "Bergen" }
        try await old.engine.sync()
        try await new.engine.sync()
        let model = try await new.engine.model(named: "a")
        XCTAssertEqual(model?.address, PlaceV2.Address(city: "Bergen", street: nil))
    }
}
