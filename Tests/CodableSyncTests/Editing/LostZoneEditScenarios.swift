import XCTest

@_spi(Server) @testable import CodableSync

/// An offline edit of a record whose zone is lost, while another device uploads the record into the next zone.
final class LostZoneEditScenarios: ZoneScenario {
    private enum Spelling: CaseIterable {
        case edit, draft, upload
    }

    private typealias Note = HeldItem

    private func change(_ spelling: Spelling, _ engine: SyncEngine<Note>) async throws {
        var draft = Note("a", "Tea", note: "none")
        draft.title = "mine"
        switch spelling {
        case .edit: try await engine.edit(named: "a") { $0.title = "mine" }
        case .draft: try await engine.upload(draft, editedFrom: Note("a", "Tea", note: "none"))
        case .upload: try await engine.upload(draft)
        }
    }

    /// The phone changes the title, offline; the tablet changes the note, in the next zone.
    private func tell(
        _ loss: Loss,
        _ spelling: Spelling,
        isPhoneLater: Bool,
        theirTitle: String? = nil,
        restarts: Bool = false,
        sendsFirst: Bool = false,
        editsAgain: Bool = false
    ) async throws -> (titles: [String], notes: [String?], phone: Device<Note>) {
        let (phone, tablet) = try await makePair(Note("a", "Tea", note: "none"))
        phone.database.isReachable = false
        if !isPhoneLater {
            try await change(spelling, phone.engine)
            pass()
        }
        try await remove(loss, hidingItFrom: phone.database, tablet.database)
        try await sync(tablet, deciding: .uploadAgain)
        if try await tablet.engine.model(named: "a") == nil {
            try await tablet.engine.upload(Note("a", "Tea", note: "none"))
            try await tablet.engine.sync()
        }
        pass()
        try await tablet.engine.edit(named: "a") { model in
            model.note = "theirs"
            if let theirTitle { model.title = theirTitle }
        }
        try await tablet.engine.sync()
        if isPhoneLater {
            pass()
            try await change(spelling, phone.engine)
        }
        pass()
        phone.database.isReachable = true
        if restarts { try await phone.restart() }
        if sendsFirst {
            do { try await phone.engine.sendChanges() } catch let error as SyncError {
                XCTAssertEqual(error.code, .waitingForDecision)
            }
        }
        if editsAgain { try await phone.engine.edit(named: "a") { $0.title += " again" } }
        try await sync(phone, deciding: .uploadAgain)
        try await settle(phone, tablet)
        let models = [
            try await phone.engine.model(named: "a"), try await tablet.engine.model(named: "a"),
        ]
        return (models.map { $0?.title ?? "-" }, models.map { $0?.note }, phone)
    }

    func testNoFieldOfAnotherDeviceGoesBack() async throws {
        for loss in Loss.allCases {
            for spelling in Spelling.allCases {
                for isPhoneLater in [false, true] {
                    try setUpWithError()
                    let told = try await tell(loss, spelling, isPhoneLater: isPhoneLater)
                    let row = "\(loss) \(spelling), the phone is later: \(isPhoneLater)"
                    XCTAssertEqual(told.titles, ["mine", "mine"], row)
                    XCTAssertEqual(told.notes, ["theirs", "theirs"], row)
                }
            }
        }
    }

    /// Only the field that both have changed is decided.
    func testTheLaterSideWinsOnlyTheFieldThatBothHaveChanged() async throws {
        for loss in Loss.allCases {
            for isPhoneLater in [false, true] {
                try setUpWithError()
                let told = try await tell(loss, .edit, isPhoneLater: isPhoneLater, theirTitle: "theirs")
                let row = "\(loss), the phone is later: \(isPhoneLater)"
                let title = isPhoneLater ? "mine" : "theirs"
                XCTAssertEqual(told.titles, [title, title], row)
                XCTAssertEqual(told.notes, ["theirs", "theirs"], row)
            }
        }
    }

    /// The phone sends before it fetches, and edits once more in between.
    func testNoFieldGoesBackWhenTheLostVersionMeetsTheOther() async throws {
        for loss in Loss.allCases {
            for again in [false, true] {
                try setUpWithError()
                let told = try await tell(
                    loss,
                    .edit,
                    isPhoneLater: true,
                    sendsFirst: true,
                    editsAgain: again
                )
                let title = again ? "mine again" : "mine"
                XCTAssertEqual(told.titles, [title, title], "\(loss)")
                XCTAssertEqual(told.notes, ["theirs", "theirs"], "\(loss)")
            }
        }
    }

    func testNoFieldGoesBackAfterARestart() async throws {
        for loss in Loss.allCases {
            try setUpWithError()
            let told = try await tell(loss, .edit, isPhoneLater: true, restarts: true)
            XCTAssertEqual(told.titles, ["mine", "mine"], "\(loss)")
            XCTAssertEqual(told.notes, ["theirs", "theirs"], "\(loss)")
        }
    }

    /// A draft on a lost version removes nothing from a list that its screen did not show.
    func testADraftOnALostVersionKeepsWhatItsScreenDidNotShow() async throws {
        for loss in Loss.allCases where loss.isUploadedAgain {
            for restarts in [false, true] {
                for draftsAgain in [false, true] {
                    try setUpWithError()
                    let (phone, tablet) = try await makePairWithTwoElements()
                    try await remove(loss, hidingItFrom: phone.database, tablet.database)
                    try await noticeLoss(phone)
                    var screen = StampLists(id: "a", edited: ["0"])
                    var expected = ["0", "after", "mine", "theirs"]
                    for element in draftsAgain ? ["mine", "more"] : ["mine"] {
                        let original = screen
                        screen.edited.append(element)
                        try await phone.engine.upload(screen, editedFrom: original)
                    }
                    if draftsAgain { expected.insert("more", at: 3) }
                    try await sync(tablet, deciding: nil)
                    try await tablet.engine.edit(named: "a") { $0.edited.append("after") }
                    try await tablet.engine.sync()
                    pass()
                    phone.database.isReachable = true
                    if restarts { try await phone.restart() }
                    try await sync(phone, deciding: nil)
                    try await settle(phone, tablet)
                    for device in [phone, tablet] {
                        let list = try await device.engine.model(named: "a")?.edited
                        XCTAssertEqual(list?.sorted(), expected, "\(loss), \(restarts), \(draftsAgain)")
                    }
                }
            }
        }
    }

    /// An edit outlives a deleted zone, and a screen that has seen neither it nor the tablet's element adds to its list.
    func testADraftOverAnEditOfADeletedZoneKeepsBoth() async throws {
        for restarts in [false, true] {
            try setUpWithError()
            let (phone, tablet) = try await makePairWithTwoElements()
            phone.database.isReachable = false
            try await phone.engine.edit(named: "a") { $0.edited.append("first") }
            try await remove(.deleted, hidingItFrom: phone.database)
            phone.database.isReachable = true
            try await noticeLoss(phone, keepsVersion: false)
            var screen = StampLists(id: "a", edited: ["0"])
            screen.edited.append("mine")
            try await phone.engine.upload(screen, editedFrom: StampLists(id: "a", edited: ["0"]))
            try await tablet.engine.sync()
            try await tablet.engine.upload(StampLists(id: "a", edited: ["0", "theirs", "after"]))
            try await tablet.engine.sync()
            pass()
            phone.database.isReachable = true
            if restarts { try await phone.restart() }
            try await phone.engine.sync()
            try await settle(phone, tablet)
            for device in [phone, tablet] {
                let list = try await device.engine.model(named: "a")?.edited
                XCTAssertEqual(list?.sorted(), ["0", "after", "first", "mine", "theirs"], "\(restarts)")
            }
        }
    }

    /// As above, but the edit changes another field than the draft.
    func testADraftBesideAnEditOfADeletedZoneKeepsWhatItsScreenDidNotShow() async throws {
        for restarts in [false, true] {
            try setUpWithError()
            let (phone, tablet) = try await makePairWithTwoElements()
            phone.database.isReachable = false
            try await phone.engine.edit(named: "a") { $0.drafted.append("first") }
            try await remove(.deleted, hidingItFrom: phone.database)
            phone.database.isReachable = true
            try await noticeLoss(phone, keepsVersion: false)
            let screen = StampLists(id: "a", edited: ["0"])
            var draft = screen
            draft.edited.append("mine")
            try await phone.engine.upload(draft, editedFrom: screen)
            phone.database.isReachable = true
            if restarts { try await phone.restart() }
            try await phone.engine.sync()
            try await settle(phone, tablet)
            for device in [phone, tablet] {
                let model = try await device.engine.model(named: "a")
                XCTAssertEqual(model?.edited.sorted(), ["0", "mine", "theirs"], "\(restarts)")
                XCTAssertEqual(model?.drafted, ["first"], "\(restarts)")
            }
        }
    }

    /// The version that the model was read from was lost with its zone, and an edit was made on it before.
    func testAModelWithTheTagOfALostVersionChangesOnlyItsOwnField() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "a", title: "old", note: "old"))
        let read = try await phone.engine.model(named: "a")
        var screen = try XCTUnwrap(read)
        phone.database.isReachable = false
        try await phone.engine.edit(named: "a") { $0.title = "edited" }
        try await remove(.deleted, hidingItFrom: phone.database)
        phone.database.isReachable = true
        try await noticeLoss(phone, keepsVersion: false)
        try await tablet.engine.sync()
        try await tablet.engine.upload(Tagged(id: "a", title: "old", note: "theirs"))
        try await tablet.engine.sync()
        pass()
        screen.title = "drafted"
        try await phone.engine.upload(screen)
        pass()
        phone.database.isReachable = true
        try await phone.engine.sync()
        try await settle(phone, tablet)
        for device in [phone, tablet] {
            let model = try await device.engine.model(named: "a")
            XCTAssertEqual(model?.title, "drafted")
            XCTAssertEqual(model?.note, "theirs")
        }
    }

    /// Two devices with a list of `0` and the tablet's `theirs`.
    private func makePairWithTwoElements() async throws -> (
        phone: Device<StampLists>, tablet: Device<StampLists>
    ) {
        let (phone, tablet) = try await makePair(StampLists(id: "a", edited: ["0"]))
        try await tablet.engine.edit(named: "a") { $0.edited.append("theirs") }
        try await tablet.engine.sync()
        try await phone.engine.sync()
        return (phone, tablet)
    }

    /// Syncs until the device knows that the zone is lost, and no further.
    private func noticeLoss<Model>(_ device: Device<Model>, keepsVersion: Bool = true) async throws {
        device.database.failAlways(.zones, CloudError(.networkFailure))
        do {
            try await device.engine.sync()
            XCTFail("the zone was made")
        } catch let error as SyncError {
            XCTAssertNotNil(error.errorDescription)
        }
        let state = await device.engine.core.machine?.state["a"]
        XCTAssertEqual(state?.lost != nil, keepsVersion)
        XCTAssertNil(state?.known)
        device.database.failAlways(.zones, nil)
        device.database.isReachable = false
    }
}
