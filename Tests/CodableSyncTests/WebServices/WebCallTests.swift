import Foundation
import XCTest

@testable import CodableSync
@testable import RecordCoding

/// Calls of several requests, changes of unknown effect, and signals that nobody reads.
final class WebCallTests: CloudKitWebSessionScenario {
    // MARK: One user for each call

    func testARequestForAFormerUserIsNotSent() async throws {
        let session = try await signedIn()
        let former = session.accountGeneration
        try await session.signIn { [transport] _ in transport.signIn("_bob") }
        let count = transport.seen.count
        let error = await Self.error {
            _ = try await session.answer(
                to: WebRequest("records/lookup", Array("{}".utf8), accountGeneration: former)
            )
        }
        XCTAssertEqual(error?.code, .operationCancelled)
        XCTAssertEqual(transport.seen.count, count)
    }

    /// The engine has compared the user, then another one signs in, then the request begins.
    func testAnEditOfOneUserIsNotSentForTheNext() async throws {
        let session = try await signedIn()
        let connection = AccountConnection(
            base: CloudKitWebDatabase(session),
            generation: session.accountGeneration
        )
        let database = try connection.database
        try await session.signIn { [transport] _ in transport.signIn("_bob") }
        let id = RecordID(recordName: "a", zoneID: ZoneID(zoneName: "Item"))
        let record = Record(recordType: "Item", recordID: id, fields: ["title": .string("text of alice")])
        do {
            _ = try await database.modifyRecords(
                saving: [record],
                deleting: [],
                savePolicy: .ifServerRecordUnchanged,
                atomically: false
            )
            XCTFail("The request should fail.")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .operationCancelled)
        }
        XCTAssertEqual(transport.seen.filter { $0.operation == "records/modify" }.count, 0)
        XCTAssertThrowsError(try connection.database)
        await session.close()
    }

    /// Another user signs in behind each request, and the later ones are still the first user's.
    func testAllRequestsOfOneCallAreForOneUser() async throws {
        let services = ChangingUsers()
        let database = CloudKitWebDatabase(services)
        let ids = ["one", "two"].map { RecordID(recordName: "a", zoneID: ZoneID(zoneName: $0)) }
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await database.records(for: ids, desiredKeys: nil) },
            {
                let records = ids.map { Record(recordType: "Note", recordID: $0) }
                _ = try await database.modifyRecords(
                    saving: records,
                    deleting: [],
                    savePolicy: .ifServerRecordUnchanged,
                    atomically: true
                )
            },
            {
                _ = try await database.recordZoneChanges(
                    inZoneWith: ids[0].zoneID,
                    since: nil,
                    desiredKeys: nil,
                    resultsLimit: 8
                )
            },
            {
                let subscription = CloudSubscription(subscriptionID: "all", kind: .database)
                _ = try await database.modifySubscriptions(saving: [subscription], deleting: ["old"])
            },
        ]
        for (index, call) in calls.enumerated() {
            services.forget()
            do {
                try await call()
            } catch {
                // What the answers mean is of no interest here.
                XCTAssertTrue(error is CloudError, "\(error)")
            }
            let generations = services.generations
            XCTAssertGreaterThan(generations.count, 1, "\(index)")
            XCTAssertEqual(Set(generations).count, 1, "\(index): \(generations)")
            XCTAssertNotEqual(generations.first, .some(nil), "\(index)")
        }
    }

    // MARK: Changes of unknown effect

    func testAnAnswerOfSomethingBetweenMayHideAChange() async throws {
        let session = try await signedIn()
        for (status, isLost) in [
            (201, true), (204, true), (500, true), (502, true), (504, true), (520, true),
            (302, false), (400, false), (403, false), (404, false), (413, false), (429, false), (503, false),
        ] {
            transport.answer { _ throws(CloudError) in
                var answer = StubTransport.json(status, "<html>")
                answer.headers["retry-after"] = "7"
                return answer
            }
            let code: CloudError.Code?
            do {
                _ = try await Self.ask(session, "records/modify", isChange: true)
                code = nil
            } catch let error as CloudError {
                code = error.code
                XCTAssertEqual(error.retryAfter, .seconds(7))
            }
            XCTAssertEqual(code, isLost ? .serverResponseLost : nil, "\(status)")
            let read = try await Self.ask(session)
            XCTAssertEqual(read.status, status)
        }
        // The services' own refusal says that nothing was done.
        transport.answer { _ throws(CloudError) in
            StubTransport.json(500, #"{"serverErrorCode":"INTERNAL_ERROR"}"#)
        }
        let answer = try await Self.ask(session, "records/modify", isChange: true)
        XCTAssertEqual(answer.status, 500)
    }

    // MARK: Signals

    /// Nobody has read them; who does so later must not miss what they were about.
    func testDroppedSignalsBecomeOneOfAnyChange() async {
        let signs = WebSigns()
        var signals = signs.stream().makeAsyncIterator()
        for number in 1...40 { signs.send(.changes(in: [ZoneID(zoneName: "zone \(number)")])) }
        let first = await signals.next()
        XCTAssertEqual(first, .changes(in: nil))
        let second = await signals.next()
        XCTAssertEqual(second, .changes(in: [ZoneID(zoneName: "zone 25")]))
    }
}

/// Services whose user is another after each request; every answer needs a further request of the same call.
private final class ChangingUsers: WebConnection {
    private let state = Locked((user: 0, generations: [Int?]()))

    let identifier = "changing"
    let takesKnownChangeTags = false
    var accountGeneration: Int { state.withLock { $0.user } }
    var signals: AsyncStream<CloudSignal> { AsyncStream { $0.finish() } }

    /// For which users the requests were.
    var generations: [Int?] { state.withLock { $0.generations } }

    func forget() { state.withLock { $0.generations = [] } }

    func answer(to request: WebRequest) async throws(CloudError) -> WebAnswer {
        let count = state.withLock { state in
            state.user += 1
            state.generations.append(request.accountGeneration)
            return state.generations.count
        }
        if request.operation == "changes/zone", count == 1 { return WebAnswer(status: 413, json: nil) }
        let text =
            switch request.operation {
            case "zones/list": #"{"zones":[{"zoneID":{"zoneName":"one"}}]}"#
            case "subscriptions/list":
                #"{"subscriptions":[{"subscriptionID":"old","subscriptionType":"zone","zoneID":{"zoneName":"one"}}]}"#
            default: #"{"records":[{"recordName":"a","serverErrorCode":"CONFLICT"}]}"#
            }
        do {
            return WebAnswer(status: 200, json: try WebJSON(Array(text.utf8)))
        } catch {
            throw CloudError(.internalError, message: "\(error)")
        }
    }
}
