import XCTest

@testable import CodableSync

/// Lost zones, and pages that are requested only once.
final class ZonePains: ZoneScenario {
    // P-17
    func testALostZoneNeitherWipesDataNorStopsSync() async throws {
        for loss in Loss.allCases {
            try setUpWithError()
            let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
            try await phone.engine.upload(Note("a", "Tea"))
            try await quiet(phone)
            _ = try await phone.drain()
            try await remove(loss, hidingItFrom: phone.database)
            try await phone.engine.upload(Note("b", "Milk"))
            // Only a client's deletion removes data; after a purge, data waits for the app's decision.
            if loss == .purged {
                try await quiet(phone)
                let status = try await phone.engine.diagnostics().status
                XCTAssertEqual(status, .waitingForDecision)
                let kept = try await phone.engine.allModels().map(\.id)
                XCTAssertEqual(kept, ["a", "b"])
                let titles = try await serverTitles()
                XCTAssertEqual(titles, [:])
                try await phone.engine.resolvePurge(.uploadAgain)
            }
            try await quiet(phone)
            let titles = try await serverTitles()
            XCTAssertEqual(titles, loss == .deleted ? ["b": "Milk"] : ["a": "Tea", "b": "Milk"], "\(loss)")
            try await assertEqualEverywhere(phone)
            try await phone.engine.close()
        }
    }

    // P-18: exactly 50, since the ledger reports on the full last page that nothing more is coming.
    func testAThousandRecordsTakeFiftyRequestsEachWithThePreviousToken() async throws {
        let phone = try makeDevice(Note.self) { $0.fetchPageSize = 20 }
        try await fill(phone.database, 1000)
        let summary = try await phone.engine.fetchChanges()
        XCTAssertEqual(summary.fetched, 1000)
        XCTAssertEqual(phone.database.count(.fetch), 50)
        let asked = phone.database.askedTokens
        XCTAssertEqual(asked, [nil] + phone.database.givenTokens.dropLast().map { $0 })
        XCTAssertEqual(Set(asked).count, 50)
        // The next fetch continues from the last token.
        try await phone.engine.fetchChanges()
        XCTAssertEqual(phone.database.askedTokens.last, phone.database.givenTokens[49])
    }

    // P-18: if the server reports `moreComing` on a full last page, the fetch takes one more request.
    func testMoreComingOnAFullLastPageCostsOneMoreRequest() async throws {
        let phone = try makeDevice(Note.self) { $0.fetchPageSize = 20 }
        try await fill(phone.database, 100)
        phone.database.changeFetchAnswers { page in
            var page = page
            page.moreComing = page.modifications.count == 20
            return page
        }
        try await phone.engine.fetchChanges()
        XCTAssertEqual(phone.database.count(.fetch), 6)
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 100)
    }
}
