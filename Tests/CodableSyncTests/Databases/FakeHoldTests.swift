import CodableSync
import Foundation
import XCTest

/// Holding several requests.
final class FakeHoldTests: XCTestCase {
    private let database = FakeCloud().database()

    private func look() -> Task<AccountStatus, any Error> {
        let database = database
        return Task { try await database.accountStatus() }
    }

    func testAnUnlimitedHoldHoldsRequestsUntilItIsReleased() async throws {
        let hold = FakeHold()
        database.on(.accountStatus, .hold(hold), times: nil)
        let held = [look(), look(), look()]
        await hold.arrived(3)
        XCTAssertEqual(hold.count, 3)
        XCTAssertEqual(database.pendingFaultCount, 1)
        hold.release()
        for task in held { _ = try await task.value }
        XCTAssertEqual(hold.count, 0)
        XCTAssertEqual(database.pendingFaultCount, 0)
        _ = try await look().value
        XCTAssertFalse(hold.isHolding)
    }

    func testAHoldDoesNotAffectOtherKindsOfRequests() async throws {
        let hold = FakeHold()
        database.on(.accountStatus, .hold(hold), times: nil)
        let name = try await database.userRecordName()
        XCTAssertEqual(name, FakeCloud.defaultUser)
        XCTAssertFalse(hold.isHolding)
    }

    func testAHoldForTwoRequestsHoldsTwo() async throws {
        let hold = FakeHold()
        database.on(.accountStatus, .hold(hold), times: 2)
        let held = [look(), look()]
        await hold.arrived(2)
        _ = try await look().value
        XCTAssertEqual(hold.count, 2)
        hold.release(throwing: CloudError(.networkFailure))
        for task in held {
            do {
                _ = try await task.value
                XCTFail("The request should fail.")
            } catch let error as CloudError {
                XCTAssertEqual(error.code, .networkFailure)
            }
        }
    }

    func testFaultsBehindAnUnlimitedHoldOccurAfterItsRelease() async throws {
        let hold = FakeHold()
        database.on(.accountStatus, .hold(hold), times: nil)
        database.on(.accountStatus, .fail(CloudError(.networkFailure)))
        let held = look()
        await hold.arrived()
        hold.release()
        _ = try await held.value
        do {
            _ = try await look().value
            XCTFail("The request should fail.")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .networkFailure)
        }
    }

    func testACanceledRequestIsNoLongerHeld() async throws {
        let hold = FakeHold()
        database.on(.accountStatus, .hold(hold), times: nil)
        let (first, second) = (look(), look())
        await hold.arrived(2)
        first.cancel()
        _ = await first.result
        XCTAssertEqual(hold.count, 1)
        hold.release()
        _ = try await second.value
    }

    // MARK: Requests that are given up

    private let zone = RecordZone(zoneID: ZoneID(zoneName: "Zone"))

    private func saveLate(_ hold: FakeHold) async throws {
        database.on(.modifyRecordZones, .deliverLate(hold), times: nil)
        do {
            _ = try await database.modifyRecordZones(saving: [zone], deleting: [])
            XCTFail("The request should be given up.")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .serverResponseLost)
        }
    }

    private func isZoneThere() async throws -> Bool {
        let zones = try await database.recordZones(for: [zone.zoneID])
        if case .success? = zones[zone.zoneID] { return true }
        return false
    }

    func testARequestThatWasGivenUpIsPerformedOnItsRelease() async throws {
        let hold = FakeHold()
        try await saveLate(hold)
        await hold.arrived()
        XCTAssertTrue(hold.isHolding)
        var isThere = try await isZoneThere()
        XCTAssertFalse(isThere)
        hold.release()
        isThere = try await isZoneThere()
        XCTAssertTrue(isThere)
        XCTAssertEqual(database.pendingFaultCount, 0)
        // It is delivered once.
        _ = try await database.modifyRecordZones(saving: [], deleting: [zone.zoneID])
        hold.release()
        isThere = try await isZoneThere()
        XCTAssertFalse(isThere)
    }

    func testARequestThatWasGivenUpCanGetLost() async throws {
        let hold = FakeHold()
        try await saveLate(hold)
        hold.release(throwing: CloudError(.networkFailure))
        let isThere = try await isZoneThere()
        XCTAssertFalse(isThere)
    }
}
