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
        let notes = engine.core.callQueue.takeNotes()
        XCTAssertLessThanOrEqual(notes.count, 1)
    }
}
