import XCTest

@testable import CodableSync

/// The subscription of an engine, as the server has it.
final class SubscriptionScenarios: EngineScenario {
    private let cloud = FakeCloud()
    private let id = "codablesync-Item"

    private func makePhone(_ change: (inout SyncConfiguration) -> Void = { _ in }) -> Device<Note> {
        Device<Note>(cloud.database(), clock: clock, configure: change)
    }

    private func subscriptions() async throws -> [CloudSubscription] {
        try await cloud.database().allSubscriptions()
    }

    /// Removes the subscription, as the server may.
    private func lose() async throws {
        _ = try await cloud.database().modifySubscriptions(saving: [], deleting: [id])
        let left = try await subscriptions()
        XCTAssertEqual(left, [])
    }

    func testALostSubscriptionIsMadeAgainAtTheNextLaunch() async throws {
        let phone = makePhone()
        try await phone.engine.sync()
        await phone.engine.waitUntilIdle()
        let made = try await subscriptions()
        XCTAssertEqual(made, [.engine(for: ZoneID(zoneName: "Item"))])
        try await lose()
        try await phone.engine.sync()
        let unnoticed = try await subscriptions()
        XCTAssertEqual(unnoticed, [], "the server is not asked with each sync")

        try await phone.restart()
        try await phone.engine.sync()
        await phone.engine.waitUntilIdle()
        let healed = try await subscriptions()
        XCTAssertEqual(healed, made)
    }

    func testALostSubscriptionIsMadeAgainWithinADay() async throws {
        let phone = makePhone { $0.automaticallySyncs = true }
        try await phone.engine.start()
        await phone.engine.waitUntilIdle()
        try await lose()
        clock.advance(by: .seconds(24 * 3600 - 1))
        await phone.engine.waitUntilIdle()
        let unnoticed = try await subscriptions()
        XCTAssertEqual(unnoticed, [])
        clock.advance(by: .seconds(1))
        await phone.engine.waitUntilIdle()
        let healed = try await subscriptions()
        XCTAssertEqual(healed.map(\.subscriptionID), [id])
    }

    func testASubscriptionOfTheSameNameAndAnotherScopeIsReplaced() async throws {
        let phone = makePhone()
        try await phone.engine.sync()
        await phone.engine.waitUntilIdle()
        let other = CloudSubscription(subscriptionID: id, kind: .database)
        _ = try await cloud.database().modifySubscriptions(saving: [other], deleting: [])
        try await phone.restart()
        try await phone.engine.sync()
        await phone.engine.waitUntilIdle()
        let healed = try await subscriptions()
        XCTAssertEqual(healed, [.engine(for: ZoneID(zoneName: "Item"))])
    }

    func testASubscriptionThatTheServerHasIsNotSavedAgain() async throws {
        let database = cloud.database()
        let phone = Device<Note>(database, clock: clock)
        for _ in 1...3 {
            try await phone.engine.sync()
            await phone.engine.waitUntilIdle()
            try await phone.restart()
        }
        XCTAssertEqual(database.requestCount(.modifySubscriptions), 1)
        XCTAssertEqual(database.requestCount(.allSubscriptions), 2)
    }

    /// A database of before the requirement existed lists nothing.
    private final class Unlisting: ForwardingDatabase, @unchecked Sendable {
        // Sendable is correct: it adds no state.
        override func allSubscriptions() async throws -> [CloudSubscription] { [] }
    }

    func testADatabaseThatListsNoneGetsTheSubscriptionAtEachLaunch() async throws {
        let database = cloud.database()
        let phone = Device<Note>(Unlisting(database), clock: clock)
        for _ in 1...2 {
            try await phone.engine.sync()
            await phone.engine.waitUntilIdle()
            try await phone.restart()
        }
        XCTAssertEqual(database.requestCount(.modifySubscriptions), 2)
    }

    func testDeactivatingRemovesTheSubscriptionAndKeepsTheEdits() async throws {
        let phone = makePhone { $0.automaticallySyncs = true }
        try await phone.engine.upload(Note("a"))
        await phone.engine.waitUntilIdle()
        try await phone.engine.deactivate()
        let left = try await subscriptions()
        XCTAssertEqual(left, [])
        try await phone.engine.upload(Note("b"))
        await phone.engine.waitUntilIdle()
        XCTAssertEqual(try cloud.models(Note.self), [Note("a")])
        await assertThrows(.stopped) { try await phone.engine.sync() }

        try await phone.engine.start()
        await phone.engine.waitUntilIdle()
        XCTAssertEqual(try cloud.models(Note.self), [Note("a"), Note("b")])
        let again = try await subscriptions()
        XCTAssertEqual(again.map(\.subscriptionID), [id])
    }

    func testDeactivatingAsTheFirstCallRequestsNothingElse() async throws {
        let first = makePhone()
        try await first.engine.sync()
        await first.engine.waitUntilIdle()
        let database = cloud.database()
        let laptop = Device<Note>(database, clock: clock) { $0.automaticallySyncs = true }
        try await laptop.engine.deactivate()
        await laptop.engine.waitUntilIdle()
        let left = try await subscriptions()
        XCTAssertEqual(left, [])
        XCTAssertEqual(
            database.requests.map(\.operation),
            [.accountStatus, .userRecordName, .modifySubscriptions]
        )
    }

    func testDeactivatingWithoutANetworkStopsAndThrows() async throws {
        let database = cloud.database()
        let phone = Device<Note>(database, clock: clock)
        try await phone.engine.sync()
        await phone.engine.waitUntilIdle()
        database.isReachable = false
        do {
            try await phone.engine.deactivate()
            XCTFail("there is no network")
        } catch let error as SyncError {
            XCTAssertEqual(error.cloudError?.code, .networkUnavailable)
        }
        await assertThrows(.stopped) { try await phone.engine.sync() }
        database.isReachable = true
        try await phone.engine.deactivate()
        let left = try await subscriptions()
        XCTAssertEqual(left, [])
    }
}
