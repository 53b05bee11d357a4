import Foundation
import XCTest

@testable import CodableSync

/// Scenarios, group C: expired change tokens and interrupted listings.
class TokenScenarios: ZoneScenario {
    /// A device that has fetched and shown records r-0 to r-9, with pages of two.
    private func makeDeviceWithTen() async throws -> Device<Note> {
        let phone = try makeDevice(Note.self) { $0.fetchPageSize = 2 }
        try await fill(phone.database, 10)
        try await phone.engine.sync()
        try await show(phone)
        return phone
    }

    private var failure: ScriptedDatabase.Fault { .fail(CloudError(.networkFailure)) }

    private func passPages(_ count: Int, of phone: Device<Note>) {
        for _ in 0..<count { phone.database.plan(.fetch, .holdBefore(.opened)) }
    }

    /// Z2, I-43, P-10: no record counts as deleted before the last page is stored, however often the listing
    /// is interrupted.
    func testNothingIsDeletedBeforeTheListingIsComplete() async throws {
        let phone = try await makeDeviceWithTen()
        try await serverModify(phone.database, deleting: ["r-0", "r-9"])
        try await expireTokens()
        // The first request finds the expired token; then one page per sync, each followed by a restart.
        for page in 0..<3 {
            if page == 0 { passPages(1, of: phone) }
            passPages(1, of: phone)
            phone.database.plan(.fetch, failure)
            let result = await phone.beginSync().result
            XCTAssertThrowsError(try result.get(), "page \(page)")
            let told = try await phone.drain()
            XCTAssertEqual(told, [], "page \(page)")
            let known = try await phone.engine.allModels()
            XCTAssertEqual(known.count, 10, "page \(page)")
            try await phone.restart()
        }
        let before = phone.database.count(.fetch)
        try await phone.engine.sync()
        XCTAssertLessThanOrEqual(phone.database.count(.fetch), before + 2, "the listing continues")
        let told = try await phone.drain()
        XCTAssertEqual(told.deletedNames, ["r-0", "r-9"])
        XCTAssertEqual(told.flatMap(\.models), [])
        try await assertEqualEverywhere(phone)
    }

    /// Z2: the power fails at every fourth file-system call of a listing, or at every call in an exhaustive
    /// run.
    func testAPowerLossDuringAListingDoesNotChangeItsResult() async throws {
        for call in Cases.places(every: 4) {
            try setUpWithError()
            let (phone, files) = try makeFragileDevice(Note.self) { $0.fetchPageSize = 2 }
            try await fill(phone.database, 7)
            try await phone.engine.sync()
            try await show(phone)
            try await serverModify(phone.database, deleting: ["r-0", "r-6"])
            try await serverSave("r-3", ["id": "r-3", "title": "new", "count": 0])
            try await phone.engine.upload([Note("r-1", "edited"), Note("created")])
            try await phone.engine.delete(named: ["r-2"])
            try await expireTokens()
            files.powerOff(at: files.calls.count + call, SimulatedDisk.Moment.allCases[call % 3])
            let result = await phone.beginSync().result
            try await phone.crash()
            try await phone.engine.sync()
            let told = try await phone.drain()
            XCTAssertEqual(told.deletedNames, ["r-0", "r-6"], "power off at \(call)")
            XCTAssertTrue(told.flatMap(\.models).contains(Note("r-3", "new")), "power off at \(call)")
            let titles = try await serverTitles()
            XCTAssertEqual(titles.keys.sorted(), ["created", "r-1", "r-3", "r-4", "r-5"])
            XCTAssertEqual(titles["r-1"], "edited", "power off at \(call)")
            try await assertEqualEverywhere(phone)
            if case .success = result {
                XCTAssertGreaterThan(call, 5, "the power failed at too few calls")
                return
            }
        }
    }

    /// I-43: pending, parked and newly saved records do not count as deleted.
    func testRecordsSavedDuringAListingDoNotCountAsDeleted() async throws {
        let phone = try await makeDeviceWithTen()
        phone.database.failItemAlways("r-1", CloudError(.invalidArguments))
        try await phone.engine.upload(Note("r-1", "parked"))
        try await phone.engine.sendChanges()
        try await show(phone)
        try await serverModify(phone.database, deleting: ["r-8"])
        try await expireTokens()
        let (gate, second) = (Gate(), Gate())
        passPages(3, of: phone)
        phone.database.plan(.fetch, .holdAfter(gate), .holdBefore(second))
        let fetching = Task { [engine = phone.engine] in try await engine.fetchChanges() }
        await gate.reached()
        // During the listing: a record is saved, one deleted, one created elsewhere, and one created but not
        // sent.
        try await phone.engine.upload([Note("mine", "new"), Note("r-0", "edited")])
        try await phone.engine.delete(named: ["r-2"])
        let sending = Task { [engine = phone.engine] in try await engine.sendChanges() }
        await phone.engine.reach("both wait") { $0.waiterCount == 2 }
        pass(.seconds(5))
        _ = try await sending.value
        await second.reached()
        try await serverSave("theirs", ["id": "theirs", "title": "new", "count": 0])
        try await phone.engine.upload(Note("unsent", "new"))
        gate.open()
        second.open()
        _ = try await fetching.value
        let told = try await phone.drain()
        XCTAssertEqual(told.deletedNames, ["r-8"])
        XCTAssertEqual(told.updatedNames, ["theirs"])
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.client), [Note("r-1", "parked")])
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["r-1", "unsent"])
        try await phone.engine.discard(named: ["r-1"])
        try await settle(phone)
        try await assertEqualEverywhere(phone)
        let shown = try await phone.engine.model(named: "r-0")
        XCTAssertEqual(shown, Note("r-0", "edited"))
    }

    /// I-43: the deletion of a record with a parked edit is delivered, and the edit stays.
    func testAParkedEditOfADeletedRecordStays() async throws {
        let phone = try await makeDeviceWithTen()
        phone.database.failItemAlways("r-1", CloudError(.invalidArguments))
        try await phone.engine.upload(Note("r-1", "parked"))
        try await phone.engine.sendChanges()
        phone.database.failItemAlways("r-1", nil)
        try await serverModify(phone.database, deleting: ["r-1"])
        try await expireTokens()
        try await phone.engine.fetchChanges()
        let told = try await phone.drain()
        XCTAssertEqual(told, [.deleted(["r-1"])])
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.client), [Note("r-1", "parked")])
    }

    /// I-43: the app requests a full fetch during another fetch, with and without a restart.
    func testAResyncListsEverythingDuringAFetchAndAfterARestart() async throws {
        for isRestarted in [false, true] {
            try setUpWithError()
            let phone = try await makeDeviceWithTen()
            // The feed has lost a change, which only a full listing finds.
            phone.database.changeFetchAnswers { $0.without("r-4") }
            try await serverSave("r-4", ["id": "r-4", "title": "new", "count": 0])
            try await serverModify(phone.database, deleting: ["r-5"])
            try await phone.engine.fetchChanges()
            try await show(phone)
            phone.database.changeFetchAnswers(nil)
            try await serverSave("r-6", ["id": "r-6", "title": "new", "count": 0])
            let gate = Gate()
            phone.database.plan(.fetch, .holdAfter(gate))
            let fetching = Task { [engine = phone.engine] in try await engine.fetchChanges() }
            await gate.reached()
            try await phone.engine.resync()
            if isRestarted { try await phone.restart() }
            gate.open()
            _ = await fetching.result
            try await phone.engine.fetchChanges()
            let told = try await phone.drain()
            XCTAssertEqual(told.updatedNames, ["r-4", "r-6"], "restarted: \(isRestarted)")
            XCTAssertEqual(told.deletedNames, [])
            try await assertEqualEverywhere(phone)
        }
    }

    /// FD-25, P6: alternating tokens end the fetch with an error, and fetched records stay.
    func testAlternatingTokensEndTheFetchWithAnError() async throws {
        let phone = try makeDevice(Note.self)
        try await fill(phone.database, 3)
        let count = Locked(0)
        phone.database.changeFetchAnswers { page in
            var page = page
            let number = count.withLock { count in
                count += 1
                return count
            }
            page.moreComing = true
            page.changeToken = ChangeToken(Data("\(number % 2)".utf8))
            return page
        }
        // The server accepts any token, so that the pages form a cycle.
        phone.database.ignoreTokens()
        do {
            try await phone.engine.fetchChanges()
            XCTFail("The endless feed should fail.")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertTrue(error.message.contains("same change token"), error.message)
        }
        XCTAssertLessThanOrEqual(phone.database.count(.fetch), 10)
        let names = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(names.sorted(), ["r-0", "r-1", "r-2"])
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 3)
    }

    /// P6: an automatic engine waits before it fetches again.
    func testAfterAnEndlessFeedTheEngineWaits() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        phone.database.changeFetchAnswers { page in
            var page = page
            page.moreComing = true
            return page
        }
        try await phone.engine.start()
        try await quiet(phone)
        let status = try await phone.engine.diagnostics().status
        XCTAssertTrue(status.isWaiting, "\(status)")
        let count = phone.database.count(.fetch)
        XCTAssertLessThanOrEqual(count, 5)
        phone.database.changeFetchAnswers(nil)
        try await passUntil("idle", phone) { try await phone.engine.diagnostics().status == .idle }
        XCTAssertGreaterThan(phone.database.count(.fetch), count)
    }

    /// P6: an empty page with a new token is not the end of the feed.
    func testTheFetchContinuesAfterEmptyPagesWithNewTokens() async throws {
        let phone = try makeDevice(Note.self) { $0.fetchPageSize = 1 }
        try await fill(phone.database, 6)
        phone.database.changeFetchAnswers { page in
            let isLast = page.modifications.keys.contains { $0.recordName == "r-5" }
            return isLast || !page.moreComing ? page : page.emptied()
        }
        try await phone.engine.fetchChanges()
        let names = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(names, ["r-5"])
        XCTAssertGreaterThanOrEqual(phone.database.count(.fetch), 6)
    }

    /// T3: a restarted listing gets the same tokens again, which is not a cycle.
    func testResyncsDuringListingsAreNotAnEndlessFeed() async throws {
        let phone = try makeDevice(Note.self) { $0.fetchPageSize = 1 }
        try await fill(phone.database, 6)
        try await phone.engine.sync()
        try await phone.engine.resync()
        let gates = (0..<5).map { _ in Gate() }
        for gate in gates {
            for _ in 0..<3 { phone.database.plan(.fetch, .holdBefore(.opened)) }
            phone.database.plan(.fetch, .holdBefore(gate))
        }
        let run = phone.beginSync()
        // Opens all gates if the call fails early, so that the test does not wait for pages that are never
        // requested.
        let end = Task {
            _ = await run.result
            for gate in gates {
                gate.open()
                try? await gate.pass()
            }
        }
        for gate in gates {
            await gate.reached()
            try await phone.engine.resync()
        }
        for gate in gates { gate.open() }
        _ = try await run.value
        await end.value
    }
}

extension [ModelChange<Note>] {
    /// The names of updated records, sorted.
    var updatedNames: [String] {
        flatMap { if case .updated(let models) = $0 { models.map(\.id) } else { [String]() } }.sorted()
    }
}

extension ZoneChanges {
    /// The same page without one record.
    func without(_ name: String) -> ZoneChanges {
        var page = self
        page.modifications = modifications.filter { $0.key.recordName != name }
        return page
    }

    /// An empty page with the same token.
    func emptied() -> ZoneChanges {
        ZoneChanges(modifications: [:], deletions: [], changeToken: changeToken, moreComing: moreComing)
    }
}
