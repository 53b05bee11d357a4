import CodableSync
import Foundation
import XCTest

/// P-44: an app's tests, using public API only; the article "Testing your app" shows them.
// begin devices
final class NoteSyncTests: XCTestCase {
    let clock = ManualClock()
    lazy var cloud = FakeCloud(clock: clock)

    /// One more device of the user, and its network.
    func device(automatic: Bool = false) -> (engine: SyncEngine<Note>, network: FakeDatabase) {
        let network = cloud.database()
        var configuration = SyncConfiguration()
        configuration.clock = clock
        configuration.automaticallySyncs = automatic
        configuration.sendDelay = .zero
        return (SyncEngine(database: network, configuration: configuration), network)
    }
    // end devices

    // begin conflict-function
    func testConcurrentEditsOfATextAreBothKept() throws {
        let conflict = Conflict(
            client: Note(id: "a", title: "Tea", text: "hot"),
            server: Note(id: "a", title: "Green tea", text: "cold"),
            ancestor: Note(id: "a", title: "Tea"),
            clientEdited: Date(timeIntervalSince1970: 2),
            serverEdited: Date(timeIntervalSince1970: 1)
        )
        let note = try Note.resolveConflict(conflict)
        XCTAssertEqual(note, Note(id: "a", title: "Green tea", text: "cold\nhot"))
    }
    // end conflict-function

    // begin two-devices
    func testTwoDevicesThatEditOneNoteAgree() async throws {
        let (phone, _) = device()
        let (tablet, _) = device()
        try await phone.upload(Note(id: "a", title: "Tea"))
        try await phone.sync()
        try await tablet.sync()

        for (engine, text) in [(phone, "hot"), (tablet, "cold")] {
            clock.advance(by: .seconds(60))
            try await engine.edit(named: "a") { $0.text = text }
        }
        try await phone.sync()
        try await tablet.sync()
        try await phone.sync()

        let merged = [Note(id: "a", title: "Tea", text: "cold\nhot")]
        let (onPhone, onTablet) = (try await phone.allModels(), try await tablet.allModels())
        XCTAssertEqual(onPhone, merged)
        XCTAssertEqual(onTablet, merged)
        XCTAssertEqual(try cloud.models(Note.self), merged)
    }
    // end two-devices

    // begin arrival
    func testANoteArrivesAutomatically() async throws {
        let (phone, _) = device(automatic: true)
        let (tablet, _) = device(automatic: true)
        var changes = tablet.changes.makeAsyncIterator()

        try await phone.upload(Note(id: "a", title: "Tea"))
        let change = await changes.next()
        XCTAssertEqual(change, .updated([Note(id: "a", title: "Tea")]))
    }
    // end arrival

    // begin outage
    func testANoteWrittenOfflineIsSentLater() async throws {
        let (phone, network) = device(automatic: true)
        network.isReachable = false
        try await phone.upload(Note(id: "a", title: "Tea"))
        _ = await phone.status.first { $0 == .offline }
        XCTAssertEqual(try cloud.models(Note.self), [])

        network.isReachable = true
        _ = await phone.status.first { $0 == .idle }
        XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Tea")])
    }
    // end outage

    // begin waiting
    func testALostResponseCausesNoConflict() async throws {
        let (phone, network) = device(automatic: true)
        network.on(.modifyRecords, .loseResponse())
        network.on(.modifyRecords, .throttle(retryAfter: .seconds(30)))
        let begin = clock.now.monotonic

        try await phone.upload(Note(id: "a", title: "Tea"))
        for await status in phone.status {
            if case .waiting(let date) = status { clock.advance(to: date) }
            if status == .idle { break }
        }

        XCTAssertEqual(network.pendingFaultCount, 0)
        XCTAssertEqual(network.throttleViolations, 0)
        XCTAssertGreaterThan(clock.now.monotonic - begin, .seconds(30))
        XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Tea")])
    }
    // end waiting

    // begin quota
    func testFullStorageLosesNothing() async throws {
        let (phone, _) = device(automatic: true)
        cloud.setQuota(10)
        try await phone.upload(Note(id: "a", title: "A long list of teas"))
        _ = await phone.status.first { $0 == .paused(.quotaExceeded) }

        cloud.setQuota(nil)
        try await phone.sync()
        XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "A long list of teas")])
    }
    // end quota

    // begin sign-out
    func testSigningOutLosesNothing() async throws {
        let (phone, network) = device(automatic: true)
        network.signOut()
        try await phone.upload(Note(id: "a", title: "Tea"))
        _ = await phone.accountStatus.first { $0 == .noAccount }
        let shown = try await phone.allModels()
        XCTAssertEqual(shown, [Note(id: "a", title: "Tea")])

        network.signIn(user: FakeCloud.defaultUser)
        _ = await phone.status.first { $0 == .idle }
        XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Tea")])
    }
    // end sign-out

    // begin switch
    func testAnotherUserDoesNotSeeTheFirstUsersNotes() async throws {
        let (phone, network) = device(automatic: true)
        try await phone.upload(Note(id: "a", title: "Tea"))
        try await phone.sync()

        network.signIn(user: "bob")
        try await phone.sync()
        let shown = try await phone.allModels()
        XCTAssertEqual(shown, [])
        XCTAssertEqual(try cloud.models(Note.self, user: "bob"), [])

        network.signIn(user: FakeCloud.defaultUser)
        try await phone.sync()
        let returned = try await phone.allModels()
        XCTAssertEqual(returned, [Note(id: "a", title: "Tea")])
    }
    // end switch

    // begin purge
    func testAPurgeWaitsForTheUsersDecision() async throws {
        let (phone, _) = device()
        try await phone.upload(Note(id: "a", title: "Tea"))
        try await phone.sync()

        try cloud.purgeZone(ZoneID(zoneName: Note.recordType))
        do {
            try await phone.sync()
            XCTFail("The user has not answered yet.")
        } catch let error as SyncError where error.code == .waitingForDecision {}
        let kept = try await phone.allModels()
        XCTAssertEqual(kept, [Note(id: "a", title: "Tea")])

        try await phone.resolvePurge(.uploadAgain)
        try await phone.sync()
        XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Tea")])
    }
    // end purge

    // begin push
    func testAPushNotificationFetchesTheNote() async throws {
        cloud.pushes = false
        let (phone, _) = device()
        let (tablet, _) = device()
        try await phone.upload(Note(id: "a", title: "Tea"))
        try await phone.sync()

        let payload = cloud.notification(for: ZoneID(zoneName: Note.recordType))
        let outcome = await tablet.handleNotification(payload)
        XCTAssertEqual(outcome, .newData)
        let arrived = try await tablet.allModels()
        XCTAssertEqual(arrived, [Note(id: "a", title: "Tea")])
    }
    // end push

    // begin restart
    func testAnUnsentNoteSurvivesARestart() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        addTeardownBlock { try FileManager.default.removeItem(at: directory) }
        var configuration = SyncConfiguration()
        configuration.storage = .directory(directory)
        configuration.automaticallySyncs = false

        let before = SyncEngine<Note>(database: cloud.database(), configuration: configuration)
        try await before.upload(Note(id: "a", title: "Tea"))
        try await before.close()

        let after = SyncEngine<Note>(database: cloud.database(), configuration: configuration)
        try await after.sync()
        XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Tea")])
    }
    // end restart

    // begin holding
    func testAnEditDuringAnUploadIsKept() async throws {
        let (phone, network) = device()
        cloud.limits.maximumItems = 1
        try await phone.upload([Note(id: "a", title: "Tea"), Note(id: "b", title: "Milk")])

        let saves = FakeHold()
        network.on(.modifyRecords, .hold(saves), times: nil)
        async let summary = phone.sync()
        await saves.arrived()
        try await phone.edit(named: "a") { $0.title = "Green tea" }
        saves.release()
        _ = try await summary
        try await phone.sync()
        XCTAssertEqual(try cloud.models(Note.self).map(\.title), ["Green tea", "Milk"])
    }
    // end holding

    // begin changing
    func testANoteArrivesOnPagesWithoutALookUp() async throws {
        let (phone, _) = device()
        try await phone.upload(Note(id: "a", title: "Tea"))
        try await phone.sync()

        let (tablet, network) = device()
        network.on(.records, .loseResponse(), times: nil)
        network.on(.recordZoneChanges, .edit(ZoneChanges.self) { $0.moreComing = true })
        let summary = try await tablet.sync()
        XCTAssertEqual(summary.fetched, 1)
        XCTAssertEqual(summary.undecodable, 0)
        XCTAssertEqual(network.requestCount(.recordZoneChanges), 2)
    }
    // end changing

    // begin crash
    func testAnUnacknowledgedNoteIsDeliveredAgainAfterACrash() async throws {
        let (tablet, _) = device()
        try await tablet.upload(Note(id: "a", title: "Tea"))
        try await tablet.sync()

        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        addTeardownBlock { try FileManager.default.removeItem(at: directory) }
        var configuration = SyncConfiguration()
        configuration.storage = .directory(directory)
        configuration.automaticallySyncs = false
        let before = SyncEngine<Note>(database: cloud.database(), configuration: configuration)
        try await before.sync()
        var changes = before.changes.makeAsyncIterator()
        let taken = await changes.next()
        XCTAssertEqual(taken, .updated([Note(id: "a", title: "Tea")]))
        await before.simulateCrash()

        let after = SyncEngine<Note>(database: cloud.database(), configuration: configuration)
        var again = after.changes.makeAsyncIterator()
        let delivered = await again.next()
        XCTAssertEqual(delivered, taken)
        try await after.close()
    }
    // end crash

    // begin local
    func testANoteReachesALocalDatabase() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        addTeardownBlock { try FileManager.default.removeItem(at: directory) }
        var configuration = SyncConfiguration()
        configuration.clock = clock
        configuration.automaticallySyncs = false
        configuration.storage = .inMemory
        let database = LocalDatabase(directory: directory, enforcesSchema: true, clock: clock)
        let phone = SyncEngine<Note>(database: database, configuration: configuration)
        try await phone.upload(Note(id: "a", title: "Tea"))
        let summary = try await phone.sync()
        XCTAssertEqual(summary.sent, 1)
        try await phone.close()
        await database.close()
    }
}
// end local
