import Dispatch
import XCTest

@testable import CodableSync

/// Whoever lets go of an engine waits for no disk.
final class EngineReleaseTests: EngineScenario {
    /// Lets go of an engine whose disk stands still, on this thread.
    private func release(whileHeldAt operation: FileError.Operation) async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        var phone: Device<Note>? = try makeDevice(Note.self) { $0.fileSystem = files }
        let configuration = try XCTUnwrap(phone).configuration
        let database = try XCTUnwrap(phone).database
        try await phone?.engine.upload(Note("a", "Tea"))
        let hold = files.hold(operation, "journal")
        // Nobody waits for this one: it holds no engine.
        let journal = await phone?.engine.journal
        journal?.append(JournalBatch(batch: 1000, entries: [.subscribed], contents: [:], flush: true))
        await hold.reached()
        // A release that waits would stand here for ever.
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
        // The next engine waits for what the former one has still to write.
        let pending = try await reading.value
        XCTAssertEqual(pending, ["a"], "\(operation)")
        let isSubscribed = await next.machine?.state.summary.isSubscribed
        XCTAssertEqual(isSubscribed, true, "\(operation)")
        try await next.close()
    }

    func testAReleasedEngineWaitsForNoWrite() async throws {
        try await release(whileHeldAt: .append)
    }

    func testAReleasedEngineWaitsForNoFlush() async throws {
        try await release(whileHeldAt: .flush)
    }
}
