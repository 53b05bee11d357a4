import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The system fields in the models that an app receives: those of the version that the model is based on.
final class SystemFieldsScenarios: EngineScenario {
    private typealias Pair = (phone: Device<Held>, tablet: Device<Held>)

    /// A phone whose resolver is at work on a conflict: its title against the tablet's note.
    private func makeConflict(_ barrier: Barrier) async throws -> (
        pair: Pair, before: Held, fetch: Task<SyncSummary, any Error>
    ) {
        let pair: Pair = try await makePair(Held(id: "A", title: "title"))
        let before = try await pair.phone.engine.edit(named: "A") { $0.title = "mine" }.before
        try await pair.tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(pair.tablet)
        Held.interruption.withLock { $0 = { barrier.pass() } }
        addTeardownBlock { Held.interruption.withLock { $0 = nil } }
        let engine = pair.phone.engine
        let fetch = Task { try await engine.fetchChanges() }
        await barrier.reached()
        return (pair, before, fetch)
    }

    // MARK: Reads and edits

    func testAReadDuringAConflictCarriesTheVersionUnderTheEdit() async throws {
        let barrier = Barrier()
        let (pair, before, fetch) = try await makeConflict(barrier)
        let read = try await pair.phone.engine.model(named: "A")
        let edit = try await pair.phone.engine.edit(named: "A") { $0.title = "again" }
        barrier.open()
        _ = try await fetch.value
        XCTAssertEqual(read?.title, "mine")
        XCTAssertEqual(read?.tag, before.tag)
        XCTAssertEqual(edit.after.tag, before.tag)
    }

    func testAModelReadDuringAConflictKeepsAnotherDevicesField() async throws {
        let barrier = Barrier()
        let (pair, _, fetch) = try await makeConflict(barrier)
        let read = try await pair.phone.engine.model(named: "A")
        barrier.open()
        _ = try await fetch.value
        var model = try XCTUnwrap(read)
        model.title = "later"
        pass()
        try await pair.phone.engine.upload(model)
        try await settle(pair.phone, pair.tablet)
        let shown = try await pair.tablet.engine.model(named: "A")
        XCTAssertEqual([shown?.title, shown?.note], ["later", "theirs"])
    }

    func testAModelReadDuringAConflictCanRevertTheEdit() async throws {
        let barrier = Barrier()
        let (pair, _, fetch) = try await makeConflict(barrier)
        let read = try await pair.phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        model.title = "title"
        try await pair.phone.engine.upload(model)
        barrier.open()
        _ = try await fetch.value
        try await settle(pair.phone, pair.tablet)
        let shown = try await pair.tablet.engine.model(named: "A")
        XCTAssertEqual([shown?.title, shown?.note], ["title", "theirs"])
    }

    func testPendingChangesCarryTheVersionUnderThem() async throws {
        let (phone, _) = try await makePair(Held(id: "A", title: "title"))
        let before = try await phone.engine.edit(named: "A") { $0.title = "mine" }.before
        XCTAssertNotNil(before.tag)
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.client?.tag), [before.tag])
    }

    func testParkedChangesCarryTheirVersions() async throws {
        let (phone, _) = try await makePair(Held(id: "A", title: "title"))
        phone.database.failItemAlways("A", CloudError(.invalidArguments))
        let before = try await phone.engine.edit(named: "A") { $0.title = "mine" }.before
        try await settle(phone)
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.client?.tag), [before.tag])
        XCTAssertEqual(parked.map(\.server?.tag), [before.tag])
    }

    // MARK: Streams

    func testAChangeDeliveredAsTheEditedModelCarriesItsVersion() async throws {
        let (phone, tablet) = try await makePair(Held(id: "A", title: "title"))
        let change = try await changeOnTablet(phone, tablet)
        try await phone.engine.edit(named: "A") { $0.title = "mine" }
        let delivered = try await phone.drain().flatMap(\.models)
        XCTAssertEqual(delivered.map(\.title), ["mine"])
        XCTAssertEqual(delivered.map(\.tag), [change.tag])
    }

    func testAMergedModelIsDeliveredWithTheVersionThatItIsBasedOn() async throws {
        let (phone, tablet) = try await makePair(Held(id: "A", title: "title"))
        try await phone.engine.edit(named: "A") { $0.title = "mine" }
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        let change = try await tablet.engine.model(named: "A")
        try await phone.engine.fetchChanges()
        let delivered = try await phone.drain().flatMap(\.models)
        XCTAssertEqual(delivered.map { [$0.title, $0.note] }, [["mine", "theirs"]])
        XCTAssertEqual(delivered.map(\.tag), [change?.tag])
    }

    /// The app uploads the model that a stream delivered, without the edit in it.
    func testADeliveredEditCanBeReverted() async throws {
        let (phone, tablet) = try await makePair(Held(id: "A", title: "title"))
        _ = try await changeOnTablet(phone, tablet)
        try await phone.engine.edit(named: "A") { $0.title = "mine" }
        let delivered = try await phone.drain().flatMap(\.models)
        var model = try XCTUnwrap(delivered.first)
        model.title = "title"
        try await phone.engine.upload(model)
        try await settle(phone, tablet)
        let shown = try await tablet.engine.model(named: "A")
        XCTAssertEqual([shown?.title, shown?.note], ["title", "theirs"])
    }

    /// Streams deliver changes; a save that changes nothing is none, so only a read has its change tag.
    func testARecordSavedAgainUnchangedIsReadWithItsNewVersion() async throws {
        let (phone, _) = try await makePair(Held(id: "A", title: "title"))
        let before = try await phone.engine.model(named: "A")
        let server = try await serverRecords()["A"]
        let saved = try await serverSave("A", try XCTUnwrap(server).fields)
        try await phone.engine.fetchChanges()
        let delivered = try await phone.drain()
        let read = try await phone.engine.model(named: "A")
        XCTAssertEqual(delivered, [])
        XCTAssertNotEqual(read?.tag, before?.tag)
        XCTAssertEqual(read?.tag, saved.recordChangeTag)
    }

    // MARK: Parts

    /// Changes the note on the tablet, and fetches the change to the phone.
    private func changeOnTablet(_ phone: Device<Held>, _ tablet: Device<Held>) async throws -> Held {
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet, phone)
        let change = try await tablet.engine.model(named: "A")
        return try XCTUnwrap(change)
    }
}

/// A model that stores its system fields, and whose resolver runs a test's closure.
private struct Held: SystemFieldsStoring, Equatable {
    static let interruption = Locked<(@Sendable () -> Void)?>(nil)
    static var recordType: String { "Item" }

    var id: String
    var title: String
    var note: String?
    var systemFields: Data?

    var recordName: String { id }
    /// The change tag of the version that the model carries.
    var tag: String? { systemFields.flatMap { SystemFields.changeTag(inBlob: $0) } }

    static func resolveConflict(_ conflict: Conflict<Held>) throws -> Held? {
        if let interruption = interruption.withLock({ $0 }) { interruption() }
        return try conflict.merged()
    }
}
