import Dispatch
import XCTest

@testable import CodableSync

/// Releasing an engine does not wait for the disk.
final class EngineReleaseTests: EngineScenario {
    /// Releases an engine on this thread while its disk is blocked.
    private func release(whileHeldAt operation: FileError.Operation) async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        var phone: Device<Note>? = try makeDevice(Note.self) { $0.fileSystem = files }
        let configuration = try XCTUnwrap(phone).configuration
        let database = try XCTUnwrap(phone).database
        try await phone?.engine.upload(Note("a", "Tea"))
        let hold = files.hold(operation, "journal")
        // No call waits for this batch, so none keeps the engine alive.
        await phone?.engine.core.process(.calls(.enqueue(1000, [.save("b", 1)])))
        await hold.reached()
        // A release that waits for the disk would block here forever.
        let isRescued = Locked(false)
        let rescue = DispatchWorkItem {
            isRescued.withLock { $0 = true }
            hold.release()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + 20, execute: rescue)
        phone = nil
        rescue.cancel()
        XCTAssertFalse(isRescued.withLock { $0 }, "\(operation): the release has waited for the disk")
        let next = SyncEngine<Note>(database: database, configuration: configuration)
        let reading = Task { try await next.pendingChanges().map(\.recordName) }
        hold.release()
        // The next engine waits until the previous one has finished writing.
        let pending = try await reading.value
        XCTAssertEqual(pending, ["a", "b"], "\(operation)")
        try await next.close()
    }

    func testAReleasedEngineWaitsForNoWrite() async throws {
        try await release(whileHeldAt: .append)
    }

    func testAReleasedEngineWaitsForNoFlush() async throws {
        try await release(whileHeldAt: .flush)
    }

    /// While another user's state replaces a former one, nothing is stored, whatever arrives.
    func testClosingDuringASwitchEnds() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a", "Tea"))
        await phone.engine.core.pauseStoring()
        await phone.engine.core.process(.signal(.changes(in: nil)))
        let closing = Task { [engine = phone.engine] in try await engine.close() }
        await waiting(for: "the end", else: ()) { _ = await closing.result }
    }
}

extension SyncCore {
    fileprivate func pauseStoring() { storing.isPaused = true }
}
