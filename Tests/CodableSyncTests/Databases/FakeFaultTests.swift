@_spi(Server) import CodableSync
import Foundation
import XCTest

/// Sends requests from other tasks.
private struct FakeDevice: Sendable {
    let database: FakeDatabase
    let zoneID: ZoneID

    func record(_ name: String) -> Record {
        Record(recordType: "Note", recordID: RecordID(recordName: name, zoneID: zoneID))
    }

    func save(_ names: [String], atomically: Bool = false) async throws -> ModifyRecordsResult {
        try await database.modifyRecords(
            saving: names.map(record),
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: atomically
        )
    }

    func fetch() async throws -> ZoneChanges {
        try await database.recordZoneChanges(
            inZoneWith: zoneID,
            since: nil,
            desiredKeys: nil,
            resultsLimit: nil
        )
    }
}

private func failure(of call: () async throws -> Void) async -> CloudError? {
    do { try await call() } catch { return error as? CloudError }
    return nil
}

/// All faults that a test can plan.
final class FakeFaultTests: XCTestCase {
    private let zoneID = ZoneID(zoneName: "Notes")
    private let date = Locked(Date(timeIntervalSince1970: 1_700_000_000))
    private lazy var cloud = FakeCloud(options: LedgerOptions(), date: { [date] in date.withLock { $0 } })
    private lazy var database = cloud.database()

    override func setUp() async throws {
        try cloud.createZone(zoneID)
    }

    private var stored: Set<String> { Set(cloud.records(in: zoneID).keys) }

    private var device: FakeDevice { FakeDevice(database: database, zoneID: zoneID) }

    private func id(_ name: String) -> RecordID { device.record(name).recordID }

    private func record(_ name: String) -> Record { device.record(name) }

    private func save(_ names: String..., atomically: Bool = false) async throws -> ModifyRecordsResult {
        try await device.save(names, atomically: atomically)
    }

    private func fetch() async throws -> ZoneChanges { try await device.fetch() }

    func testFailuresOccurInOrderAndOnlyForTheirKind() async throws {
        database.on(.modifyRecords, .fail(CloudError(.networkFailure)), times: 2)
        database.on(.modifyRecords, .fail(CloudError(.zoneBusy, retryAfter: .seconds(3))))
        XCTAssertEqual(database.pendingFaultCount, 3)
        _ = try await fetch()
        for code: CloudError.Code in [.networkFailure, .networkFailure, .zoneBusy] {
            let error = await failure { _ = try await self.save("a") }
            XCTAssertEqual(error?.code, code)
        }
        XCTAssertEqual(stored, [])
        _ = try await save("a")
        XCTAssertEqual(stored, ["a"])
    }

    func testAFaultOfAnyKindAffectsEveryRequest() async throws {
        database.on(.any, .fail(CloudError(.serviceUnavailable)), times: 2)
        let first = await failure { _ = try await self.database.accountStatus() }
        let second = await failure { _ = try await self.fetch() }
        XCTAssertEqual([first?.code, second?.code], [.serviceUnavailable, .serviceUnavailable])
        _ = try await fetch()
    }

    func testARequestWithALostResponseIsApplied() async throws {
        database.on(.modifyRecords, .loseResponse())
        let error = await failure { _ = try await self.save("a") }
        XCTAssertEqual(error?.code, .serverResponseLost)
        XCTAssertEqual(stored, ["a"])
    }

    func testARequestCanBeHeldBeforeItIsApplied() async throws {
        let held = FakeHold()
        database.on(.modifyRecords, .hold(held))
        let device = device
        async let result = device.save(["a"])
        await held.arrived()
        XCTAssertTrue(held.isHolding)
        XCTAssertEqual(stored, [])
        held.release()
        let results = try await result.saveResults
        XCTAssertNil(results[id("a")]?.error)
        XCTAssertFalse(held.isHolding)
        XCTAssertEqual(stored, ["a"])
    }

    func testARequestCanBeHeldAfterItIsAppliedAndItsResponseLost() async throws {
        let held = FakeHold()
        database.on(.modifyRecords, .hold(held, afterApplying: true))
        let device = device
        async let outcome = failure { _ = try await device.save(["a"]) }
        await held.arrived()
        XCTAssertEqual(stored, ["a"])
        held.release(throwing: CloudError(.serverResponseLost))
        let code = await outcome?.code
        XCTAssertEqual(code, .serverResponseLost)
    }

    func testAHoldReleasedEarlyDoesNotHoldTheRequest() async throws {
        let held = FakeHold()
        database.on(.modifyRecords, .hold(held))
        held.release()
        _ = try await save("a")
        await held.arrived()
        XCTAssertEqual(stored, ["a"])
    }

    func testOtherRequestsOvertakeAHeldOne() async throws {
        let held = FakeHold()
        database.on(.modifyRecords, .hold(held))
        let device = device
        async let first = device.save(["a"])
        await held.arrived()
        _ = try await save("b")
        XCTAssertEqual(stored, ["b"])
        held.release()
        _ = try await first
        XCTAssertEqual(stored, ["a", "b"])
    }

    func testAnUnansweredRequestEndsWithItsTask() async throws {
        for afterApplying in [false, true] {
            database.on(.modifyRecords, .hold(FakeHold(), afterApplying: afterApplying))
            let device = device
            let task = Task { await failure { _ = try await device.save(["a"]) } }
            task.cancel()
            let error = await task.value
            XCTAssertEqual(error?.code, .operationCancelled)
            XCTAssertEqual(stored, afterApplying ? ["a"] : [])
        }
    }

    func testAThrottleRejectsEveryRequestUntilItEnds() async throws {
        database.on(.modifyRecords, .throttle(retryAfter: .seconds(30)))
        let first = await failure { _ = try await self.save("a") }
        XCTAssertEqual(first?.code, .requestRateLimited)
        XCTAssertEqual(first?.retryAfter, .seconds(30))
        XCTAssertEqual(database.throttleViolations, 0)
        date.withLock { $0 += 10 }
        let early = await failure { _ = try await self.fetch() }
        XCTAssertEqual(early?.retryAfter, .seconds(20))
        XCTAssertEqual(database.throttleViolations, 1)
        date.withLock { $0 += 20 }
        _ = try await save("a")
        XCTAssertEqual(database.throttleViolations, 1)
    }

    func testAnItemFailsAsOftenAsPlanned() async throws {
        database.on(.modifyRecords, .failItem("a", CloudError(.permissionFailure)), times: 2)
        for expected: CloudError.Code? in [.permissionFailure, .permissionFailure, nil] {
            let result = try await save("a")
            XCTAssertEqual(result.saveResults[id("a")]?.error?.code, expected)
        }
        database.on(.modifyRecords, .failItem("b", CloudError(.invalidArguments)), times: nil)
        for _ in 1...3 {
            let result = try await save("b", "c\(stored.count)")
            XCTAssertEqual(result.saveResults[id("b")]?.error?.code, .invalidArguments)
        }
        database.clearFaults()
        _ = try await save("b")
        XCTAssertEqual(stored, ["a", "b", "c1", "c2", "c3"])
    }

    func testAFailedItemFailsItsAtomicRequest() async throws {
        database.on(.modifyRecords, .failItem("a", CloudError(.permissionFailure)))
        let result = try await save("a", "b", atomically: true)
        XCTAssertEqual(result.saveResults[id("a")]?.error?.code, .permissionFailure)
        XCTAssertEqual(result.saveResults[id("b")]?.error?.code, .batchRequestFailed)
        XCTAssertEqual(stored, [])
    }

    func testItemsCanFailInFetches() async throws {
        _ = try await save("a", "b")
        database.on(.recordZoneChanges, .failItem("a", CloudError(.assetNotAvailable)))
        database.on(.records, .failItem("a", CloudError(.internalError)))
        let page = try await fetch()
        XCTAssertEqual(page.modifications[id("a")]?.error?.code, .assetNotAvailable)
        XCTAssertNil(page.modifications[id("b")]?.error)
        let records = try await database.records(for: [id("a")], desiredKeys: nil)
        XCTAssertEqual(records[id("a")]?.error?.code, .internalError)
        let again = try await fetch()
        XCTAssertNil(again.modifications[id("a")]?.error)
    }

    func testAConflictCanOmitTheServersRecord() async throws {
        let server = try cloud.put(record("a"))
        for carries in [true, false] {
            database.on(.modifyRecords, .conflict(on: "a", carryingServerRecord: carries))
            let error = try await save("a").saveResults[id("a")]?.error
            XCTAssertEqual(error?.code, .serverRecordChanged)
            XCTAssertEqual(error?.serverRecord, carries ? server : nil)
        }
        database.conflictsCarryServerRecord = false
        let real = try await save("a").saveResults[id("a")]?.error
        XCTAssertEqual(real?.code, .serverRecordChanged)
        XCTAssertNil(real?.serverRecord)
    }

    func testAConflictOnlyAppliesToSaves() async throws {
        _ = try await save("a")
        database.on(.any, .conflict(on: "a"))
        let page = try await fetch()
        XCTAssertNil(page.modifications[id("a")]?.error)
        let records = try await database.records(for: [id("a")], desiredKeys: nil)
        XCTAssertNil(records[id("a")]?.error)
        let error = try await save("a").saveResults[id("a")]?.error
        XCTAssertEqual(error?.code, .serverRecordChanged)
    }

    func testThePageSizeCanBeSetForEachDevice() async throws {
        _ = try await save("a", "b", "c")
        database.pageSize = 2
        let page = try await fetch()
        XCTAssertEqual(page.modifications.count, 2)
        XCTAssertTrue(page.moreComing)
    }

    func testAnswersCanBeEditedAfterTheRequestIsApplied() async throws {
        let (missing, foreign) = (id("a"), id("z"))
        database.on(
            .modifyRecords,
            .edit(ModifyRecordsResult.self) { result in
                result.saveResults[missing] = nil
                result.deleteResults[foreign] = .some(nil)
            }
        )
        database.on(
            .recordZoneChanges,
            .edit(ZoneChanges.self) { page in
                page.modifications = [:]
                page.moreComing = true
            }
        )
        database.on(
            .records,
            .edit([RecordID: Result<Record, CloudError>].self) {
                $0[missing] = .failure(CloudError(.unknownItem))
            }
        )
        database.on(.databaseChanges, .edit(DatabaseChanges.self) { $0.modifications = [] })

        let result = try await save("a", "b")
        XCTAssertEqual(Set(result.saveResults.keys), [id("b")])
        XCTAssertEqual(result.deleteResults, [foreign: nil])
        XCTAssertEqual(stored, ["a", "b"])
        let page = try await fetch()
        XCTAssertEqual(page.modifications.count, 0)
        XCTAssertTrue(page.moreComing)
        let records = try await database.records(for: [missing], desiredKeys: nil)
        XCTAssertEqual(records[missing]?.error?.code, .unknownItem)
        let zones = try await database.databaseChanges(since: nil, resultsLimit: nil)
        XCTAssertEqual(zones.modifications, [])
    }

    func testAnAnswerOfAnotherTypeThanTheEditedOneIsAnError() async throws {
        database.on(.any, .edit(ZoneChanges.self) { $0.moreComing = true }, times: 2)
        database.on(.recordZones, .edit([RecordID: Result<Record, CloudError>].self) { $0 = [:] })
        let save = await failure { _ = try await self.save("a") }
        let status = await failure { _ = try await self.database.accountStatus() }
        let zones = await failure { _ = try await self.database.recordZones(for: []) }
        XCTAssertEqual([save?.code, status?.code, zones?.code], Array(repeating: .internalError, count: 3))
        XCTAssertEqual(stored, ["a"])
    }

    func testTheReportedLimitsCanDifferFromTheRealOnes() async throws {
        database.limits = DatabaseLimits(maximumItems: 10)
        cloud.limits = DatabaseLimits(maximumItems: 1)
        XCTAssertEqual(database.limits.maximumItems, 10)
        let error = await failure { _ = try await self.save("a", "b") }
        XCTAssertEqual(error?.code, .limitExceeded)
        cloud.setQuota(0)
        cloud.limits = .cloudKit
        try cloud.expireTokens()
        var large = record("a")
        large.fields["t"] = "text"
        XCTAssertThrowsError(try cloud.put(large)) {
            XCTAssertEqual(($0 as? CloudError)?.code, .quotaExceeded)
        }
    }
}
