import Foundation
import XCTest

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// The contract of every database, run through the JSON of CloudKit Web Services, and what is special there.
final class CloudKitWebDatabaseTests: CloudDatabaseContract {
    private var services = EmulatedWebServices()

    override func makeDatabase() async throws -> any CloudDatabase {
        services = EmulatedWebServices()
        return CloudKitWebDatabase(services)
    }

    override func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? {
        // The services have no code of their own for a rejected creation.
        if options.createOfExisting == .serverRejectedRequest { return nil }
        services = EmulatedWebServices(options)
        return CloudKitWebDatabase(services)
    }

    override func makeSecondConnection() async throws -> any CloudDatabase { CloudKitWebDatabase(services) }

    private func save(_ records: [Record], in database: any CloudDatabase) async throws -> ModifyRecordsResult
    {
        try await database.modifyRecords(
            saving: records,
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: true
        )
    }

    private func json(_ text: String) throws -> WebJSON { try WebJSON(Array(text.utf8)) }

    func testAConflictIsLookedUpOnce() async throws {
        let database = try await makeDatabaseWithZones()
        let first = try await save(record("a", ["n": 1]), to: database)
        let server = try await save(record("a", ["n": 2], knowing: first.systemFields), to: database)
        let before = services.operations.count
        let stale = try await outcome(of: record("a", ["n": 3], knowing: first.systemFields), in: database)
        XCTAssertEqual(stale.error?.serverRecord, server)
        XCTAssertEqual(Array(services.operations.dropFirst(before)), ["records/modify", "records/lookup"])
    }

    func testAConflictWhoseRecordCannotBeLookedUpStaysAConflict() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a"), to: database)
        services.answer { request throws(CloudError) in
            if request.operation == "records/lookup" { throw CloudError(.networkFailure) }
            return nil
        }
        let outcome = try await outcome(of: record("a"), in: database)
        XCTAssertEqual(outcome.code, .serverRecordChanged)
        XCTAssertNil(outcome.error?.serverRecord)
    }

    /// Uncertain: the form of an atomic failure.
    func testAnAtomicFailureFindsTheGuiltyInEachForm() async throws {
        for form in [
            #"{"serverErrorCode":"ATOMIC_ERROR","records":[{"recordName":"stale","serverErrorCode":"CONFLICT"}]}"#,
            #"{"serverErrorCode":"ATOMIC_ERROR","reason":"failed as a unit"}"#,
        ] {
            let database = try await makeDatabaseWithZones()
            let first = try await save(record("stale", ["n": 1]), to: database)
            let server = try await save(record("stale", ["n": 2], knowing: first.systemFields), to: database)
            let known = try await save(record("known", ["n": 1]), to: database)
            let body = try json(form)
            services.answer { request throws(CloudError) in
                request.operation == "records/modify" ? WebAnswer(status: 400, json: body) : nil
            }
            let result = try await save(
                [
                    record("stale", ["n": 3], knowing: first.systemFields),
                    record("known", ["n": 2], knowing: known.systemFields), record("new"),
                ],
                in: database
            )
            XCTAssertEqual(result.saveResults[id("stale")]?.code, .serverRecordChanged, form)
            XCTAssertEqual(result.saveResults[id("stale")]?.error?.serverRecord, server, form)
            XCTAssertEqual(result.saveResults[id("known")]?.code, .batchRequestFailed, form)
            XCTAssertEqual(result.saveResults[id("new")]?.code, .batchRequestFailed, form)
        }
    }

    func testAnAnsweredZoneKeepsItsResultsIfTheNextIsLost() async throws {
        let database = try await makeDatabaseWithZones()
        let other = otherZoneID.zoneName
        for code in [CloudError.Code.networkFailure, .serviceUnavailable, .serverResponseLost] {
            services.answer { request throws(CloudError) in
                let isOther = String(decoding: request.body, as: UTF8.self).contains(other)
                if isOther { throw CloudError(code, retryAfter: .seconds(7)) }
                return nil
            }
            let name = "r-\(code.name)"
            let result = try await database.modifyRecords(
                saving: [record(name), record(name, in: otherZoneID)],
                deleting: [id("x", in: otherZoneID)],
                savePolicy: .ifServerRecordUnchanged,
                atomically: false
            )
            XCTAssertNil(result.saveResults[id(name)]?.code, name)
            let lost = try XCTUnwrap(result.saveResults[id(name, in: otherZoneID)]?.error)
            XCTAssertEqual(lost.code, .serverResponseLost, name)
            XCTAssertEqual(lost.retryAfter, .seconds(7), name)
            XCTAssertEqual(result.deleteResults[id("x", in: otherZoneID)]??.code, .serverResponseLost, name)
        }
        let first = await code {
            _ = try await self.save([self.record("a", in: self.otherZoneID), self.record("a")], in: database)
        }
        XCTAssertEqual(first, .serverResponseLost, "nothing was answered, so the call fails")
    }

    func testAPageThatIsTooLargeIsRequestedAgainAtHalf() async throws {
        let database = try await makeDatabaseWithZones()
        for number in 0..<5 { try await save(record("r\(number)"), to: database) }
        let limits = Locked<[Int64]>([])
        services.answer { request throws(CloudError) in
            guard request.operation == "changes/zone", let json = try? WebJSON(request.body) else {
                return nil
            }
            let limit = json["zones"]?.array?.first?["resultsLimit"]?.int ?? 200
            limits.withLock { $0.append(limit) }
            return limit > 2 ? WebAnswer(status: 413, json: nil) : nil
        }
        let page = try await database.recordZoneChanges(
            inZoneWith: zoneID,
            since: nil,
            desiredKeys: nil,
            resultsLimit: nil
        )
        XCTAssertEqual(page.modifications.count, 1, "of the last size tried")
        XCTAssertTrue(page.moreComing)
        XCTAssertEqual(limits.withLock { $0 }, [200, 100, 50, 25, 12, 6, 3, 1])
        services.answer { request throws(CloudError) in WebAnswer(status: 413, json: nil) }
        let never = await code { _ = try await self.changes(in: database) }
        XCTAssertEqual(never, .limitExceeded, "a single record is too large")
    }

    func testATokenOfAnotherDatabaseIsExpired() async throws {
        let database = try await makeDatabaseWithZones()
        for data in [Data(), Data([0xFF, 0xFE])] {
            let zone = await code { _ = try await self.changes(in: database, since: ChangeToken(data)) }
            XCTAssertEqual(zone, .changeTokenExpired)
            let feed = await code {
                _ = try await database.databaseChanges(since: ChangeToken(data), resultsLimit: nil)
            }
            XCTAssertEqual(feed, .changeTokenExpired)
        }
    }

    // D1, D2, D4
    func testNothingIsConfirmedByAnAnswerThatIsNotOne() async throws {
        let database = try await makeDatabaseWithZones()
        for body in [nil, WebJSON.null, .array([]), .object([:])] {
            services.answer { _ throws(CloudError) in WebAnswer(status: 200, json: body) }
            var codes: [CloudError.Code?] = []
            do {
                let result = try await save([record("a")], in: database)
                codes.append(result.saveResults[id("a")]?.code)
            } catch let error as CloudError {
                codes.append(error.code)
            }
            codes.append(await code { _ = try await self.changes(in: database) })
            codes.append(await code { _ = try await database.databaseChanges(since: nil, resultsLimit: nil) })
            codes.append(await code { _ = try await database.allSubscriptions() })
            codes.append(await code { _ = try await database.userRecordName() })
            codes.append(await code { _ = try await database.recordZones(for: [self.zoneID]) })
            XCTAssertEqual(
                codes,
                Array(repeating: .serverResponseLost, count: 6),
                "\(String(describing: body))"
            )
        }
        services.answer(instead: nil)
        let stored = try await changes(in: database)
        XCTAssertEqual(stored.modifications, [:])
    }

    func testTheAccountsStatusFollowsTheAnswer() async throws {
        let database = try await makeDatabase()
        for (status, code, expected) in [
            (421, "AUTHENTICATION_REQUIRED", AccountStatus.noAccount),
            (401, "AUTHENTICATION_FAILED", .noAccount),
            (403, "ACCESS_DENIED", .restricted), (503, "TRY_AGAIN_LATER", .couldNotDetermine),
        ] {
            let body = try json(#"{"serverErrorCode":"\#(code)"}"#)
            services.answer { _ throws(CloudError) in WebAnswer(status: status, json: body) }
            let found = try await database.accountStatus()
            XCTAssertEqual(found, expected, code)
        }
    }
}
