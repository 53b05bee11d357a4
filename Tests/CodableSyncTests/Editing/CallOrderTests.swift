import Foundation
import XCTest

@testable import CodableSync

/// Calls take effect in the order in which they are made, however long their models take to encode.
final class CallOrderTests: EngineScenario {
    @MainActor
    func testARecordUploadedThenDeletedFromTwoTasksIsDeleted() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("other"))
        for round in 0..<Cases.sample(150, of: 1000) {
            try await uploadAndDelete(Note("\(round)"), phone.engine)
        }
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models.map(\.id), ["other"])
    }

    @MainActor
    func testARecordUploadedThenDeletedFromTwoTasksIsDeletedWhileTheEngineOpens() async throws {
        for _ in 0..<Cases.sample(100, of: 1000) {
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
    func testADraftKeepsItsPositionBeforeADeletion() async throws {
        try await assertComesBeforeADeletion { engine, name in
            try await engine.upload(Note(name, "mine"), editedFrom: nil)
        }
    }

    @MainActor
    func testAnEditKeepsItsPositionBeforeADeletion() async throws {
        try await assertComesBeforeADeletion { engine, name in
            try await engine.edit(Note(name), ifMissing: .create) { $0.title = "mine" }
        }
    }

    /// Asserts that a deletion made right after a call takes effect after it.
    @MainActor
    private func assertComesBeforeADeletion(
        line: UInt = #line,
        _ call: @escaping @MainActor (SyncEngine<Note>, String) async throws -> Void
    ) async throws {
        let engine = try makeDevice(Note.self).engine
        try await assertOrder(
            { try await call(engine, $0) },
            { try await engine.delete(Note($0)) },
            line: line
        ) { _ in try await engine.allModels().isEmpty }
    }

    @MainActor
    func testADeletionKeepsItsPositionBeforeAnUpload() async throws {
        let engine = try makeDevice(Note.self).engine
        try await assertOrder(
            { try await engine.delete(Note($0)) },
            { try await engine.upload(Note($0, "later")) }
        ) { try await engine.model(named: $0) == Note($0, "later") }
    }

    /// Makes two calls for one record from two tasks on the main actor and asserts that the second one wins.
    @MainActor
    private func assertOrder(
        _ first: @escaping @MainActor (String) async throws -> Void,
        _ second: @escaping @MainActor (String) async throws -> Void,
        line: UInt = #line,
        _ secondWins: @MainActor (String) async throws -> Bool
    ) async throws {
        for round in 0..<20 {
            let earlier = Task { try await first("\(round)") }
            let later = Task { try await second("\(round)") }
            try await earlier.value
            try await later.value
            let isInOrder = try await secondWins("\(round)")
            XCTAssertTrue(isInOrder, "round \(round)", line: line)
        }
    }

    @MainActor
    func testTheLastOfTwentyUploadsWins() async throws {
        let engine = try makeDevice(Note.self).engine
        for _ in 0..<Cases.sample(15, of: 50) {
            let uploads = (0..<20).map { count in Task { try await engine.upload(Note("A", count: count)) } }
            for upload in uploads { try await upload.value }
            let model = try await engine.model(named: "A")
            XCTAssertEqual(model?.count, 19)
        }
    }

    @MainActor
    func testFailedAndCancelledCallsDoNotBlockOthers() async throws {
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
    func testAFailedOpeningFailsWaitingCallsButNotLaterOnes() async throws {
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
