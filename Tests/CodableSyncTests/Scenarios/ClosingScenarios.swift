import Foundation
import XCTest

@testable import CodableSync

/// Calls under way when the engine is closed.
final class ClosingScenarios: EngineScenario {
    /// Closes an engine while a call decodes the first of two records.
    private func closeDuring(
        _ call: @escaping @Sendable (SyncEngine<HeldItem>) async throws -> Void,
        line: UInt = #line
    ) async throws {
        let engine = try makeDevice(HeldItem.self).engine
        try await engine.upload([HeldItem("A"), HeldItem("B")])
        let hold = DecodingHold.next(of: "A")
        let task = Task { try await call(engine) }
        await hold.reached()
        try await engine.close()
        hold.release()
        await assertThrows(.closed, line: line) { try await task.value }
    }

    func testAReadUnderWayThrowsClosed() async throws {
        try await closeDuring { _ = try await $0.allModels() }
    }

    func testAnEditUnderWayThrowsClosed() async throws {
        try await closeDuring { try await $0.edit([HeldItem("A"), HeldItem("B")]) { $0.title = "edited" } }
    }

    func testAReadOfPendingChangesUnderWayThrowsClosed() async throws {
        try await closeDuring { _ = try await $0.pendingChanges() }
    }
}

/// Events about discarded edits, whose contents the journal need not keep once the discard is stored.
final class DiscardedContentsScenarios: EngineScenario {
    /// A phone whose disk cannot be read any more once the next write has begun.
    private func makePhone() async throws -> (phone: Device<Note>, failNextReads: () -> Void) {
        let files = HookedFileSystem()
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("A", "mine"))
        let hasWritten = Locked(false)
        return (
            phone,
            {
                files.before { operation, path throws(FileError) in
                    if operation == .append { hasWritten.withLock { $0 = true } }
                    if operation == .read, hasWritten.withLock({ $0 }) {
                        throw FileError(operation, path, code: EIO)
                    }
                }
            }
        )
    }

    func testADiscardedEditIsReportedEvenIfItIsNoLongerStored() async throws {
        let (phone, failNextReads) = try await makePhone()
        failNextReads()
        try await phone.engine.discard(named: ["A"])
        try await quiet(phone)
        XCTAssertEqual(phone.discarded().map(\.name), ["A"], "\(phone.events.all)")
    }
}
