import XCTest

@testable import CodableSync

/// A draft of one field meets another device's edit at each stage of sync, with and without an earlier edit
/// on this device.
final class DraftCrossingScenarios: EngineScenario {
    private enum Own: CaseIterable {
        case none, sameField, otherField
    }

    private enum Crossing: CaseIterable {
        case beforeFetch, fetched, accepted, pageComing, inFlight, answerLost

        /// Whether this device sends its own edit in this case.
        var sends: Bool { self == .inFlight || self == .answerLost }

        /// Whether the draft is uploaded after the other device's edit was fetched.
        var isAfterFetch: Bool { self == .fetched || self == .accepted }
    }

    private struct Case {
        var crossing: Crossing
        var own: Own
        /// Whether the draft's original is older than every stored version.
        var isOld: Bool
        var index: Int
        var name: String { "A\(index)" }
        var text: String { "\(crossing), own \(own), old \(isOld)" }
    }

    private var cases: [Case] {
        var cases: [Case] = []
        for crossing in Crossing.allCases {
            for own in Own.allCases where own != .none || !crossing.sends {
                for isOld in [false, true] {
                    cases.append(Case(crossing: crossing, own: own, isOld: isOld, index: cases.count))
                }
            }
        }
        return cases
    }

    /// Runs a case until both devices agree.
    ///
    /// - Returns: The model on both devices.
    private func tell<Policy>(
        _ one: Case,
        _ phone: Device<Item<Policy>>,
        _ tablet: Device<Item<Policy>>
    ) async throws -> Item<Policy>? {
        let name = one.name
        try await phone.engine.upload(Item(name, "title", count: 1))
        try await settle(phone, tablet)
        try await show(phone, tablet)
        pass()
        switch one.own {
        case .none: break
        case .sameField: try await phone.engine.edit(named: name) { $0.title = "own" }
        case .otherField: try await phone.engine.edit(named: name) { $0.note = "own" }
        }
        if one.crossing == .answerLost {
            phone.database.plan(.modify, .loseAnswer)
            do {
                try await phone.engine.sendChanges()
                XCTFail("no error was thrown: \(one.text)")
            } catch let error as SyncError where error.code == .cloud {}
        }
        pass()
        try await tablet.engine.sync()
        try await tablet.engine.edit(named: name) {
            $0.title = "theirs"
            $0.count = 2
        }
        try await tablet.engine.sync()
        pass()
        try await draft(one, phone)
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: name)
        let here = try await phone.engine.model(named: name)
        XCTAssertEqual(here, model, one.text)
        return model
    }

    private func draft<Policy>(_ one: Case, _ phone: Device<Item<Policy>>) async throws {
        let engine = phone.engine
        var original = Item<Policy>(one.name, "title", count: 1)
        if one.isOld { original = Item(one.name, "first", color: "ancient", count: 7, tags: ["old"]) }
        var draft = original
        draft.title = "mine"
        let gate = Gate()
        switch one.crossing {
        case .beforeFetch, .answerLost: try await engine.upload(draft, editedFrom: original)
        case .fetched, .accepted:
            try await engine.fetchChanges()
            if one.crossing == .accepted { _ = try await phone.drain() }
            try await engine.upload(draft, editedFrom: original)
        case .pageComing, .inFlight:
            let isFetch = one.crossing == .pageComing
            phone.database.plan(isFetch ? .fetch : .modify, isFetch ? .holdAfter(gate) : .holdBefore(gate))
            async let summary = isFetch ? engine.fetchChanges() : engine.sendChanges()
            await gate.reached()
            try await engine.upload(draft, editedFrom: original)
            gate.open()
            _ = try await summary
        }
    }

    private func makeEmptyPair<Policy>() async throws -> (Device<Item<Policy>>, Device<Item<Policy>>) {
        let (phone, tablet) = try await makePair(Item<Policy>("other"))
        return (phone, tablet)
    }

    func testAMergeKeepsTheDraftAndEveryOtherField() async throws {
        let (phone, tablet): (Device<Note>, Device<Note>) = try await makeEmptyPair()
        for one in cases {
            let model = try await tell(one, phone, tablet)
            let note = one.own == .otherField ? "own" : nil
            XCTAssertEqual(model, Note(one.name, "mine", note: note, count: 2), one.text)
        }
    }

    func testAResolverThatKeepsTheServersRecordDiscardsTheDraftAndUnsentEdits() async throws {
        let (phone, tablet): (Device<Item<ServerWins>>, Device<Item<ServerWins>>) = try await makeEmptyPair()
        for one in cases {
            let model = try await tell(one, phone, tablet)
            // The server stored the edit before its response was lost, so its record includes the edit.
            let note = one.crossing == .answerLost && one.own == .otherField ? "own" : nil
            XCTAssertEqual(model, Item(one.name, "theirs", note: note, count: 2), one.text)
        }
    }

    func testAResolverThatKeepsThisDevicesValueKeepsTheDraft() async throws {
        let (phone, tablet): (Device<Item<ClientWins>>, Device<Item<ClientWins>>) = try await makeEmptyPair()
        for one in cases {
            let model = try await tell(one, phone, tablet)
            XCTAssertEqual(model?.title, "mine", one.text)
            XCTAssertEqual(model?.note, one.own == .otherField ? "own" : nil, one.text)
            XCTAssertEqual(model?.color, nil, one.text)
            // Unless the draft was applied to the other device's edit, the resolver kept this device's count.
            let isOverlaid = one.crossing.isAfterFetch && one.own == .none
            XCTAssertEqual(model?.count, isOverlaid ? 2 : 1, one.text)
        }
    }

    // MARK: Two drafts, and restarts

    /// The first draft's field stays contested when the second draft is uploaded.
    func testTheFieldsOfTwoDraftsAreBothContested() async throws {
        let (phone, tablet) = try await makePair(Item<ServerWins>("A", "title", note: "note"))
        let original = Item<ServerWins>("A", "title", note: "note")
        try await tablet.engine.edit(named: "A") {
            $0.title = "theirs"
            $0.note = "theirs"
        }
        try await settle(tablet, phone)
        try await phone.engine.upload(Item("A", "mine", note: "note"), editedFrom: original)
        try await phone.engine.upload(Item("A", "title", note: "mine"), editedFrom: original)
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Item("A", "theirs", note: "theirs"))
    }

    /// The second draft is uploaded while the resolver handles the first.
    func testTheAncestorHasTheOriginalValueOfEachContestedField() async throws {
        let (phone, tablet) = try await makePair(Item<HeldRecording>("A", "title", note: "note", count: 1))
        let original = Item<HeldRecording>("A", "title", note: "note", count: 1)
        try await tablet.engine.edit(named: "A") {
            $0.title = "theirs"
            $0.note = "theirs"
        }
        try await settle(tablet, phone)
        try await tablet.engine.edit(named: "A") { $0.count = 5 }
        try await tablet.engine.sync()
        pass()
        let barrier = Barrier()
        HeldRecording.asked.withLock { $0 = [] }
        HeldRecording.barrier.withLock { $0 = barrier }
        defer { HeldRecording.barrier.withLock { $0 = nil } }
        try await phone.engine.upload(Item("A", "mine", note: "note", count: 1), editedFrom: original)
        await barrier.reached()
        try await phone.engine.upload(Item("A", "title", note: "mine", count: 1), editedFrom: original)
        try await phone.engine.edit(named: "A") { $0.color = "mine" }
        barrier.open()
        try await settle(phone, tablet)
        let asked = HeldRecording.asked.withLock { $0 }
        let both = asked.first { $0.client.note == "mine" }
        XCTAssertEqual(both?.ancestor?.title, "title")
        XCTAssertEqual(both?.ancestor?.note, "note")
        XCTAssertEqual(both?.ancestor?.count, both.map { _ in 1 })
        XCTAssertEqual(both?.client.color, "mine")
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Item("A", "mine", note: "mine", color: "mine", count: 5))
    }

    func testAContestedDraftStaysContestedAfterARestart() async throws {
        let (phone, tablet) = try await makePairEditedElsewhere(ServerWins.self)
        let original = Item<ServerWins>("A", "title", count: 1)
        try await phone.engine.fetchChanges()
        try await phone.engine.upload(Item("A", "mine", count: 1), editedFrom: original)
        try await phone.restart()
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Item("A", "theirs", count: 2))
    }

    // MARK: Changes while a draft is encoded

    func testADraftIsAppliedToAChangeThatArrivesWhileItIsEncoded() async throws {
        let (phone, tablet) = try await makePair(HeldItem("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await tablet.engine.sync()
        let engine = phone.engine
        let gate = Gate()
        phone.database.plan(.fetch, .holdAfter(gate))
        let fetch = Task { try await engine.fetchChanges() }
        await gate.reached()
        // The draft is decoded first; the second decoding applies it to the current version.
        let first = DecodingHold.next(of: "A")
        let upload = Task {
            try await engine.upload(HeldItem("A", "mine"), editedFrom: HeldItem("A", "title"))
        }
        await first.reached()
        let second = DecodingHold.next(of: "A")
        first.release()
        await second.reached()
        gate.open()
        _ = try await fetch.value
        second.release()
        try await upload.value
        let model = try await phone.engine.model(named: "A")
        XCTAssertEqual(model, HeldItem("A", "mine", note: "theirs"))
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.stage), [.queued])
    }

    func testADraftThatIsInvalidTogetherWithAPendingEditThrows() async throws {
        let phone = try makeDevice(Span.self)
        try await phone.engine.upload(Span(id: "A", lower: 1, upper: 9))
        try await phone.engine.edit(named: "A") { $0.lower = 6 }
        do {
            try await phone.engine.upload(
                Span(id: "A", lower: 1, upper: 5),
                editedFrom: Span(id: "A", lower: 1, upper: 9)
            )
            XCTFail("no error was thrown")
        } catch let error as SyncError where error.code == .invalidModels {
            XCTAssertEqual(error.recordNames, ["A"])
            XCTAssertTrue(error.message.contains("lower above upper"), error.message)
        }
        let model = try await phone.engine.model(named: "A")
        XCTAssertEqual(model, Span(id: "A", lower: 6, upper: 9))
    }

    func testADraftWithoutChangesCreatesNoRecord() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("A", "title"), editedFrom: Note("A", "title"))
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    func testADraftOfAlreadyPendingValuesQueuesNothing() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        try await phone.engine.edit(named: "A") { $0.title = "mine" }
        let before = try await phone.engine.pendingChanges()
        pass()
        try await phone.engine.upload(Note("A", "mine"), editedFrom: Note("A", "title"))
        let after = try await phone.engine.pendingChanges()
        XCTAssertEqual(after, before)
    }
}

extension EngineScenario {
    /// Two devices with record A; the tablet has changed its title and count and sent the change.
    func makePairEditedElsewhere<Policy>(
        _ policy: Policy.Type
    ) async throws -> (phone: Device<Item<Policy>>, tablet: Device<Item<Policy>>) {
        let (phone, tablet) = try await makePair(Item<Policy>("A", "title", count: 1))
        try await tablet.engine.edit(named: "A") {
            $0.title = "theirs"
            $0.count = 2
        }
        try await tablet.engine.sync()
        return (phone, tablet)
    }
}

/// Merges, records each conflict, and waits at the barrier, if there is one.
enum HeldRecording: ItemPolicy {
    static let asked = Locked<[Conflict<Item<Self>>]>([])
    static let barrier = Locked<Barrier?>(nil)

    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        asked.withLock { $0.append(conflict) }
        barrier.withLock { $0 }?.pass()
        return try conflict.merged()
    }
}

/// A model that can't be decoded if its lower bound is above its upper bound.
struct Span: RecordCodable, Equatable {
    struct Unordered: Error, CustomStringConvertible {
        var description: String { "lower above upper" }
    }

    static var recordType: String { "Item" }

    var id: String
    var lower: Int
    var upper: Int

    var recordName: String { id }

    init(id: String, lower: Int, upper: Int) { (self.id, self.lower, self.upper) = (id, lower, upper) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        lower = try container.decode(Int.self, forKey: .lower)
        upper = try container.decode(Int.self, forKey: .upper)
        if lower > upper { throw Unordered() }
    }

    static func resolveConflict(_ conflict: Conflict<Span>) throws -> Span? { try conflict.merged() }
}
