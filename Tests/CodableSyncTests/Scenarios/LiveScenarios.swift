import XCTest

@testable import CodableSync

/// `liveChanges`: one loop is all that an app needs whose store is memory.
class LiveScenarios: EngineScenario {
    func testFoldingTheElementsGivesWhatReadsShowOffline() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload([Note("a", "1"), Note("b", "1"), Note("c", "1")])
        try await phone.engine.sync()
        try await phone.restart()
        phone.database.isReachable = false
        let app = StreamFold(\.liveChanges, of: phone.engine)
        try await app.assertShowsWhatReadsShow("from the beginning")
        XCTAssertEqual(app.models.count, 3)
        pass()
        try await phone.engine.upload(Note("a", "2"))
        try await phone.engine.edit(named: "b") { $0.title = "2" }
        try await phone.engine.delete(named: ["c"])
        try await phone.engine.upload(Note("d", "1"))
        try await app.assertShowsWhatReadsShow("offline")
        XCTAssertEqual(app.models.mapValues(\.title), ["a": "2", "b": "2", "d": "1"])
        phone.database.isReachable = true
        try await phone.engine.sync()
        try await app.assertShowsWhatReadsShow("once it is sent")
        try await serverSave("a", ["title": "theirs"])
        try await serverDelete("b")
        try await phone.engine.sync()
        try await app.assertShowsWhatReadsShow("what others did")
        XCTAssertEqual(app.models.mapValues(\.title), ["a": "theirs", "d": "1"])
        await app.end()
    }

    func testFoldingTheElementsGivesWhatReadsShowWithAParkedEdit() async throws {
        let (phone, tablet) = try await makePair(Item<Throwing>("a", "1"), Item<Throwing>("b", "1"))
        let app = StreamFold(\.liveChanges, of: phone.engine)
        try await tablet.engine.edit(named: "a") { $0.title = "theirs" }
        try await tablet.engine.sync()
        pass()
        try await phone.engine.edit(named: "a") { $0.title = "mine" }
        phone.database.failItemAlways("b", CloudError(.invalidArguments))
        try await phone.engine.edit(named: "b") { $0.title = "refused" }
        try await app.assertShowsWhatReadsShow("pending")
        try await phone.engine.sync()
        let parked = try await phone.engine.parkedChanges().map(\.recordName)
        XCTAssertEqual(parked.sorted(), ["a", "b"])
        try await app.assertShowsWhatReadsShow("parked")
        XCTAssertEqual(app.models.mapValues(\.title), ["a": "theirs", "b": "refused"])
        try await phone.engine.discard(named: ["a", "b"])
        try await app.assertShowsWhatReadsShow("discarded")
        XCTAssertEqual(app.models.mapValues(\.title), ["a": "theirs", "b": "1"])
        await app.end()
    }

    /// The models have another value of a field that a pending edit does not have.
    func testARecordThatCannotBeDecodedIsTakenAway() async throws {
        withoutSchema()
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "1"))
        try await phone.engine.sync()
        let app = StreamFold(\.liveChanges, of: phone.engine)
        await app.rest()
        try await serverSave("a", ["title": 7])
        try await phone.engine.sync()
        try await app.assertShowsWhatReadsShow()
        XCTAssertEqual(app.models, [:])
        try await serverSave("a", ["title": "3"])
        try await phone.engine.sync()
        try await app.assertShowsWhatReadsShow()
        XCTAssertEqual(app.models.mapValues(\.title), ["a": "3"])
        await app.end()
    }

    /// What an app gets that dies over one record, until it does or has everything else.
    private func launch(_ phone: Device<Note>, dyingOver deadly: String) async throws -> Set<String> {
        var got: Set<String> = []
        let changes = phone.engine.liveChanges
        for await change in changes {
            if change.names.contains(deadly) || got.count == 4 { break }
            got.formUnion(change.names)
        }
        try await phone.die()
        // The app dies in the loop: a stream that is released before that would only be left.
        return withExtendedLifetime(changes) { got }
    }

    /// CR-11: an app that dies over one record gets the others at the next launch.
    func testAnAppThatDiesOverOneRecordGetsTheOthers() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload((0..<4).map { Note("n\($0)") } + [Note("deadly")])
        try await phone.engine.sync()
        // It dies over the whole beginning, and then over single records of it.
        var got = try await launch(phone, dyingOver: "deadly")
        XCTAssertEqual(got, [])
        got = try await launch(phone, dyingOver: "deadly")
        XCTAssertEqual(got, [], "its turn comes first among the suspects")
        for _ in 0..<3 {
            got = try await launch(phone, dyingOver: "deadly")
            XCTAssertEqual(got, ["n0", "n1", "n2", "n3"])
        }
    }

    func testAnEditOfAnElementIsBasedOnItsModel() async throws {
        let (phone, tablet) = try await makePair(Item<Throwing>("a", "1"))
        let app = StreamFold(\.liveChanges, of: phone.engine)
        try await tablet.engine.edit(named: "a") { $0.title = "theirs" }
        try await tablet.engine.sync()
        try await phone.engine.sync()
        await app.rest()
        var model = try XCTUnwrap(app.models["a"])
        XCTAssertEqual(model.title, "theirs")
        pass()
        model.note = "mine"
        try await phone.engine.upload(model)
        try await phone.engine.sync()
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked, [], "the resolver, which throws, was not asked")
        await app.end()
    }

    func testLoopsOfBothKindsGetEverything() async throws {
        let phone = try makeDevice(Note.self)
        let database = StreamFold(\.changes, of: phone.engine)
        let screen = StreamFold(\.liveChanges, of: phone.engine)
        try await phone.engine.upload(Note("a", "1"))
        try await serverSave(Note("b", "1"))
        try await phone.engine.sync()
        try await screen.assertShowsWhatReadsShow()
        try await database.assertShowsWhatReadsShow()
        await phone.engine.reach("everything is accepted") { $0.undeliveredCount == 0 }
        await screen.end()
        await database.end()
    }
}

/// A dictionary follows a stream.
final class DictionaryApplyTests: XCTestCase {
    func testADictionaryHasWhatTheElementsSay() {
        var notes: [String: Note] = ["old": Note("old")]
        notes.apply(.updated([Note("a", "1"), Note("b", "1")]))
        XCTAssertEqual(notes, ["old": Note("old"), "a": Note("a", "1"), "b": Note("b", "1")])
        notes.apply(.saved([Note("a", "2")]))
        notes.apply(.deleted(["b", "unknown"]))
        notes.apply(.replayed)
        XCTAssertEqual(notes, ["old": Note("old"), "a": Note("a", "2")])
        notes.apply(.reset)
        XCTAssertEqual(notes, [:])
    }
}
