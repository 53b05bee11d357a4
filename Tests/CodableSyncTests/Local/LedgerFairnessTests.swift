import XCTest

@_spi(Server) @testable import CodableSync

/// Two processes use one cloud at the same time: a busy one lets the other in.
final class LedgerFairnessTests: XCTestCase {
    private let disk = SimulatedFileSystem()

    private func directory(_ files: any FileSystem, _ clock: ManualClock) -> LedgerDirectory {
        LedgerDirectory(path: "/ledger", fileSystem: files, clock: clock, lockTimeout: .seconds(20))
    }

    private func save(_ name: String, in directory: LedgerDirectory) -> Task<Void, any Error> {
        Task { try await LedgerDirectoryFixture.saveRecords([name], text: "text", in: directory) }
    }

    /// Saves a record whose flush is held, and another that waits behind it.
    private func beginTwo(
        _ one: String,
        _ two: String,
        in directory: LedgerDirectory,
        _ files: HeldFileSystem
    ) async -> (hold: FileHold, first: Task<Void, any Error>, second: Task<Void, any Error>) {
        let hold = files.hold(.flush, "journal")
        let first = save(one, in: directory)
        await hold.reached()
        let second = save(two, in: directory)
        while directory.waitingCount < 1 { await Task.yield() }
        return (hold, first, second)
    }

    func testTheLockIsReleasedBetweenBatchesForAWaitingProcess() async throws {
        let files = HeldFileSystem(disk)
        let (busyClock, otherClock) = (ManualClock(), ManualClock())
        let (busy, other) = (directory(files, busyClock), directory(disk, otherClock))
        try await LedgerDirectoryFixture.save("a", in: busy)
        // The lock is held for the first request; another one and another process wait for it.
        let (hold, first, second) = await beginTwo("b", "c", in: busy, files)
        let waiting = save("d", in: other)
        await otherClock.wait { !$0.isEmpty }
        hold.release()
        try await first.value
        await busyClock.wait { !$0.isEmpty }
        XCTAssertEqual(busy.waitingCount, 1, "the second request waits")
        otherClock.advance(by: .milliseconds(10))
        try await waiting.value
        XCTAssertEqual(busy.waitingCount, 1, "the other process goes first")
        busyClock.advance(by: .milliseconds(20))
        try await second.value
        let names = try await LedgerDirectoryFixture.names(in: busy)
        XCTAssertEqual(names, ["a", "b", "c", "d"])
        await busy.close()
        await other.close()
    }

    func testASingleProcessRunsBatchesWithoutPauses() async throws {
        let files = HeldFileSystem(disk)
        let busy = directory(files, ManualClock())
        try await LedgerDirectoryFixture.save("a", in: busy)
        let (hold, first, second) = await beginTwo("b", "c", in: busy, files)
        hold.release()
        // The clock stands still: there is no wait.
        try await first.value
        try await second.value
        await busy.close()
    }

    /// The waiting process may have ended, so the pause for it ends as well.
    func testAWaitingProcessThatEndedCausesNoFurtherPauses() async throws {
        let files = HeldFileSystem(disk)
        let (busyClock, otherClock) = (ManualClock(), ManualClock())
        let (busy, other) = (directory(files, busyClock), directory(disk, otherClock))
        try await LedgerDirectoryFixture.save("a", in: busy)
        for (one, two) in [("b", "c"), ("e", "f")] {
            let (hold, first, second) = await beginTwo(one, two, in: busy, files)
            if one == "b" {
                let waiting = save("d", in: other)
                await otherClock.wait { !$0.isEmpty }
                waiting.cancel()
                _ = await waiting.result
            }
            hold.release()
            try await first.value
            while one == "b", busy.waitingCount > 0 {
                busyClock.advance(by: .milliseconds(1))
                await Task.yield()
            }
            try await second.value
        }
        await busy.close()
        await other.close()
    }
}
