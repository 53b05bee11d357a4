@_spi(Server) import CodableSync
import Foundation
import RecordCoding
import XCTest

@_spi(Server) @testable import RecordServerKit

final class CourierTests: XCTestCase {
    func testANotificationStaysForTheNextPollUntilItsAnswerWasSent() async throws {
        let storage = ServerStorage.memory().ledger
        let zoneID = ZoneID(zoneName: "Notes")
        for operation in [
            LedgerRequest.Operation.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: []),
            .modifySubscriptions(
                saving: [CloudSubscription(subscriptionID: "s", kind: .zone(zoneID))],
                deleting: []
            ),
        ] {
            _ = try await storage.perform(LedgerRequest(user: "alice", operation: operation), at: Date())
        }
        var configuration = ServerConfiguration(container: "iCloud.test", users: ["alice"])
        configuration.limits.pollSeconds = 0.05
        let courier = Courier(storage, configuration)
        let token = await courier.makeToken(for: "alice")
        func poll() async -> PushNotification? {
            guard case .notification(let notification) = await courier.poll(token) else { return nil }
            return notification
        }
        let change = LedgerChange(user: "alice", scope: .private, zoneID: zoneID)
        await courier.deliver(change)
        let lost = await poll()
        let again = await poll()
        XCTAssertNotNil(lost)
        XCTAssertEqual(again?.id, lost?.id)
        // A later change is another one.
        await courier.deliver(change)
        if let lost { await courier.confirm(lost, to: token) }
        let later = await poll()
        XCTAssertNotEqual(later?.id, lost?.id)
        if let later { await courier.confirm(later, to: token) }
        let none = await poll()
        XCTAssertNil(none)
    }
}
