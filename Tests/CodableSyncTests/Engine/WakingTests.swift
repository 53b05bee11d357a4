import Foundation
import XCTest

@testable import CodableSync

/// An app that makes no call: the first request on a stream starts the engine.
final class WakingTests: EngineScenario {
    func testALoopOverAnyStreamStartsTheEngine() async throws {
        for stream in 0..<3 {
            let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
            let engine = phone.engine
            switch stream {
            case 0: _ = await engine.events.first { $0 == .fetchEnded(changed: 0, deleted: 0) }
            case 1: _ = await engine.status.first { $0 == .idle }
            default: _ = await engine.accountStatus.first { $0 == .available }
            }
            try await engine.close()
        }
    }

    func testAStreamCreatedBeforeAStopContinuesAfterTheStart() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        let (events, status) = (phone.engine.events, phone.engine.status)
        await phone.engine.stop()
        // Opens the state without starting the engine.
        _ = await status.first { $0 == .stopped }
        _ = try await phone.engine.allModels()
        XCTAssertEqual(phone.database.count(.fetch), 0)
        try await phone.engine.start()
        _ = await events.first { $0 == .fetchEnded(changed: 0, deleted: 0) }
        _ = await status.first { $0 == .idle }
        try await phone.engine.close()
    }

    /// The event gives the reason; a call or the first request of a new stream opens the state again.
    func testWaitingStreamsContinueAfterAFailedOpening() async throws {
        for isCall in [false, true] {
            let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
            let other = SyncEngine<Note>(database: phone.database, configuration: phone.configuration)
            _ = try await other.allModels()
            let events = phone.engine.events
            var refused = await events.first { if case .storageFailed = $0 { true } else { false } }
            XCTAssertNotNil(refused)
            let status = await phone.engine.status.first { _ in true }
            XCTAssertEqual(status, .stopped)
            // That request opened the state too; the attempt ends before the state is free.
            refused = await events.first { if case .storageFailed = $0 { true } else { false } }
            XCTAssertNotNil(refused)
            try await other.close()
            if isCall {
                _ = try await phone.engine.allModels()
            } else {
                _ = await phone.engine.status.first { $0 == .idle }
            }
            _ = await events.first { $0 == .fetchEnded(changed: 0, deleted: 0) }
            try await phone.engine.close()
        }
    }

    func testStreamsOfAClosedEngineEnd() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        let (before, status) = (phone.engine.events, phone.engine.status)
        _ = await phone.engine.status.first { $0 == .idle }
        try await phone.engine.close()
        for stream in [before, phone.engine.events] {
            for await _ in stream {}
        }
        for stream in [status, phone.engine.status] {
            for await _ in stream {}
        }
        let change = await phone.engine.changes.first { _ in true }
        XCTAssertNil(change)
    }
}
