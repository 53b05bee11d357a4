import Foundation
import XCTest

@testable import CodableSync

/// Which models count as seen by the app: those that a read has returned.
final class ReadScenarios: EngineScenario {
    private enum Read: CaseIterable {
        case model, models, all

        func perform(on engine: SyncEngine<Note>) async throws -> [Note] {
            switch self {
            case .model: try await engine.model(named: "a").map { [$0] } ?? []
            case .models: try await engine.models(named: ["a"])
            case .all: try await engine.allModels()
            }
        }
    }

    /// I-10: the next upload is not based on a version that the app did not receive.
    func testAVersionThatAFailedReadMissedIsMergedAndNotOverwritten() async throws {
        for read in Read.allCases {
            let files = HookedFileSystem(MemoryFileSystem())
            let (phone, tablet) = try await makePair(Note("a", "old", note: "old")) { $0.fileSystem = files }
            try await tablet.engine.upload(Note("a", "old", note: "tablet"))
            try await tablet.engine.sync()
            try await phone.engine.fetchChanges()
            files.before { operation, path throws(FileError) in
                if operation == .read { throw FileError(operation, path, code: EIO) }
            }
            do {
                let models = try await read.perform(on: phone.engine)
                XCTFail("\(read) gives \(models)")
            } catch let error as SyncError where error.code == .storageFailed {}
            files.before(nil)
            pass()
            try await phone.engine.upload(Note("a", "phone", note: "old"))
            try await phone.engine.sync()
            let server = try await serverRecords()["a"]?.fields
            XCTAssertEqual(server?["title"], "phone", "\(read)")
            XCTAssertEqual(server?["note"], "tablet", "\(read)")
            try await settle(phone, tablet)
            try await phone.engine.delete(named: ["a"])
            try await settle(phone, tablet)
            try await phone.engine.close()
            try await tablet.engine.close()
        }
    }

    /// A read returns the state at the time when it returns.
    func testAReadOvertakenByADeletionFindsNothing() async throws {
        let phone = try makeDevice(HeldItem.self)
        try await phone.engine.upload(HeldItem("a", "old"))
        let hold = DecodingHold.next(of: "a")
        let engine = phone.engine
        let read = Task { try await engine.model(named: "a") }
        await hold.reached()
        try await phone.engine.delete(named: ["a"])
        hold.release()
        let model = try await read.value
        XCTAssertNil(model)
    }

    func testAReadOvertakenByAnUploadReturnsTheNewModel() async throws {
        let phone = try makeDevice(HeldItem.self)
        try await phone.engine.upload(HeldItem("a", "old"))
        let hold = DecodingHold.next(of: "a")
        let engine = phone.engine
        let read = Task { try await engine.allModels() }
        await hold.reached()
        try await phone.engine.upload(HeldItem("a", "new"))
        hold.release()
        let models = try await read.value
        XCTAssertEqual(models, [HeldItem("a", "new")])
    }
}
