import Foundation
import XCTest

@testable import CodableSync

/// Notes of reads in the queue of calls.
final class ReadNoteScenarios: EngineScenario {
    func testAnEngineIsIdleAfterAReadThatReturnedDuringAnUpload() async throws {
        let engine = try makeDevice(HeldItem.self).engine
        let hold = DecodingHold.next(of: "A")
        let upload = Task { try await engine.upload(HeldItem("A")) }
        await hold.reached()
        let models = try await engine.allModels()
        XCTAssertEqual(models, [])
        hold.release()
        try await upload.value
        await engine.waitUntilIdle()
    }

    func testReadsAccumulateNoNotes() async throws {
        let engine = try makeDevice(Note.self).engine
        try await engine.upload(Note("A"))
        for _ in 0..<10 { _ = try await engine.allModels() }
        let notes = engine.core.callQueue.takeReceipts()
        XCTAssertLessThanOrEqual(notes.count, 1)
    }

    /// A device with more records than one part of a note, all fetched and none read.
    private func makeReader() async throws -> Device<Note> {
        let writer = try makeDevice(Note.self)
        try await writer.engine.upload((0..<600).map { Note("N\($0)") })
        try await writer.engine.sync()
        let reader = try makeDevice(Note.self)
        try await reader.engine.sync()
        return reader
    }

    /// Whether the app has seen the cloud's version of records.
    private static func seen(_ names: [String], _ core: isolated SyncCore) -> [Bool] {
        names.map { name in
            let record = core.machine?.state[name]
            return record?.known != nil && record?.seen == record?.known?.handle
        }
    }

    /// Takes notes for a call, and returns what the machine knows at the call's turn.
    private static func seen(_ names: [String], for call: String, _ core: isolated SyncCore) -> [Bool] {
        core.takeReceipts(for: [ExactName(call)])
        return seen(names, core)
    }

    func testACallAfterALargeReadWaitsForItsOwnRecordOnly() async throws {
        let reader = try await makeReader()
        let core = reader.engine.core
        let before = await Self.seen(["N0", "N599", "N598"], core)
        XCTAssertEqual(before, [false, false, false])
        _ = try await reader.engine.allModels()
        // The names are in order, so that N0 is in the first part, and N598 and N599 are in the last.
        let atTurn = await Self.seen(["N0", "N599", "N598"], for: "N599", core)
        XCTAssertEqual(atTurn, [true, true, false])
    }

    func testALargeReadIsToldToTheEnd() async throws {
        let reader = try await makeReader()
        _ = try await reader.engine.allModels()
        let names = (0..<600).map { "N\($0)" }
        _ = await Self.seen(names, for: "", reader.engine.core)
        await reader.engine.reach("the note was told") { core in
            core.reads.isEmpty && Self.seen(names, core).allSatisfy { $0 }
        }
    }

    func testALargeReadIsToldBeforeTheEngineCloses() async throws {
        let reader = try await makeReader()
        _ = try await reader.engine.allModels()
        try await reader.restart()
        try await reader.engine.start()
        let atEnd = await Self.seen((0..<600).map { "N\($0)" }, reader.engine.core)
        XCTAssertEqual(atEnd.filter { !$0 }.count, 0)
    }

    func testAnUploadOfAModelFromALargeReadIsBasedOnIt() async throws {
        let reader = try await makeReader()
        var models = try await reader.engine.allModels()
        models[599].title = "changed"
        try await reader.engine.upload(models[599])
        let record = await reader.engine.core.machine?.state["N99"]
        XCTAssertEqual(models[599].recordName, "N99")
        XCTAssertNotNil(record?.known)
        XCTAssertEqual(record?.pending?.base, record?.known?.handle)
    }

    /// An engine that syncs by itself, and whose app only reads.
    private func makeAutomaticReader() async throws -> (reader: Device<Note>, writer: Device<Note>) {
        let writer = try makeDevice(Note.self)
        try await writer.engine.upload((0..<600).map { Note("N\($0)") })
        try await writer.engine.sync()
        let reader = try await makeRestingDevice()
        return (reader, writer)
    }

    /// The app has a model from a read, and makes no call until its record is deleted elsewhere.
    func testADeletionThatArrivesAfterAReadIsOfARecordThatTheAppHas() async throws {
        let (reader, writer) = try await makeAutomaticReader()
        let model = try await reader.engine.model(named: "N1")
        try await writer.engine.delete(named: ["N1"])
        try await writer.engine.sync()
        await reader.engine.reach("the deletion has arrived") { core in
            core.machine?.state["N1"]?.known == nil
        }
        try await reader.engine.upload(try XCTUnwrap(model))
        try await reader.engine.sync()
        let left = try await reader.engine.model(named: "N1")
        XCTAssertNil(left, "the resolver was asked about the deletion, and accepts it")
    }

    func testADeletionThatArrivesAfterALargeReadIsOfARecordThatTheAppHas() async throws {
        let (reader, writer) = try await makeAutomaticReader()
        let models = try await reader.engine.allModels()
        try await writer.engine.delete(named: ["N598"])
        try await writer.engine.sync()
        await reader.engine.reach("the deletion has arrived") { core in
            core.machine?.state["N598"]?.known == nil
        }
        try await reader.engine.upload(try XCTUnwrap(models.first { $0.id == "N598" }))
        try await reader.engine.sync()
        let left = try await reader.engine.model(named: "N598")
        XCTAssertNil(left, "the resolver was asked about the deletion, and accepts it")
    }

    /// An app moves a model to another record while a read decodes.
    func testAReadShowsTheRecordsOfOneMoment() async throws {
        let engine = try makeDevice(HeldItem.self).engine
        try await engine.upload(HeldItem("A", "moved"))
        let hold = DecodingHold.next(of: "A")
        let reading = Task { try await engine.allModels() }
        await hold.reached()
        try await engine.upload(HeldItem("B", "moved"))
        try await engine.delete(named: ["A"])
        hold.release()
        let models = try await reading.value
        XCTAssertEqual(models.map(\.id), ["B"])
    }
}
