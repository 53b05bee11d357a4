import CodableSync
import Foundation
import XCTest

struct Employee: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var name: String
    var likes = 0

    static func resolveConflict(_ conflict: Conflict<Employee>) throws -> Employee? { try conflict.merged() }
}

/// What an app does with CloudCore beside Core Data.
final class FromCloudCoreTests: DeviceTestCase {
    private let ada = Employee(name: "Ada")

    func testEnablingUploadsWhatIsThereAndFetchesTheRest() async throws {
        let tablet = device(Employee.self)
        try await tablet.upload(Employee(name: "Bob"))
        try await tablet.sync()

        let engine = device(Employee.self)
        let storedEmployees = [ada]
        // begin cloudcore-enable
        try await engine.uploadOnce { storedEmployees }
        let summary = try await engine.sync()
        // end cloudcore-enable
        XCTAssertEqual(summary.sent, 1)
        XCTAssertEqual(summary.fetched, 1)
        XCTAssertEqual(try cloud.models(Employee.self).map(\.name).sorted(), ["Ada", "Bob"])
    }

    func testANotificationOfAnotherAppIsNotOurs() async throws {
        let engine = device(Employee.self)
        let outcome = await engine.handleNotification(["aps": ["alert": "Lunch"]])
        XCTAssertEqual(outcome, .notOurs)
    }

    func testErrorsReachTheApp() async throws {
        let network = cloud.database()
        let engine = device(Employee.self, on: network)
        var events = engine.events.makeAsyncIterator()
        network.isReachable = false
        try await engine.upload(ada)
        do {
            try await engine.sync()
            XCTFail("There is no network.")
        } catch let error as SyncError {
            XCTAssertEqual(error.cloudError?.code, .networkUnavailable)
        }
        while let event = await events.next() {
            if case .failed(let error) = event {
                XCTAssertEqual(error.code, .networkUnavailable)
                break
            }
        }
        let pending = try await engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName), [ada.recordName])
    }
}

/// What an app does with Realtime's objects.
final class FromRealtimeTests: DeviceTestCase {
    private let ada = Employee(name: "Ada")

    func testATransactionIsReverted() async throws {
        let engine = device(Employee.self)
        try await engine.upload(ada)
        // begin realtime-transaction
        let edit = try await engine.edit(ada) { $0.name = "Ada Lovelace" }
        try await engine.upload(edit.before, editedFrom: edit.after)  // reverts it, and nothing else
        // end realtime-transaction
        let name = try await engine.model(named: ada.recordName)?.name
        XCTAssertEqual(name, "Ada")
    }

    func testACollectionIsObserved() async throws {
        let engine = device(Employee.self)
        try await engine.upload([ada, Employee(name: "Bob")])
        // begin realtime-observe
        var employees: [String: Employee] = [:]
        for await change in engine.liveChanges {
            employees.apply(change)
            if case .replayed = change { break }  // everything is here; an app goes on
        }
        // end realtime-observe
        XCTAssertEqual(employees.values.map(\.name).sorted(), ["Ada", "Bob"])
    }

    func testAPropertyThatTwoDevicesCountKeepsOneOfTheValues() async throws {
        let (phone, tablet) = (device(Employee.self), device(Employee.self))
        try await phone.upload(ada)
        try await phone.sync()
        try await tablet.sync()
        for engine in [phone, tablet] {
            clock.advance(by: .seconds(1))
            try await engine.edit(ada) { $0.likes += 1 }
            try await engine.sync()
        }
        XCTAssertEqual(try cloud.models(Employee.self).map(\.likes), [1])
    }
}
