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
