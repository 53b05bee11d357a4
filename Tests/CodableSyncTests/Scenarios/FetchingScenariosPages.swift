import XCTest

@testable import CodableSync

/// Scenarios, group C: many pages, and interruptions between them.
class FetchingScenariosPages: EngineScenario {
    /// FD-07.
    func testTheStoredTokenNeverCoversUnstoredPages() async throws {
        let disk = SimulatedFileSystem()
        let phone = try makeDevice(Note.self) {
            $0.fileSystem = disk
            $0.fetchPageSize = 50
        }
        try await fill(phone.database, 250)
        let disks = Locked<[(killed: SimulatedFileSystem, cut: SimulatedFileSystem)]>([])
        phone.database.changeFetchAnswers { page in
            disks.withLock {
                $0.append((disk.crashed(keeping: .allWrites), disk.crashed(keeping: .onlySynced)))
            }
            return page
        }
        let summary = try await phone.engine.fetchChanges()
        XCTAssertEqual(summary.fetched, 250)
        let all = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(Set(all).count, 250)
        XCTAssertEqual(all.count, 250)
        let crashes = disks.withLock { $0 }
        XCTAssertEqual(crashes.count, 5)
        // A killed process loses no page; a power loss may lose the last pages together with their tokens.
        let lives = crashes.enumerated().flatMap { [($0, $1.killed, true), ($0, $1.cut, false)] }
        for (pages, disk, isWhole) in lives {
            let again = try makeDevice(Note.self) {
                $0.fileSystem = disk
                $0.fetchPageSize = 50
            }
            let known = try await again.engine.diagnostics().knownCount
            if isWhole { XCTAssertEqual(known, pages * 50, "\(pages) pages") }
            try await again.engine.fetchChanges()
            XCTAssertEqual(again.database.count(.fetch), 5 - known / 50, "\(pages) pages")
            let names = try await again.drain().flatMap(\.names)
            XCTAssertEqual(names.sorted(), all.sorted(), "\(pages) pages")
            try await again.engine.close()
        }
    }

    /// FD-08.
    func testAfterAFailedPageTheFetchContinuesFromThePreviousOne() async throws {
        let phone = try makeDevice(Note.self) { $0.fetchPageSize = 20 }
        try await fill(phone.database, 100)
        phone.database.plan(
            .fetch,
            .holdBefore(.opened),
            .holdBefore(.opened),
            .fail(CloudError(.networkFailure))
        )
        do {
            try await phone.engine.fetchChanges()
            XCTFail("The third page should fail.")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertEqual(error.code, .networkFailure)
        }
        let first = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(first.count, 40)
        try await phone.engine.fetchChanges()
        XCTAssertEqual(phone.database.count(.fetch), 3 + 3)
        let second = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(second.count, 60)
        XCTAssertEqual(Set(first + second).count, 100)
    }

    /// FD-23.
    func testAnExpiredTokenListsEverythingAndDeliversOnlyChanges() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"), Note("b"), Note("c"))
        try await phone.engine.upload(Note("a", "edited"))
        try await tablet.engine.delete(named: ["b"])
        try await tablet.engine.upload(Note("d"))
        try await tablet.engine.sync()
        phone.database.failNext(.fetch, .changeTokenExpired)
        try await phone.engine.fetchChanges()
        XCTAssertTrue(phone.events.all.contains(.listingBegan))
        let changes = try await phone.drain()
        XCTAssertEqual(Set(changes.flatMap(\.names)), ["b", "d"])
        XCTAssertTrue(changes.contains(.deleted(["b"])))
        XCTAssertTrue(changes.contains(.updated([Note("d")])))
        try await settle(phone, tablet)
        try await assertEqualEverywhere(phone, tablet)
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "edited")
    }

    /// FD-24.
    func testATokenThatExpiresBetweenPagesStartsOver() async throws {
        let phone = try makeDevice(Note.self) { $0.fetchPageSize = 2 }
        let expired = ScriptedDatabase.Fault.fail(CloudError(.changeTokenExpired))
        try await fill(phone.database, 7)
        // On the first fetch, and during the listing that follows an expired token.
        phone.database.plan(.fetch, .holdBefore(.opened), .holdBefore(.opened), expired)
        try await phone.engine.fetchChanges()
        let first = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(first.sorted(), (0..<7).map { "r-\($0)" })
        try await serverModify(phone.database, deleting: ["r-0", "r-6"])
        try await serverSave("r-3", ["id": "r-3", "title": "new", "count": 0])
        phone.database.plan(.fetch, expired, .holdBefore(.opened), .holdBefore(.opened), expired)
        try await phone.engine.fetchChanges()
        let second = try await phone.drain()
        XCTAssertEqual(second.flatMap(\.names).sorted(), ["r-0", "r-3", "r-6"])
        XCTAssertTrue(second.contains(.updated([Note("r-3", "new")])))
        try await assertEqualEverywhere(phone)
    }

    /// FD-25.
    func testAFeedThatRepeatsItsTokenEndsWithAnError() async throws {
        let phone = try makeDevice(Note.self)
        try await fill(phone.database, 3)
        phone.database.changeFetchAnswers { page in
            var page = page
            page.moreComing = true
            return page
        }
        do {
            try await phone.engine.fetchChanges()
            XCTFail("The endless feed should fail.")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertTrue(error.message.contains("same change token"), error.message)
        }
        XCTAssertLessThanOrEqual(phone.database.count(.fetch), 5)
        let names = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(names.sorted(), ["r-0", "r-1", "r-2"])
        phone.database.changeFetchAnswers(nil)
        try await phone.engine.sync()
        try await assertEqualEverywhere(phone)
    }

    /// FD-28.
    func testFiftyPushesLeadToAtMostTwoFetches() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.sync()
        let before = phone.database.count(.fetch)
        let gate = Gate()
        phone.database.plan(.fetch, .holdBefore(gate))
        let engine = phone.engine
        let pushes = (0..<50).map { _ in Task { await engine.handleNotification(["zone": "Item"]) } }
        await engine.reach("all pushes have arrived") { $0.waiterCount == 50 }
        gate.open()
        for push in pushes { _ = await push.value }
        XCTAssertEqual(phone.database.count(.fetch), before + 2)
    }

    /// FD-29.
    func testAPushDuringAFetchLeadsToOneMore() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.sync()
        let before = phone.database.count(.fetch)
        let gate = Gate()
        phone.database.plan(.fetch, .holdAfter(gate))
        let engine = phone.engine
        let first = Task { await engine.handleNotification(["zone": "Item"]) }
        await gate.reached()
        try await serverSave("a", ["id": "a", "title": "late", "count": 0])
        let second = Task { await engine.handleNotification(["zone": "Item"]) }
        await engine.reach("the push has arrived") { $0.waiterCount == 2 }
        gate.open()
        let outcomes = await [first.value, second.value]
        XCTAssertEqual(outcomes, [.noData, .newData])
        XCTAssertEqual(phone.database.count(.fetch), before + 2)
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.updated([Note("a", "late")])])
    }

    /// FD-31.
    func testALargeFirstSyncSurvivesCrashesBetweenPages() async throws {
        // Before each of three crashes, the device reads one or two of the seven pages.
        let (count, mostPages) = (1400, 2)
        var disk = SimulatedFileSystem()
        var phone = try makeDevice(Note.self, on: disk)
        try await fill(phone.database, count)
        var random = SplitMix64(seed: 31)
        for _ in 0..<3 {
            let gate = Gate()
            let pages = Int.random(in: 1...mostPages, using: &random)
            for _ in 0..<pages { phone.database.plan(.fetch, .holdBefore(.opened)) }
            phone.database.plan(.fetch, .holdBefore(gate))
            let engine = phone.engine
            let fetching = Task { try await engine.fetchChanges() }
            await gate.reached()
            try await pass(.seconds(1), phone)
            let survivors = SimulatedDisk.Survivors.random(seed: random.next())
            (phone, disk) = try await crash(phone, on: disk, keeping: survivors)
            gate.open(throwing: CloudError(.operationCancelled))
            _ = await fetching.result
            let known = try await phone.engine.diagnostics().knownCount
            XCTAssertGreaterThan(known, 0)
            XCTAssertLessThan(known, count)
        }
        try await phone.engine.sync()
        let names = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(names.count, count)
        XCTAssertEqual(Set(names).count, count)
        try await assertEqualEverywhere(phone)
    }

    /// FD-34.
    func testAPageThatCannotBeStoredIsFetchedAgain() async throws {
        let disk = SimulatedFileSystem()
        let phone = try makeDevice(Note.self, on: disk)
        try await phone.engine.sync()
        try await fill(phone.database, 3)
        disk.leaveRoom(for: 10)
        do {
            try await phone.engine.fetchChanges()
            XCTFail("The disk should be full.")
        } catch let error as SyncError where error.code == .storageFull {}
        let isTold = phone.events.all.contains { if case .storageFailed = $0 { true } else { false } }
        XCTAssertTrue(isTold)
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 0)
        disk.leaveRoom(for: nil)
        let summary = try await phone.engine.fetchChanges()
        XCTAssertEqual(summary.fetched, 3)
        let names = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(names.sorted(), ["r-0", "r-1", "r-2"])
    }
}

final class FetchingScenariosPagesOnLocalDatabase: FetchingScenariosPages {
    override func makeCloud() throws -> any TestCloud { try makeLocalCloud() }

    func testTheDatabaseIsADirectory() throws {
        XCTAssertTrue(try makeDevice(Note.self).database.base is LocalDatabase)
    }
}
