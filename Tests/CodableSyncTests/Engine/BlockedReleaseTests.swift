import Dispatch
import XCTest

@testable import CodableSync

/// A release returns while a call of the disk is blocked; then everything is let go.
final class BlockedReleaseTests: EngineScenario {
    /// What is blocked, and how the engine gets there.
    private enum Block: CaseIterable {
        case locking, listingTheUsers, readingTheJournal, reading, compacting
    }

    func testAReleaseDoesNotWaitForABlockedCall() async throws {
        for block in Block.allCases { try await release(during: block) }
    }

    private func release(during block: Block) async throws {
        let tracked = TrackedFileSystem(MemoryFileSystem())
        let files = HeldFileSystem(tracked)
        let settings = { (configuration: inout SyncConfiguration) in
            configuration.fileSystem = files
            configuration.compactionSize = 8000
        }
        let first = try makeDevice(Note.self, configure: settings)
        try await first.engine.upload(Note("a", "Tea"))
        try await first.engine.close()
        XCTAssertEqual(tracked.inUse, [], "\(block): closed")

        var phone: Device<Note>? = try makeDevice(Note.self, configure: settings)
        let configuration = try XCTUnwrap(phone).configuration
        let database = try XCTUnwrap(phone).database
        let hold = try await begin(block, XCTUnwrap(phone), files)
        await waiting(for: "\(block) is blocked", else: ()) { await hold.reached() }
        if block != .locking { XCTAssertNotEqual(tracked.inUse, [], "\(block)") }
        // A release that waits for the disk would block here forever.
        let isRescued = Locked(false)
        let rescue = DispatchWorkItem {
            isRescued.withLock { $0 = true }
            hold.release()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: rescue)
        phone = nil
        rescue.cancel()
        XCTAssertFalse(isRescued.withLock { $0 }, "\(block): the release has waited for the disk")
        hold.release()
        await tracked.reachUnused("\(block): every file and lock is let go")

        let next = SyncEngine<Note>(database: database, configuration: configuration)
        let names = try await next.allModels().map(\.recordName)
        XCTAssertTrue(names.contains("a"), "\(block): \(names)")
        try await next.close()
        // The released engine's opening, which was blocked before it had the lock, may have got it only now.
        await tracked.reachUnused("\(block): every file and lock is let go in the end")
    }

    /// Brings an engine to a blocked call of the disk, which no call of the app waits for.
    private func begin(_ block: Block, _ phone: Device<Note>, _ files: HeldFileSystem) async throws
        -> FileHold
    {
        switch block {
        case .locking: return open(phone, files.hold(.lock))
        case .listingTheUsers: return open(phone, files.hold(.list))
        case .readingTheJournal: return open(phone, files.hold(.read, "journal"))
        case .reading:
            _ = try await phone.engine.diagnostics()
            let hold = files.hold(.read, "journal")
            let opened = await phone.engine.core.files
            Task { _ = try await opened?.load([1]) }
            return hold
        case .compacting:
            try await phone.engine.upload(Note("n0"))
            let hold = files.hold(.read, "journal")
            for number in 1...20 {
                try await phone.engine.upload(Note("n\(number)", note: String(repeating: "x", count: 1000)))
            }
            return hold
        }
    }

    /// A stream's request opens the engine, and does not hold it.
    private func open(_ phone: Device<Note>, _ hold: FileHold) -> FileHold {
        let changes = phone.engine.changes
        Task { for await _ in changes {} }
        return hold
    }
}
