import XCTest

@testable import CodableSync

/// Scenarios, group B: sending, batches, partial results.
class SendingScenarios: EngineScenario {
    /// A text of this many bytes.
    func text(ofBytes count: Int) -> String { String(repeating: "x", count: count) }

    // SN-01, SN-02
    func testACreationHasNoTagAndEachEditHasTheTagOfThePreviousSave() async throws {
        let phone = try makeDevice(Note.self)
        var tags: [String?] = []
        for revision in 0..<3 {
            try await phone.engine.upload(Note("a", "v\(revision)"))
            try await phone.engine.sync()
            tags.append(try await serverRecords()["a"]?.recordChangeTag)
        }
        let sent = phone.database.modifies.flatMap(\.saves).map(\.recordChangeTag)
        XCTAssertEqual(sent, [nil, tags[0], tags[1]])
        XCTAssertEqual(Set(tags).count, 3)

        try await phone.engine.delete(Note("a"))
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server, [:])
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models, [])
        let diagnostics = try await phone.engine.diagnostics()
        XCTAssertEqual(diagnostics.knownCount, 0)
        XCTAssertEqual(diagnostics.pendingCount, 0)
    }

    // SN-03
    func testNoRequestExceedsTheItemLimit() async throws {
        for limit in [400, 200] {
            let phone = try makeDevice(Note.self) {
                $0.storage = .inMemory
                $0.zoneName = "Zone\(limit)"
            }
            phone.database.setLimits(DatabaseLimits(maximumItems: limit))
            try await phone.engine.upload((0..<401).map { Note("n\($0)") })
            let summary = try await phone.engine.sync()
            XCTAssertEqual(summary.sent, 401)
            let counts = phone.database.modifies.map(\.names.count)
            XCTAssertLessThanOrEqual(counts.max() ?? 0, limit)
            XCTAssertEqual(counts.count, limit == 400 ? 2 : 3)
            let server = try await serverRecords("Zone\(limit)")
            XCTAssertEqual(server.count, 401)
        }
    }

    // SN-04
    func testNoRequestExceedsTheByteLimit() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload((0..<10).map { Note("n\($0)", text(ofBytes: 300_000)) })
        try await phone.engine.sync()
        for request in phone.database.modifies {
            XCTAssertLessThanOrEqual(request.bytes, 2_000_000)
        }
        XCTAssertEqual(phone.database.modifies.count, 2)
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 10)
    }

    // SN-05
    func testATooLargeBatchIsHalved() async throws {
        let phone = try makeDevice(Note.self)
        phone.database.acceptAtMost(3)
        try await phone.engine.upload((0..<8).map { Note("n\($0)") })
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 8)
        XCTAssertLessThanOrEqual(phone.database.count(.modify), 15)
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 8)
    }

    // SN-06
    func testARecordTooLargeForTheServerIsParkedOnce() async throws {
        for refusesWholeRequests in [false, true] {
            let zone = refusesWholeRequests ? "Whole" : "Item"
            let phone = try makeDevice(Note.self) {
                $0.storage = .inMemory
                $0.zoneName = zone
            }
            let error = CloudError(.limitExceeded)
            if refusesWholeRequests {
                phone.database.failRequests(with: "n7", error)
            } else {
                phone.database.failItemAlways("n7", error)
            }
            try await phone.engine.upload((0..<20).map { Note("n\($0)", text(ofBytes: 1000)) })
            let summary = try await phone.engine.sync()
            XCTAssertEqual(summary.sent, 19, zone)
            XCTAssertEqual(summary.parked, 1, zone)
            let parked = try await phone.engine.parkedChanges()
            XCTAssertEqual(parked.map(\.recordName), ["n7"], zone)
            XCTAssertEqual(parked.first?.parkReason?.kind, .tooLarge, zone)
            let message = parked.first?.parkReason?.message ?? ""
            XCTAssertNotNil(message.firstMatch(of: /\b1[01]\d\d bytes/), message)
            XCTAssertTrue(message.contains("\(RecordLimits.maximumRecordBytes)"), message)

            let requests = phone.database.modifies.count
            for _ in 0..<3 { try await phone.engine.sync() }
            XCTAssertEqual(phone.database.modifies.count, requests, zone)
            XCTAssertEqual(phone.events.parkedNames, ["n7"], zone)

            // An edit replaces the parked one.
            phone.database.failItemAlways("n7", nil)
            phone.database.failRequests(with: "n7", nil)
            try await phone.engine.upload(Note("n7", "small"))
            try await phone.engine.sync()
            let server = try await serverRecords(zone)
            XCTAssertEqual(server.count, 20, zone)
            let left = try await phone.engine.parkedChanges()
            XCTAssertEqual(left, [], zone)
        }
    }

    // SN-07
    func testAServerThatAcceptsNothingConfirmsNothing() async throws {
        let phone = try makeDevice(Note.self)
        phone.database.acceptAtMost(0)
        try await phone.engine.upload((0..<4).map { Note("n\($0)") })
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 0)
        XCTAssertEqual(summary.parked, 4)
        XCTAssertFalse(phone.database.modifies.contains { $0.names.isEmpty })
        XCTAssertLessThanOrEqual(phone.database.modifies.count, 8)
        let told = try await phone.drain()
        XCTAssertEqual(told, [])

        phone.database.acceptAtMost(nil)
        try await phone.engine.retry(named: (0..<4).map { "n\($0)" })
        try await phone.engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 4)
    }

    // SN-33
    func testAParkedItemAtTheHeadHoldsUpNoOthers() async throws {
        let phone = try makeDevice(Note.self)
        phone.database.failItemAlways("first", CloudError(.invalidArguments))
        try await phone.engine.upload(Note("first"))
        let count = 1300
        try await phone.engine.upload((0..<count).map { Note("n\($0)") })
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, count)
        // All changes, and the rejected one.
        XCTAssertEqual(phone.database.modifies.count, (count + 1 + 399) / 400)
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["first"])
    }

    // SN-35
    func testHundredsOfEditsArriveWithAllFields() async throws {
        // Three full requests and a partial one, four full pages and a partial one; fewer on a directory.
        let phone = try makeDevice(Note.self)
        phone.database.setLimits(DatabaseLimits(maximumItems: 120, maximumBytes: 1_000_000))
        let tablet = try makeDevice(Note.self) { $0.fetchPageSize = 90 }
        let models = (0..<400).map { number in
            Note(
                "n\(number)",
                "title \(number)",
                note: number % 3 == 0 ? nil : "note \(number)",
                color: number % 2 == 0 ? "red" : nil,
                count: number,
                tags: (0..<number % 4).map { "tag \($0)" }
            )
        }
        try await phone.engine.upload(models.map { Note($0.id) })
        try await phone.engine.sync()
        try await phone.engine.upload(models)
        try await settle(phone, tablet)
        try await assertEqualEverywhere(phone, tablet)
        let onTablet = try await tablet.engine.allModels()
        XCTAssertEqual(onTablet, models.sorted { $0.id < $1.id })
    }
}
