import Foundation
import XCTest

@testable import CodableSync

/// Scenarios, group K, on a fake without signals; the local database checks its directory four times a
/// second.
final class PushScenariosPolling: EngineScenario {
    private func makePhone(_ configure: (inout SyncConfiguration) -> Void = { _ in }) async throws -> Device<
        Note
    > {
        let phone = try makeDevice(Note.self, configure: configure)
        try await phone.engine.sync()
        return phone
    }

    /// Saves a record as another device, without causing a signal.
    private func serverSaveUnheard(_ note: Note, _ phone: Device<Note>) async throws {
        let cloud = try XCTUnwrap(phone.database.base as? FakeDatabase).cloud
        cloud.pushes = false
        try await serverSave(note)
        cloud.pushes = true
    }

    // PS-03, P-19
    func testAnEngineWithoutPushesCatchesUpWithinThePollInterval() async throws {
        let phone = try await makePhone {
            $0.automaticallySyncs = true
            $0.pollInterval = .seconds(120)
        }
        try await quiet(phone)
        for round in 0..<5 {
            // This write causes no signal.
            try await serverSaveUnheard(Note("n\(round)", "theirs"), phone)
            let before = phone.database.totalCount
            try await pass(.milliseconds(119_999), phone)
            XCTAssertEqual(phone.database.totalCount, before, "round \(round)")
            try await pass(.milliseconds(1), phone)
            XCTAssertEqual(phone.database.totalCount, before + 1, "round \(round): one fetch")
            let model = try await phone.engine.model(named: "n\(round)")
            XCTAssertEqual(model?.title, "theirs")
        }
        phone.database.failNext(.fetch, .networkFailure)
        try await pass(.seconds(120), phone)
        try await serverSaveUnheard(Note("late"), phone)
        try await pass(.seconds(1), phone)
        let model = try await phone.engine.model(named: "late")
        XCTAssertNotNil(model, "a failed poll is retried, and polling continues")
        XCTAssertLessThanOrEqual(try nextWait(of: phone), .seconds(120))
    }

    // PS-03: an app that comes to the foreground fetches by itself.
    func testWithoutPushesAndPollingACallCatchesUp() async throws {
        let phone = try await makePhone { $0.automaticallySyncs = true }
        try await quiet(phone)
        try await serverSaveUnheard(Note("a", "theirs"), phone)
        try await pass(.seconds(86_400), phone)
        let missed = try await phone.engine.model(named: "a")
        XCTAssertNil(missed)
        let summary = try await phone.engine.fetchChanges()
        XCTAssertEqual(summary.fetched, 1)
    }

    // PS-07
    func testSyncWorksWithoutASubscriptionWhichIsRetried() async throws {
        let phone = try makeDevice(Note.self) {
            $0.automaticallySyncs = true
            $0.pollInterval = .seconds(60)
        }
        phone.database.failAlways(.subscriptions, CloudError(.permissionFailure))
        try await phone.engine.upload(Note("mine"))
        try await quiet(phone)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
        try await serverSaveUnheard(Note("theirs"), phone)
        for _ in 0..<20 { try await pass(.seconds(60), phone) }
        let model = try await phone.engine.model(named: "theirs")
        XCTAssertNotNil(model, "polling fetches the record")
        let tries = phone.database.count(.subscriptions)
        XCTAssertGreaterThan(tries, 4)
        XCTAssertLessThan(tries, 40)
        let told = phone.events.count { if case .subscriptionFailed = $0 { true } else { false } }
        XCTAssertEqual(told, 1)

        phone.database.failAlways(.subscriptions, nil)
        for _ in 0..<6 { try await pass(.seconds(60), phone) }
        XCTAssertEqual(phone.database.count(.subscriptions), tries + 1)
        let isSubscribed = await phone.engine.core.machine?.state.onlyZone.isSubscribed
        XCTAssertEqual(isSubscribed, true)
        for _ in 0..<6 { try await pass(.seconds(60), phone) }
        XCTAssertEqual(phone.database.count(.subscriptions), tries + 1, "the subscription is created once")
    }
}
