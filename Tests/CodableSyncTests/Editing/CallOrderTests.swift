import Foundation
import XCTest

@testable import CodableSync

/// Calls take effect in the order in which they are made, however long their models take to encode.
final class CallOrderTests: EngineScenario {
    @MainActor
    func testARecordUploadedThenDeletedFromTwoTasksIsGoneOnAnOpenEngine() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("other"))
        for round in 0..<1000 {
            try await uploadAndDelete(Note("\(round)"), phone.engine)
        }
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models.map(\.id), ["other"])
    }

    @MainActor
    func testARecordUploadedThenDeletedFromTwoTasksIsGoneOnANewEngine() async throws {
        for _ in 0..<1000 {
            let phone = try makeDevice(Note.self)
            try await uploadAndDelete(Note("A"), phone.engine)
            let models = try await phone.engine.allModels()
            XCTAssertEqual(models, [])
            try await phone.engine.close()
        }
    }

    @MainActor
    private func uploadAndDelete(_ note: Note, _ engine: SyncEngine<Note>) async throws {
        let upload = Task { try await engine.upload(note) }
        let delete = Task { try await engine.delete(note) }
        try await upload.value
        try await delete.value
    }

    @MainActor
    func testTheLastOfTwentyUploadsStays() async throws {
        let engine = try makeDevice(Note.self).engine
        for _ in 0..<50 {
            let uploads = (0..<20).map { count in Task { try await engine.upload(Note("A", count: count)) } }
            for upload in uploads { try await upload.value }
            let model = try await engine.model(named: "A")
            XCTAssertEqual(model?.count, 19)
        }
    }

    @MainActor
    func testACallThatThrowsOrIsCancelledHoldsUpNoOther() async throws {
        let engine = try makeDevice(Note.self).engine
        let invalid = Task { try await engine.upload(Note("")) }
        let cancelled = Task { try await engine.upload(Note("A")) }
        cancelled.cancel()
        let missing = Task { try await engine.edit(named: "B") { $0.count = 1 } }
        try await engine.upload(Note("A", "title"))
        let results = (await invalid.result, await cancelled.result, await missing.result)
        XCTAssertThrowsError(try results.0.get())
        XCTAssertThrowsError(try results.1.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        XCTAssertThrowsError(try results.2.get())
        let models = try await engine.allModels()
        XCTAssertEqual(models, [Note("A", "title")])
    }

    @MainActor
    func testCallsThatWaitForAnOpeningThatFailsThrowItsError() async throws {
        let files = HookedFileSystem(MemoryFileSystem())
        files.before { operation, path throws(FileError) in
            throw FileError(operation, path, code: EIO)
        }
        let engine = try makeDevice(Note.self) { $0.fileSystem = files }.engine
        let calls = (0..<5).map { count in Task { try await engine.upload(Note("A", count: count)) } }
        for call in calls {
            let result = await call.result
            XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is SyncError, "\($0)") }
        }
        files.before(nil)
        try await engine.upload(Note("A", count: 7))
        let models = try await engine.allModels()
        XCTAssertEqual(models.map(\.count), [7])
    }
}
