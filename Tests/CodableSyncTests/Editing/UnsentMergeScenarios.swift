import XCTest

@testable import CodableSync

/// A screen saves a draft that it began before other devices' changes were merged into this device's unsent edit.
final class UnsentMergeScenarios: EngineScenario {
    /// Merges lists by element against the ancestor, and other fields by date.
    private enum Elements: ItemPolicy {
        static func resolve(_ conflict: Conflict<Item<Elements>>) throws -> Item<Elements>? {
            var merged = try conflict.merged()
            let before = Set(conflict.ancestor?.tags ?? [])
            let (mine, theirs) = (Set(conflict.client.tags), Set(conflict.server.tags))
            let kept = before.intersection(mine).intersection(theirs)
            merged.tags = kept.union(mine.subtracting(before)).union(theirs.subtracting(before)).sorted()
            return merged
        }
    }

    private typealias Note = Item<Elements>

    private enum Ending: CaseIterable {
        case draft, restart, offline, two, own
    }

    /// The phone uploads "1", and the tablet adds "t"; a screen that shows "1" adds "2" after the merge.
    func testNoElementIsLost() async throws {
        for (index, ending) in Ending.allCases.enumerated() {
            let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
            let name = "A\(index)"
            try await phone.engine.upload(Note(name, tags: ["0"]))
            try await settle(phone, tablet)
            pass()
            try await tablet.engine.edit(named: name) { $0.tags = ["0", "t"] }
            try await tablet.engine.sync()
            pass()
            try await phone.engine.edit(named: name) { $0.tags = ["0", "1"] }
            let shown = try await phone.engine.model(named: name)
            let original = try XCTUnwrap(shown)
            XCTAssertEqual(original.tags, ["0", "1"])
            try await phone.engine.fetchChanges()
            let merged = try await phone.engine.model(named: name)
            XCTAssertEqual(merged?.tags, ["0", "1", "t"])
            pass()
            var expected = ["0", "1", "2", "t"]
            if ending == .own {
                try await phone.engine.edit(named: name) { $0.tags.append("own") }
                expected.append("own")
            }
            var draft = original
            draft.tags.append("2")
            try await phone.engine.upload(draft, editedFrom: original)
            switch ending {
            case .draft, .own: break
            case .restart: try await phone.restart()
            case .offline:
                pass()
                try await tablet.engine.edit(named: name) { $0.tags.append("later") }
                try await tablet.engine.sync()
                expected.append("later")
            case .two:
                var next = draft
                next.tags.append("3")
                try await phone.engine.upload(next, editedFrom: draft)
                expected.append("3")
            }
            pass()
            try await settle(phone, tablet)
            for device in [phone, tablet] {
                let model = try await device.engine.model(named: name)
                XCTAssertEqual(model?.tags, expected.sorted(), "\(ending)")
            }
            try await assertEqualEverywhere(phone, tablet)
        }
    }

    /// A draft of a field that no other device has changed takes the later value, as without a merge.
    func testADraftOfAnotherFieldIsNoConflict() async throws {
        let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
        try await phone.engine.upload(Note("A", "title"))
        try await settle(phone, tablet)
        pass()
        try await tablet.engine.edit(named: "A") { $0.tags = ["t"] }
        try await tablet.engine.sync()
        pass()
        try await phone.engine.edit(named: "A") { $0.title = "edited" }
        let shown = try await phone.engine.model(named: "A")
        let original = try XCTUnwrap(shown)
        try await phone.engine.fetchChanges()
        let asked = Calls.shared.count(Elements.self)
        var draft = original
        draft.title = "draft"
        try await phone.engine.upload(draft, editedFrom: original)
        try await settle(phone, tablet)
        XCTAssertEqual(Calls.shared.count(Elements.self), asked)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "draft", tags: ["t"]))
    }

    /// Nobody else has the record, so the last call of this device wins, and no resolver is asked.
    func testADraftOfARecordThatIsNotSentReplacesTheEditBeforeIt() async throws {
        let phone = try makeDevice(Note.self)
        let asked = Calls.shared.count(Elements.self)
        let original = Note("A", "Tea")
        try await phone.engine.upload(original)
        try await phone.engine.edit(named: "A") { $0.title = "cold" }
        try await phone.engine.upload(Note("A", "hot"), editedFrom: original)
        try await phone.engine.sync()
        let model = try await phone.engine.model(named: "A")
        XCTAssertEqual(model?.title, "hot")
        XCTAssertEqual(Calls.shared.count(Elements.self), asked)
    }
}
