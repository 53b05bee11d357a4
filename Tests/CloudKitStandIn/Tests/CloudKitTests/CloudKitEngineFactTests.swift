import CloudKit
import CodableSync
import Foundation
import XCTest

/// What engines on the adapter do: subscriptions, encrypted fields, deadlines, archives, references.
final class CloudKitEngineFactTests: XCTestCase {
    private func configuration(_ clock: ManualClock = ManualClock()) -> SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.automaticallySyncs = false
        configuration.clock = clock
        return configuration
    }

    func testALostSubscriptionIsMadeAgainWithinADay() async throws {
        for namesOwner in [false, true] {
            let clock = ManualClock()
            let service = FakeCloudKit(
                FakeCloud().database(user: "alice"),
                FakeCloudKit.Differences(namesOwner: namesOwner)
            )
            let engine = SyncEngine<Memo>(database: service.database(), configuration: configuration(clock))
            let day = Duration.seconds(24 * 3600)
            _ = try await engine.sync()
            await engine.waitUntilIdle()
            clock.advance(by: day)
            _ = try await engine.sync()
            await engine.waitUntilIdle()
            // It is recognised however CloudKit spells the zone's owner.
            XCTAssertEqual(service.log.with { $0.subscriptions }, ["codablesync-Memo"], "\(namesOwner)")
            XCTAssertEqual(service.log.with { $0.requests }, ["allSubscriptions"], "\(namesOwner)")

            _ = try await service.device.modifySubscriptions(saving: [], deleting: ["codablesync-Memo"])
            clock.advance(by: day)
            _ = try await engine.sync()
            await engine.waitUntilIdle()
            let healed = try await service.device.allSubscriptions()
            XCTAssertEqual(healed, [.engine(for: ZoneID(zoneName: "Memo"))], "\(namesOwner)")

            try await engine.deactivate()
            let left = try await service.device.allSubscriptions()
            XCTAssertEqual(left, [], "\(namesOwner)")
            try await engine.close()
        }
    }

    // MARK: Encrypted fields

    private struct Diary: RecordCodable, Equatable, Identifiable {
        static let encryptedFields = ["text", "mood"]

        var id: String
        var title = ""
        var text = ""
        var mood: Double?

        static func resolveConflict(_ conflict: Conflict<Diary>) throws -> Diary? { try conflict.merged() }
    }

    func testTheEncryptedFieldsOfAModelAreEncryptedInTheCloud() async throws {
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        let second = service.secondDevice()
        let phone = SyncEngine<Diary>(database: service.database(), configuration: configuration())
        let laptop = SyncEngine<Diary>(database: second.database(), configuration: configuration())
        try await phone.upload(Diary(id: "a", title: "Monday", text: "rain"))
        _ = try await phone.sync()
        _ = try await laptop.sync()
        // A conflict, and a field that is set for the first time by an edit.
        _ = try await laptop.edit(named: "a") { $0.title = "Tuesday" }
        _ = try await phone.edit(named: "a") { $0.mood = 0.5 }
        _ = try await laptop.sync()
        _ = try await phone.sendChanges()
        _ = try await phone.sync()
        _ = try await laptop.sync()

        let expected = [Diary(id: "a", title: "Tuesday", text: "rain", mood: 0.5)]
        for engine in [phone, laptop] {
            let models = try await engine.allModels()
            XCTAssertEqual(models, expected)
            try await engine.close()
        }
        let encrypted = ["title", "text", "mood", "codableSyncEdited"].filter {
            service.isEncrypted($0, of: "Diary")
        }
        XCTAssertEqual(encrypted, ["text", "mood"])
    }

    /// `Diary` in a version of the app from before its encrypted fields.
    private struct OlderDiary: RecordCodable, Equatable, Identifiable {
        static var recordType: String { "Diary" }

        var id: String
        var title = ""

        static func resolveConflict(_ conflict: Conflict<OlderDiary>) throws -> OlderDiary? {
            conflict.client
        }
    }

    func testAnOlderVersionOfTheAppUploadsEncryptedFieldsEncryptedAgain() async throws {
        // A schema in development can be reset; then a field's first save decides again.
        for losesSchema in [false, true] {
            let cloud = FakeCloud()
            let service = FakeCloudKit(cloud.database(user: "alice"))
            let second = service.secondDevice()
            let newer = SyncEngine<Diary>(database: service.database(), configuration: configuration())
            let older = SyncEngine<OlderDiary>(database: second.database(), configuration: configuration())
            let diary = Diary(id: "a", title: "Monday", text: "rain", mood: 0.5)
            try await newer.upload(diary)
            _ = try await newer.sync()
            _ = try await older.sync()
            try cloud.resetEncryptedData(in: ZoneID(zoneName: "Diary"), user: "alice")
            if losesSchema { service.forgetEncryption() }
            _ = try await older.sync()

            let row = "loses the schema: \(losesSchema)"
            let pending = try await older.pendingChanges()
            XCTAssertEqual(pending.map(\.recordName), [], row)
            XCTAssertEqual(try cloud.models(Diary.self, user: "alice"), [diary], row)
            let encrypted = ["title", "text", "mood"].filter { service.isEncrypted($0, of: "Diary") }
            XCTAssertEqual(encrypted, ["text", "mood"], row)
            try await newer.close()
            try await older.close()
        }
    }

    // MARK: The deadline

    func testARequestPastItsDeadlineIsCancelledInCloudKit() async throws {
        let clock = ManualClock()
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        var configuration = configuration(clock)
        configuration.automaticallySyncs = true
        configuration.sendDelay = .zero
        let engine = SyncEngine<Memo>(database: service.database(), configuration: configuration)
        try await engine.start()
        await engine.waitUntilIdle()
        service.device.on(.modifyRecords, .hold(FakeHold()))
        try await engine.upload(Memo(id: "a", title: "one"))
        await engine.waitUntilIdle()
        XCTAssertEqual(service.log.with { $0.requests }, [])
        let cancellation = expectation(description: "The request is cancelled.")
        service.afterCancellation.with { $0 = { cancellation.fulfill() } }
        clock.advance(by: configuration.requestDeadline)
        await engine.waitUntilIdle()
        // The engine does not wait for the request that it cancels.
        await fulfillment(of: [cancellation], timeout: 60)
        XCTAssertEqual(service.log.with { $0.requests }, ["cancelled"])
        clock.advance(by: .seconds(300))
        await engine.waitUntilIdle()
        XCTAssertEqual(try service.device.cloud.models(Memo.self, user: "alice").map(\.title), ["one"])
        try await engine.close()
    }

    // MARK: Archives

    func testRecordsThatDifferOnlyInTheirArchivesAreNoChanges() async throws {
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        let engine = SyncEngine<Memo>(database: service.database(), configuration: configuration())
        try await engine.upload([Memo(id: "a", title: "one"), Memo(id: "b", title: "two")])
        _ = try await engine.sync()
        var changes = engine.changes.makeAsyncIterator()
        var live = engine.liveChanges.makeAsyncIterator()
        _ = await changes.next()
        for expected in ["reset", "updated", "replayed"] {
            let element = await live.next()
            XCTAssertTrue(
                element.map { "\($0)".hasPrefix(expected) } ?? false,
                "\(String(describing: element))"
            )
        }
        let saves = service.log.with { $0.qualities.count }
        // Each fetch returns all records again, with other archives.
        for _ in 1...3 {
            try await engine.resync()
            _ = try await engine.sync()
        }
        XCTAssertEqual(service.log.with { $0.qualities.count }, saves, "nothing was sent")
        let pending = try await engine.pendingChanges()
        XCTAssertEqual(pending.count, 0)

        // The next element is about the only record that has changed.
        let laptop = SyncEngine<Memo>(
            database: service.secondDevice().database(),
            configuration: configuration()
        )
        try await laptop.upload(Memo(id: "c", title: "three"))
        _ = try await laptop.sync()
        _ = try await engine.sync()
        for element in [await changes.next(), await live.next()] {
            guard case .updated(let models)? = element else {
                XCTFail("\(String(describing: element))")
                continue
            }
            XCTAssertEqual(models, [Memo(id: "c", title: "three")])
        }
        try await engine.close()
        try await laptop.close()
    }

    // MARK: References

    private struct Page: RecordCodable, Equatable, Identifiable {
        var id: String
        var book: RecordReference?

        static func resolveConflict(_ conflict: Conflict<Page>) throws -> Page? { try conflict.merged() }
    }

    /// Documented is that only a parent must exist; an older header says that every target must.
    func testAReferenceToAMissingRecordIsSavedOrParkedAndHoldsUpNoOthers() async throws {
        for isRefused in [false, true] {
            for throwsItemErrors in [false, true] {
                let name = "refused \(isRefused), thrown \(throwsItemErrors)"
                let device = FakeCloud().database(user: "alice")
                let service = FakeCloudKit(
                    device,
                    FakeCloudKit.Differences(throwsItemErrors: throwsItemErrors)
                )
                if isRefused {
                    device.on(.modifyRecords, .failItem("page", CloudError(.referenceViolation)), times: nil)
                }
                let engine = SyncEngine<Page>(database: service.database(), configuration: configuration())
                let page = Page(id: "page", book: RecordReference(recordName: "missing"))
                try await engine.upload([page, Page(id: "other")])
                _ = try await engine.sync()
                // Where errors are thrown together, what else was saved is found out by sending it again.
                _ = try await engine.sync()
                let saved = try device.cloud.models(Page.self, user: "alice").map(\.id).sorted()
                XCTAssertEqual(saved, isRefused ? ["other"] : ["other", "page"], name)
                let pending = try await engine.pendingChanges()
                XCTAssertEqual(pending.map(\.recordName), isRefused ? ["page"] : [], name)
                XCTAssertEqual(pending.compactMap(\.parkReason?.kind), isRefused ? [.refused] : [], name)
                let models = try await engine.allModels().sorted { $0.id < $1.id }
                XCTAssertEqual(models, [Page(id: "other"), page], name)
                try await engine.close()
            }
        }
    }
}
