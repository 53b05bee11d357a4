import XCTest

@testable import CodableSync

/// Answers that arrive after newer versions were fetched.
final class CrossingScenarios: EngineScenario {
    private typealias Model = Item<Merging>

    /// I-01: the answer to a save is held, and a newer version is fetched meanwhile.
    func testAnEditIsKeptWhenTheAnswerToAnOlderSaveArrivesLate() async throws {
        let (phone, tablet) = (try makeDevice(Model.self), try makeDevice(Model.self))
        try await phone.engine.upload(Model("p", tags: ["1"]))
        try await phone.engine.fetchChanges()
        let gate = Gate()
        phone.database.plan(.modify, .holdAfter(gate))
        let engine = phone.engine
        let sending = Task { try await engine.sendChanges() }
        await gate.reached()
        // The save is applied; its answer misses the deadline.
        pass()
        _ = await sending.result
        try await tablet.engine.sync()
        let shown = try await tablet.engine.model(named: "p")
        XCTAssertEqual(shown?.tags, ["1"])
        try await tablet.engine.upload(Model("p", tags: ["1", "2"]))
        try await tablet.engine.sync()
        try await phone.engine.fetchChanges()
        gate.open()
        pass()
        let read = try await phone.engine.model(named: "p")
        XCTAssertEqual(read?.tags, ["1", "2"])
        try await phone.engine.upload(Model("p", tags: ["1"]))
        try await phone.engine.sync()
        let server = try await serverRecords()["p"]?.fields["tags"]
        XCTAssertEqual(server, .list(["1"]))
    }
}
