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

    /// A user who is restricted gets another code.
    override func setAccount(_ status: AccountStatus, of database: any CloudDatabase) -> Bool {
        let answer: WebAnswer?
        switch status {
        case .available: answer = nil
        case .noAccount:
            let code = WebJSON.string("AUTHENTICATION_REQUIRED")
            answer = WebAnswer(status: 421, json: .object(["serverErrorCode": code]))
        case .temporarilyUnavailable: answer = WebAnswer(status: 401, json: nil)
        case .restricted, .couldNotDetermine: return false
        }
        services.answer { _ throws(CloudError) in answer }
        return true
    }

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

    // D20
    func testARecordInAConflictIsNotTakenForTheServers() async throws {
        let database = try await makeDatabaseWithZones()
        let server = try await save(record("a", ["n": 1]), to: database)
        let other = #""recordChangeTag":"x","fields":{"n":{"value":9}}"#
        for record in [
            #"{"recordName":"b","recordType":"Note",\#(other)}"#,
            #"{"recordName":"a","recordType":"Task",\#(other)}"#, "null", "7",
        ] {
            let conflict = #"{"recordName":"a","serverErrorCode":"CONFLICT","serverRecord":\#(record)}"#
            let body = try json(#"{"records":[\#(conflict)]}"#)
            let strangers = try json(#"{"records":[{"recordName":"b","recordType":"Note",\#(other)}]}"#)
            for isFound in [true, false] {
                services.answer { request throws(CloudError) in
                    if request.operation == "records/modify" { return WebAnswer(status: 200, json: body) }
                    return isFound ? nil : WebAnswer(status: 200, json: strangers)
                }
                let before = services.operations.count
                let outcome = try await outcome(of: self.record("a", ["n": 2]), in: database)
                XCTAssertEqual(outcome.code, .serverRecordChanged, record)
                XCTAssertEqual(outcome.error?.serverRecord, isFound ? server : nil, record)
                XCTAssertEqual(services.operations.dropFirst(before).last, "records/lookup", record)
            }
        }
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
        for (status, form) in [
            (
                400,
                #"{"serverErrorCode":"ATOMIC_ERROR","records":[{"recordName":"stale","serverErrorCode":"CONFLICT"},"#
                    + #"{"recordName":"new","recordType":"Note","recordChangeTag":"k","fields":{}}]}"#
            ),
            (400, #"{"serverErrorCode":"ATOMIC_ERROR","reason":"failed as a unit"}"#),
            (400, #"{"serverErrorCode":"ATOMIC_ERROR","records":[]}"#),
            (200, #"{"serverErrorCode":"ATOMIC_ERROR"}"#),
            (
                200,
                #"{"records":[{"recordName":"stale","serverErrorCode":"ATOMIC_ERROR"},"#
                    + #"{"recordName":"known","serverErrorCode":"ATOMIC_ERROR"},"#
                    + #"{"recordName":"new","serverErrorCode":"ATOMIC_ERROR"}]}"#
            ),
        ] {
            let database = try await makeDatabaseWithZones()
            let first = try await save(record("stale", ["n": 1]), to: database)
            let server = try await save(record("stale", ["n": 2], knowing: first.systemFields), to: database)
            let known = try await save(record("known", ["n": 1]), to: database)
            let body = try json(form)
            services.answer { request throws(CloudError) in
                request.operation == "records/modify" ? WebAnswer(status: status, json: body) : nil
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
            XCTAssertEqual(
                result.saveResults[id("new")]?.code,
                .batchRequestFailed,
                "nothing is saved: \(form)"
            )
        }
    }

    /// The engine sends fewer of them then.
    func testAnAtomicFailureWhoseGuiltyRecordIsNotFoundFailsTheRequest() async throws {
        let database = try await makeDatabaseWithZones()
        let body = try json(#"{"serverErrorCode":"ATOMIC_ERROR"}"#)
        for error in [nil, CloudError(.networkFailure)] {
            services.answer { request throws(CloudError) in
                if request.operation == "records/modify" { return WebAnswer(status: 400, json: body) }
                if let error { throw error }
                return nil
            }
            let code = await code {
                _ = try await self.save([self.record("a"), self.record("b")], in: database)
            }
            XCTAssertEqual(code, error?.code ?? .unknown("ATOMIC_ERROR"))
        }
    }

    /// A refusal of the whole request names no record, so none is known to be gone.
    func testANotFoundOfTheWholeRequestConfirmsNoDeletion() async throws {
        let database = try await makeDatabaseWithZones()
        let body = try json(#"{"serverErrorCode":"NOT_FOUND"}"#)
        for status in [404, 200] {
            services.answer { _ throws(CloudError) in WebAnswer(status: status, json: body) }
            let deleting = await code { _ = try await self.delete(self.id("a"), from: database) }
            XCTAssertEqual(deleting, .unknown("NOT_FOUND"), "\(status)")
            let lookingUp = await code { _ = try await self.lookUp(self.id("a"), in: database) }
            XCTAssertEqual(lookingUp, .unknown("NOT_FOUND"), "\(status)")
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

    /// The services may say it of the whole request.
    func testATokenThatTheRequestIsRefusedForIsExpired() async throws {
        let database = try await makeDatabaseWithZones()
        let token = ChangeToken(web: "z-1")
        for (status, text) in [
            (400, #"{"serverErrorCode":"BAD_REQUEST","reason":"Unknown sync continuation type"}"#),
            (200, #"{"serverErrorCode":"CHANGE_TOKEN_EXPIRED"}"#),
        ] {
            let body = try json(text)
            services.answer { _ throws(CloudError) in WebAnswer(status: status, json: body) }
            let zone = await code { _ = try await self.changes(in: database, since: token) }
            XCTAssertEqual(zone, .changeTokenExpired, text)
            let feed = await code { _ = try await database.databaseChanges(since: token, resultsLimit: nil) }
            XCTAssertEqual(feed, .changeTokenExpired, text)
            if status == 200 { continue }
            let first = await code { _ = try await self.changes(in: database) }
            XCTAssertEqual(first, .invalidArguments, "no token was sent")
        }
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
    }

    /// A sign-out may remove a user's records, so only the service itself can say that there is no user.
    func testTheAccountsStatusFollowsTheAnswer() async throws {
        let database = try await makeDatabase()
        for (status, code, expected) in [
            (421, "AUTHENTICATION_REQUIRED", AccountStatus.noAccount),
            (401, "AUTHENTICATION_FAILED", .noAccount),
            (403, "ACCESS_DENIED", .restricted), (401, nil, .temporarilyUnavailable),
        ] {
            let body = try code.map { try json(#"{"serverErrorCode":"\#($0)"}"#) }
            services.answer { _ throws(CloudError) in WebAnswer(status: status, json: body) }
            let found = try await database.accountStatus()
            XCTAssertEqual(found, expected, "\(status)")
        }
        for (status, expected) in [(503, CloudError.Code.serviceUnavailable), (421, .networkFailure)] {
            services.answer { _ throws(CloudError) in
                WebAnswer(status: status, json: nil, retryAfter: .seconds(7))
            }
            do {
                let found = try await database.accountStatus()
                XCTFail("\(found)")
            } catch let error as CloudError {
                XCTAssertEqual(error.code, expected)
                XCTAssertEqual(error.retryAfter, .seconds(7))
            }
        }
    }

    func testADeletedZoneIsSaidToBeDeleted() async throws {
        let database = try await makeDatabaseWithZones()
        let body = try json(#"{"zones":[{"zoneID":{"zoneName":"Contract"},"syncToken":"z"}]}"#)
        services.answer { _ throws(CloudError) in WebAnswer(status: 200, json: body) }
        let result = try await database.modifyRecordZones(saving: [], deleting: [zoneID])
        XCTAssertEqual(result.deleteResults[zoneID]??.code, .serverResponseLost)
    }

    func testASubscriptionThatAnotherDeviceCreatedIsThere() async throws {
        let database = try await makeDatabaseWithZones()
        let subscription = CloudSubscription(subscriptionID: "notes", kind: .zone(zoneID))
        let body = try json(#"{"subscriptions":[{"subscriptionID":"notes","serverErrorCode":"EXISTS"}]}"#)
        services.answer { request throws(CloudError) in
            request.operation == "subscriptions/modify" ? WebAnswer(status: 200, json: body) : nil
        }
        let made = try await database.modifySubscriptions(saving: [subscription], deleting: [])
        XCTAssertEqual(try made.saveResults["notes"]?.get(), subscription)
        services.answer(instead: nil)
        _ = try await database.modifyRecordZones(saving: [], deleting: [zoneID, otherZoneID])
        let empty = CloudSubscription(subscriptionID: "all", kind: .database)
        let none = try await database.modifySubscriptions(saving: [empty], deleting: [])
        XCTAssertEqual(none.saveResults["all"]?.code, .zoneNotFound)
    }
}
