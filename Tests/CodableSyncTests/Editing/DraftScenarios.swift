import XCTest

@testable import CodableSync

/// Uploading a draft changes only the edited fields and keeps changes that arrived since.
class DraftScenarios: EngineScenario {
    func testADraftRevertsNoOtherField() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        let original = Note("A", "title")
        try await tablet.engine.edit(named: "A") { $0.count = 7 }
        try await settle(tablet, phone)
        _ = try await phone.drain()
        try await phone.engine.upload(Note("A", "title", note: "mine"), editedFrom: original)
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "title", note: "mine", count: 7))
        XCTAssertEqual(phone.events.count { if case .conflictResolved = $0 { true } else { false } }, 0)
    }

    /// Even if the app has accepted the newer version, the draft began before it.
    func testAnEditedFieldThatAnotherDeviceAlsoChangedIsAConflict() async throws {
        for kind in ["accepted", "fetched", "not fetched"] {
            Recording.asked.withLock { $0 = [] }
            let (phone, tablet) = try await makePairEditedElsewhere(Recording.self)
            let original = Item<Recording>("A", "title", count: 1)
            if kind != "not fetched" { try await phone.engine.sync() }
            if kind == "accepted" { _ = try await phone.drain() }
            pass()
            try await phone.engine.upload(Item("A", "mine", count: 1), editedFrom: original)
            try await settle(phone, tablet)
            let asked = Recording.asked.withLock { $0 }
            XCTAssertEqual(asked.count, 1, kind)
            XCTAssertEqual(asked.first?.ancestor?.title, "title", kind)
            XCTAssertEqual(asked.first?.server, Item("A", "theirs", count: 2), kind)
            let model = try await tablet.engine.model(named: "A")
            XCTAssertEqual(model, Item("A", "mine", count: 2), kind)
            try await serverDelete("A")
        }
    }

    /// Uploads a draft of the title after another device has changed title and count.
    ///
    /// - Returns: The other device's model after both devices have synced.
    private func draftTitle<Policy>(_ policy: Policy.Type) async throws -> Item<Policy>? {
        let (phone, tablet) = try await makePairEditedElsewhere(policy)
        try await settle(tablet, phone)
        try await phone.engine.upload(Item("A", "mine", count: 1), editedFrom: Item("A", "title", count: 1))
        try await settle(phone, tablet)
        return try await tablet.engine.model(named: "A")
    }

    func testAResolverThatKeepsTheServersRecordDiscardsTheDraft() async throws {
        let model = try await draftTitle(ServerWins.self)
        XCTAssertEqual(model, Item("A", "theirs", count: 2))
    }

    func testAResolverThatKeepsThisDevicesRecordRevertsNoOtherField() async throws {
        let model = try await draftTitle(ClientWins.self)
        XCTAssertEqual(model, Item("A", "mine", count: 2))
    }

    func testADraftKeepsAPendingEditOfAnotherField() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        let original = Note("A", "title")
        try await phone.engine.edit(named: "A") { $0.color = "pending" }
        try await phone.engine.upload(Note("A", "title", note: "mine"), editedFrom: original)
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "title", note: "mine", color: "pending"))
    }

    func testADraftReplacesAPendingEditOfTheSameField() async throws {
        for original in [Item<ServerWins>("A", "title"), Item("A", "pending")] {
            let (phone, tablet) = try await makePair(Item<ServerWins>("A", "title"))
            try await phone.engine.edit(named: "A") { $0.title = "pending" }
            try await phone.engine.upload(Item("A", "draft"), editedFrom: original)
            try await settle(phone, tablet)
            let model = try await tablet.engine.model(named: "A")
            XCTAssertEqual(model?.title, "draft", original.title)
            XCTAssertEqual(phone.events.count { if case .conflictResolved = $0 { true } else { false } }, 0)
            try await serverDelete("A")
        }
    }

    func testADraftWithAnOriginalOlderThanEveryStoredVersionIsAConflict() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        for title in ["second", "third"] {
            try await tablet.engine.edit(named: "A") { $0.title = title }
            try await settle(tablet, phone)
            _ = try await phone.drain()
        }
        pass()
        try await phone.engine.upload(Note("A", "first"), editedFrom: Note("A", "none", count: 5))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model?.title, "first")
        let conflicts = phone.events.count { if case .conflictResolved = $0 { true } else { false } }
        XCTAssertEqual(conflicts, 1)
    }

    func testADraftThatChangesNothingQueuesNothing() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.count = 7 }
        try await settle(tablet, phone)
        try await phone.engine.upload(Note("A", "title"), editedFrom: Note("A", "title"))
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    func testADraftOfADeletedRecordAsksTheModelAndOneOfAnUnknownRecordMayCreateIt() async throws {
        let (phone, tablet) = try await makePair(Item<ClientWins>("A", "title"))
        try await tablet.engine.delete(Item("A"))
        try await settle(tablet, phone)
        try await phone.engine.upload(Item("A", "mine"), editedFrom: Item("A", "title"))
        try await phone.engine.upload(Item("B", "mine"), editedFrom: Item("B", "title"), ifMissing: .create)
        try await phone.engine.upload(Item("C", "mine"), editedFrom: nil)
        try await settle(phone, tablet)
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, ["A", "B", "C"].map { Item($0, "mine") })
        let told = phone.events.count {
            if case .editOfDeleted("A", _, kept: true) = $0 { true } else { false }
        }
        XCTAssertEqual(told, 1)
    }

    /// The draft may be of another user's record, or of one whose deletion the app knows.
    func testADraftOfARecordThatThisDeviceDoesNotHaveIsRefused() async throws {
        let (phone, tablet) = try await makePair(Note("elsewhere", "title"), Note("here", "title"))
        try await tablet.engine.delete(named: ["elsewhere"])
        try await settle(tablet, phone)
        _ = try await phone.drain()
        try await phone.engine.delete(named: ["here"])
        let assertRefused = { (names: [String]) in
            for name in names {
                await assertThrows(.recordNotFound(name), name) {
                    try await phone.engine.upload(Note(name, "mine"), editedFrom: Note(name, "title"))
                }
            }
        }
        await assertRefused(["never", "elsewhere", "here"])
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["here"])
        try await settle(phone, tablet)
        // The answer is the same once the cloud has deleted the record.
        await assertRefused(["never", "elsewhere", "here"])
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [])
    }

    func testADraftCanCreateARecordThatThisDeviceHasDeleted() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await phone.engine.delete(named: ["A"])
        try await phone.engine.upload(Note("A", "mine"), editedFrom: Note("A", "title"), ifMissing: .create)
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model?.title, "mine")
    }

    func testADraftCannotRenameARecord() async throws {
        let phone = try makeDevice(Note.self)
        do {
            try await phone.engine.upload(Note("B"), editedFrom: Note("A"))
            XCTFail("no error was thrown")
        } catch let error as SyncError where error.code == .invalidModels {
            XCTAssertEqual(error.recordNames, ["B"])
            XCTAssertTrue(error.message.contains("\"A\""), error.message)
        }
    }

    func testALoopReceivesAnUndeliveredChangeTogetherWithALaterDraft() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await settle(tablet, phone)
        try await phone.engine.upload(Note("A", "title", note: "mine"), editedFrom: Note("A", "title"))
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.updated([Note("A", "title", note: "mine", color: "theirs")])])
    }
}
