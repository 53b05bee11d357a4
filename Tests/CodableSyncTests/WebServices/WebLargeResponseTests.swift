import Foundation
import XCTest

@testable import CodableSync

/// Responses that are too large to be read, and answers of a server for another name.
final class WebLargeResponseTests: CloudKitWebSessionScenario {
    private static let zoneID = ZoneID(zoneName: "Item")

    private static func page(of database: CloudKitWebDatabase) async throws -> ZoneChanges {
        try await database.recordZoneChanges(
            inZoneWith: zoneID,
            since: nil,
            desiredKeys: nil,
            resultsLimit: nil
        )
    }

    /// Answers a page of more than a few records with what can't be read, and notes the limits that were asked for.
    private func limit(
        with response: @escaping @Sendable (_ next: String) -> WebTransportResponse
    ) -> Locked<[Int]> {
        let limits = Locked<[Int]>([])
        transport.answer { [transport] request throws(CloudError) in
            guard request.url.path.hasSuffix("changes/zone") else { return nil }
            let json = WebAnswer(WebTransportResponse(status: 200, body: request.body), at: Date()).json
            let limit = Int(json?["zones"]?.array?.first?["resultsLimit"]?.int ?? 200)
            limits.withLock { $0.append(limit) }
            let next = transport.signIn()
            if limit > 3 { return response(next) }
            let page =
                #"{"zones":[{"zoneID":{"zoneName":"Item"},"records":[],"syncToken":"a","moreComing":false}]}"#
            return WebTransportResponse(
                status: 200,
                headers: ["X-Apple-CloudKit-Web-Auth-Token": next],
                body: Data(page.utf8)
            )
        }
        return limits
    }

    func testAPageThatIsTooLargeIsAskedForAtHalf() async throws {
        let responses: [@Sendable (String) -> WebTransportResponse] = [
            { next in
                var response = WebTransportResponse(
                    status: 200,
                    headers: ["X-Apple-CloudKit-Web-Auth-Token": next]
                )
                response.isTooLarge = true
                return response
            },
            { next in
                let values = String(repeating: "0,", count: JSONShape.maximumValues)
                return WebTransportResponse(
                    status: 200,
                    headers: ["X-Apple-CloudKit-Web-Auth-Token": next],
                    body: Data("{\"zones\":[\(values)0]}".utf8)
                )
            },
        ]
        for response in responses {
            let session = try await signedIn()
            let limits = limit(with: response)
            let page = try await Self.page(of: CloudKitWebDatabase(session))
            XCTAssertEqual(page.changeToken, ChangeToken(web: "a"))
            XCTAssertEqual(limits.withLock { $0 }, [200, 100, 50, 25, 12, 6, 3])
            XCTAssertEqual(try stored.current, transport.newest, "The next token is in the head.")
            await session.close()
            transport.answer(instead: nil)
        }
    }

    /// A list of short strings, say; the zone's fetch must go on behind it.
    func testOneRecordMayHaveMoreValues() async throws {
        let session = try await signedIn()
        let values = String(repeating: "0,", count: JSONShape.maximumValues)
        let page =
            #"{"zones":[{"zoneID":{"zoneName":"Item"},"records":[],"syncToken":"a","moreComing":false}],"a":["#
            + values + "0]}"
        transport.answer { [transport] request throws(CloudError) in
            guard request.url.path.hasSuffix("changes/zone") else { return nil }
            return WebTransportResponse(
                status: 200,
                headers: ["X-Apple-CloudKit-Web-Auth-Token": transport.signIn()],
                body: Data(page.utf8)
            )
        }
        let found = try await Self.page(of: CloudKitWebDatabase(session))
        XCTAssertEqual(found.changeToken, ChangeToken(web: "a"))
        await session.close()
    }

    /// What was done is not known, so it counts as a lost response.
    func testAChangeWhoseResponseIsTooLargeMayHaveBeenDone() async throws {
        let session = try await signedIn()
        transport.answer { _ throws(CloudError) in
            var response = WebTransportResponse(status: 200)
            response.isTooLarge = true
            return response
        }
        let change = await Self.error { _ = try await Self.ask(session, "records/modify", isChange: true) }
        XCTAssertEqual(change?.code, .serverResponseLost)
        let look = await Self.error { _ = try await Self.ask(session, "records/lookup").success() }
        XCTAssertEqual(look?.code, .limitExceeded)
        await session.close()
    }

    /// A page of a proxy says nothing about how many records fit, and when to come again.
    func testALargeRefusalIsNoLargePage() async throws {
        let session = try await signedIn()
        let count = Locked(0)
        transport.answer { request throws(CloudError) in
            guard request.url.path.hasSuffix("changes/zone") else { return nil }
            count.withLock { $0 += 1 }
            var response = WebTransportResponse(status: 503, headers: ["Retry-After": "30"])
            response.isTooLarge = true
            return response
        }
        let database = CloudKitWebDatabase(session)
        let error = await Self.error {
            _ = try await database.recordZoneChanges(
                inZoneWith: ZoneID(zoneName: "Item"),
                since: nil,
                desiredKeys: nil,
                resultsLimit: nil
            )
        }
        XCTAssertEqual(error?.code, .serviceUnavailable)
        XCTAssertEqual(error?.retryAfter, .seconds(30))
        XCTAssertEqual(count.withLock { $0 }, 1)
        await session.close()
    }

    /// A 421 without a code is about the connection: a look is repeated at once over a new one, a change is not.
    func testAMisdirectedRequestIsRepeatedOnceOverANewConnection() async throws {
        let session = try await signedIn()
        let isNew = Locked<[Bool]>([])
        transport.answer { request throws(CloudError) in
            let count = isNew.withLock { isNew in
                isNew.append(request.needsNewConnection)
                return isNew.count
            }
            return count == 2 || count == 4 ? nil : WebTransportResponse(status: 421)
        }
        let look = try await Self.ask(session)
        XCTAssertEqual(look.status, 200)
        XCTAssertEqual(isNew.withLock { $0 }, [false, true])
        let change = try await Self.ask(session, "records/modify", isChange: true)
        XCTAssertEqual(change.status, 421)
        let next = try await Self.ask(session, "records/modify", isChange: true)
        XCTAssertEqual(next.status, 200)
        XCTAssertEqual(isNew.withLock { $0 }, [false, true, false, true])
        let twice = try await Self.ask(session)
        XCTAssertEqual(twice.status, 421)
        XCTAssertEqual(isNew.withLock { $0 }, [false, true, false, true, false, true])
        await session.close()
    }
}
