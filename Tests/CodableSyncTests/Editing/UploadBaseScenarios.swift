import XCTest

@testable import CodableSync

/// What a whole model replaces: the record as this device shows it, whatever the app has read or received.
///
/// In each story, the phone's app has the model from before another device's change of the note, which the phone has
/// fetched, and uploads it with another title.
final class UploadBaseScenarios: EngineScenario {
    private func changeElsewhere(_ phone: Device<Note>, _ tablet: Device<Note>) async throws {
        pass()
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        pass()
    }

    private func assertTheNoteIsReverted(
        _ phone: Device<Note>,
        _ tablet: Device<Note>,
        line: UInt = #line
    ) async throws {
        try await phone.engine.upload(Note("A", "mine", note: "note"))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "mine", note: "note"), line: line)
        assertNoConflict(phone, line: line)
    }

    func testAnAppWithoutStreamsRevertsWhatWasFetched() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title", note: "note"))
        let read = try await phone.engine.model(named: "A")
        XCTAssertEqual(read, Note("A", "title", note: "note"))
        try await changeElsewhere(phone, tablet)
        try await assertTheNoteIsReverted(phone, tablet)
    }

    func testAnAppWithChangesRevertsWhatItHasNotReceived() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title", note: "note"))
        var iterator = phone.engine.changes.makeAsyncIterator()
        try await changeElsewhere(phone, tablet)
        try await assertTheNoteIsReverted(phone, tablet)
        let next = await iterator.next()
        XCTAssertEqual(next?.models, [Note("A", "mine", note: "note")])
    }

    func testAnAppWithLiveChangesRevertsWhatItHasNotReceived() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title", note: "note"))
        var iterator = phone.engine.liveChanges.makeAsyncIterator()
        for _ in 0..<3 { _ = await iterator.next() }
        try await changeElsewhere(phone, tablet)
        try await assertTheNoteIsReverted(phone, tablet)
        let next = await iterator.next()
        XCTAssertEqual(next?.models, [Note("A", "mine", note: "note")])
    }

    func testAnAppWithStreamsOfBothKindsRevertsWhatItHasNotReceived() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title", note: "note"))
        var changes = phone.engine.changes.makeAsyncIterator()
        var live = phone.engine.liveChanges.makeAsyncIterator()
        for _ in 0..<3 { _ = await live.next() }
        try await changeElsewhere(phone, tablet)
        try await assertTheNoteIsReverted(phone, tablet)
        for next in [await changes.next(), await live.next()] {
            XCTAssertEqual(next?.models, [Note("A", "mine", note: "note")])
        }
    }

    /// The same model with system fields keeps the other device's note.
    func testAnAppWhoseModelsCarrySystemFieldsRevertsNothing() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "title", note: "note"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        pass()
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        pass()
        model.title = "mine"
        try await phone.engine.upload(model)
        try await settle(phone, tablet)
        let result = try await tablet.engine.model(named: "A")
        XCTAssertEqual([result?.title, result?.note], ["mine", "theirs"])
        assertNoConflict(phone)
    }

    func testAnUploadBeforeTheChangeIsFetchedIsMerged() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title", note: "note"))
        try await phone.engine.upload(Note("A", "mine", note: "note"))
        try await changeElsewhere(phone, tablet)
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "mine", note: "theirs"))
    }

    func testAnUploadOverAnOwnEditHasItsBase() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title", note: "note"))
        try await phone.engine.edit(named: "A") { $0.count = 1 }
        pass()
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        pass()
        try await phone.engine.upload(Note("A", "mine", note: "note", count: 1))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "mine", note: "theirs", count: 1))
    }

    // MARK: Deletions

    func testAnUploadOverADeletionThatChangesHasYetToDeliverIsDecided() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        _ = try await phone.drain()
        try await tablet.engine.delete(named: ["A"])
        try await settle(tablet, phone)
        try await phone.engine.upload(Note("A", "mine"))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertNil(model, "the deletion wins")
    }

    func testAnAppWithoutStreamsCreatesADeletedRecordAgain() async throws {
        let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
        try await tablet.engine.upload(Note("A", "title"))
        try await settle(tablet, phone)
        try await tablet.engine.delete(named: ["A"])
        try await settle(tablet, phone)
        try await phone.engine.upload(Note("A", "mine"))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "mine"))
    }

    /// A live stream has told the deletion, or begins without the record.
    func testALiveAppCreatesADeletedRecordThatItWasToldOf() async throws {
        for wasFollowed in [false, true] {
            for isOpen in [false, true] {
                let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
                let name = "\(wasFollowed) \(isOpen)"
                try await tablet.engine.upload(Note(name, "title"))
                try await settle(tablet, phone)
                if wasFollowed { _ = try await phone.drain() }
                let engine = phone.engine
                if !isOpen { try await deleteElsewhere(name, tablet, phone) }
                let loop = Task { for await _ in engine.liveChanges {} }
                try await waitForLoop(engine)
                if isOpen { try await deleteElsewhere(name, tablet, phone) }
                try await waitForLoop(engine)
                try await phone.engine.upload(Note(name, "mine"))
                try await settle(phone, tablet)
                let model = try await tablet.engine.model(named: name)
                XCTAssertEqual(model, Note(name, "mine"))
                loop.cancel()
                await loop.value
            }
        }
    }

    private func deleteElsewhere(_ name: String, _ tablet: Device<Note>, _ phone: Device<Note>) async throws {
        try await tablet.engine.delete(named: [name])
        try await settle(tablet, phone)
    }

    private func waitForLoop(_ engine: SyncEngine<Note>) async throws {
        await engine.reach("the loop waits for the next element") { [hub = engine.hub] core in
            !hub.isIdle && core.isIdle
        }
    }

    /// The resolver has let the deletion win over an edit, and the app has yet to be told.
    func testAnUploadAfterADeletionHasWonIsDecidedToo() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await phone.engine.edit(named: "A") { $0.title = "edited" }
        try await tablet.engine.delete(named: ["A"])
        try await settle(tablet, phone)
        try await phone.engine.upload(Note("A", "mine"))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertNil(model)
    }

    // MARK: Change tags

    /// Each own save replaces the tag, but not what the screen has.
    func testASwitchIsTurnedOffOnTheTagOfAnyOfTheLastSaves() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "off", note: "note"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        for title in ["on", "off", "on", "off"] {
            model.title = title
            try await phone.engine.upload(model)
            try await settle(phone)
            try await assertServer(["title": title, "note": "note"])
        }
        assertNoConflict(phone)
    }

    /// Another device's change was merged with the switch and saved.
    func testASwitchIsTurnedOffOnTheTagFromBeforeAMerge() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "off", note: "note"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        model.title = "on"
        try await phone.engine.upload(model)
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet, phone)
        try await assertServer(["title": "on", "note": "theirs"])
        try await phone.restart()
        pass()
        phone.events.clear()
        model.title = "off"
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "off", "note": "theirs"])
        assertNoConflict(phone)
    }

    /// The feed tells the save whose answer was lost as if it were another device's.
    func testASwitchIsTurnedOffOnTheTagFromBeforeALostAnswer() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "off", note: "note"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        model.title = "on"
        try await phone.engine.upload(model)
        phone.database.plan(.modify, .loseAnswer)
        do { _ = try await phone.engine.sendChanges() } catch let error as SyncError
            where error.code == .cloud
        {}
        try await settle(phone)
        try await assertServer(["title": "on"])
        model.title = "off"
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "off"])
        assertNoConflict(phone)
    }

    /// Another device saves the same, and more: the screen's tag then means this device's edit.
    func testASwitchIsTurnedOffAfterAnotherDeviceHasTurnedItOn() async throws {
        for note in ["note", "theirs"] {
            let (phone, tablet) = try await makePair(Tagged(id: "A", title: "off", note: "note"))
            let read = try await phone.engine.model(named: "A")
            var model = try XCTUnwrap(read)
            model.title = "on"
            try await phone.engine.upload(model)
            try await tablet.engine.edit(named: "A") { item in
                item.title = "on"
                item.note = note
            }
            try await settle(tablet)
            try await phone.engine.fetchChanges()
            pass()
            model.title = "off"
            try await phone.engine.upload(model)
            try await settle(phone, tablet)
            try await assertServer(["title": "off", "note": note])
            try await phone.engine.delete(named: ["A"])
            try await settle(phone, tablet)
        }
    }

    /// The feed tells only another device's version on top of the save whose answer was lost.
    func testASwitchIsTurnedOffAfterALostAnswerAndAnotherDevicesChange() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "off", note: "note"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        model.title = "on"
        try await phone.engine.upload(model)
        try await loseAnswer(phone)
        try await settle(tablet)
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        pass()
        model.title = "off"
        try await phone.engine.upload(model)
        try await settle(phone, tablet)
        try await assertServer(["title": "off", "note": "theirs"])
    }

    /// The feed tells the second save as if it were another device's, on top of another device's.
    func testATagFromBeforeAnotherDevicesChangeIsStillKnownAfterALostAnswer() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "first", note: "note"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        pass()
        model.title = "second"
        try await phone.engine.upload(model)
        try await loseAnswer(phone)
        try await phone.engine.fetchChanges()
        try await settle(phone)
        pass()
        model.title = "third"
        try await phone.engine.upload(model)
        try await settle(phone, tablet)
        try await assertServer(["title": "third", "note": "theirs"])
    }

    /// A screen that saves again and again holds the first tag.
    func testTheTagOfAScreenThatSavesOftenIsStillKnown() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "0", note: "note"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        for number in 1...12 {
            model.title = "\(number)"
            model.note = number == 12 ? nil : "note"
            try await phone.engine.upload(model)
            try await settle(phone)
        }
        try await assertServer(["title": "12", "note": nil])
        assertNoConflict(phone)
    }

    private func loseAnswer<Model>(_ phone: Device<Model>) async throws {
        phone.database.plan(.modify, .loseAnswer)
        do { _ = try await phone.engine.sendChanges() } catch let error as SyncError
            where error.code == .cloud
        {}
    }
}
