import XCTest

@testable import CodableSync

/// Answers with a different result for each item.
extension SendingScenarios {
    private enum Partly: MergingPolicy {}
    private typealias Model = Item<Partly>

    // SN-08
    func testEachResultInAnAnswerIsHandledSeparately() async throws {
        let (phone, _) = try makeFragileDevice(Model.self)
        try await phone.engine.upload([Model("conflict", "old"), Model("gone", "old")])
        try await phone.engine.sync()
        pass()
        try await serverSave(Model("conflict", "old", note: "theirs"))
        try await serverDelete("gone")
        pass()
        phone.database.failItem("quota", CloudError(.quotaExceeded))
        try await phone.engine.upload([
            Model("saved", "new"),
            Model("conflict", "mine"),
            Model("gone", "edited"),
            Model("quota", "new"),
        ])
        do {
            try await phone.engine.sendChanges()
            XCTFail("the quota was not reported")
        } catch {
            XCTAssertEqual(error as? SyncError, .cloud(CloudError(.quotaExceeded)))
        }
        try await phone.crash()

        var server = try await serverRecords()
        let tag = try XCTUnwrap(server["saved"]?.recordChangeTag)
        try await phone.engine.upload(Model("saved", "newer"))
        try await phone.engine.sync()
        let tags = phone.database.modifies.flatMap(\.saves)
            .filter { $0.recordID.recordName == "saved" }.map(\.recordChangeTag)
        XCTAssertEqual(tags, [nil, tag], "the tag of the save before the crash was kept")
        server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["conflict", "quota", "saved"])
        XCTAssertEqual(server["conflict"]?.fields["title"], "mine")
        XCTAssertEqual(server["conflict"]?.fields["note"], "theirs")
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
        let lost = phone.events.count {
            if case .editOfDeleted("gone", _, kept: false) = $0 { true } else { false }
        }
        XCTAssertGreaterThanOrEqual(lost, 1)
    }

    // SN-09, SN-10
    func testOtherItemsOfAFailedAtomicBatchAreSentNext() async throws {
        let phone = try makeDevice(Model.self)
        try await phone.engine.upload([Model("conflict", "old"), Model("deleted", "old")])
        try await phone.engine.sync()
        pass()
        try await serverSave(Model("conflict", "theirs"))
        pass()
        phone.database.failItem("new", CloudError(.batchRequestFailed))
        phone.database.failItem("deleted", CloudError(.batchRequestFailed))
        let before = phone.database.modifies.count
        try await phone.engine.upload([Model("conflict", "mine"), Model("new", "new")])
        try await phone.engine.delete(Model("deleted"))
        try await phone.engine.sendChanges()
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["conflict", "new"])
        XCTAssertEqual(server["conflict"]?.fields["title"], "mine")
        XCTAssertLessThanOrEqual(phone.database.modifies.count - before, 3)
    }

    // SN-11
    func testABadRecordIsIsolatedWhenTheErrorNamesNone() async throws {
        let phone = try makeDevice(Model.self)
        phone.database.failRequests(with: "n31", CloudError(.invalidArguments, message: "Bad field."))
        try await phone.engine.upload((0..<50).map { Model("n\($0)") })
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 49)
        XCTAssertEqual(summary.parked, 1)
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["n31"])
        XCTAssertEqual(parked.first?.parkReason?.kind, .refused)
        let refused = phone.database.modifies.filter { $0.names.contains("n31") }.count
        XCTAssertLessThanOrEqual(refused, 8, "at most seven more rounds")
    }

    // SN-13
    func testAnItemMissingFromTheAnswerIsNotConfirmed() async throws {
        Calls.shared.reset(Partly.self)
        let phone = try makeDevice(Model.self)
        phone.database.changeModifyAnswers { answer in
            var answer = answer
            for id in answer.saveResults.keys where id.recordName == "b" { answer.saveResults[id] = nil }
            return answer
        }
        _ = try await phone.drain()
        try await phone.engine.upload([Model("a"), Model("b")])
        try await phone.engine.sendChanges()
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["b"])
        XCTAssertTrue(phone.events.all.contains(.unmentioned(recordName: "b")))
        var told = try await phone.drain()
        XCTAssertEqual(told, [.saved([Model("a")])])
        phone.database.changeModifyAnswers(nil)
        try await phone.engine.sync()
        let left = try await phone.pendingNames()
        XCTAssertEqual(left, [])
        XCTAssertEqual(Calls.shared.count(Partly.self), 0)
        told = try await phone.drain()
        XCTAssertEqual(told, [.saved([Model("b")])])
    }

    // SN-14
    func testAResultForAnItemThatWasNotSentIsIgnored() async throws {
        let phone = try makeDevice(Model.self)
        try await phone.engine.upload(Model("queued", "old"))
        try await phone.engine.sync()
        phone.database.changeModifyAnswers { answer in
            var answer = answer
            for (id, result) in answer.saveResults {
                guard var record = try? result.get() else { continue }
                for name in ["stranger", "queued"] {
                    record.recordID = RecordID(recordName: name, zoneID: id.zoneID)
                    answer.saveResults[record.recordID] = .success(record)
                    answer.deleteResults[record.recordID] = .some(nil)
                }
            }
            return answer
        }
        try await phone.engine.upload(Model("a", "new"))
        try await phone.engine.sendChanges()
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models, [Model("a", "new"), Model("queued", "old")])
        XCTAssertTrue(phone.events.all.contains(.ignoredRecords(count: 2)), "\(phone.events.all)")
        phone.database.changeModifyAnswers(nil)
        try await phone.engine.upload(Model("queued", "edited"))
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.conflictsResolved, 0)
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a", "queued"])
        XCTAssertEqual(server["queued"]?.fields["title"], "edited")
    }

    // SN-15
    func testResultsAreMatchedByName() async throws {
        Calls.shared.reset(Partly.self)
        let phone = try makeDevice(Model.self)
        let names = (0..<50).map { "n\(($0 * 37) % 50)" }
        try await phone.engine.upload(names.map { Model($0, "title of \($0)") })
        try await phone.engine.sync()
        try await phone.engine.upload(names.reversed().map { Model($0, "new title of \($0)") })
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 50)
        XCTAssertEqual(summary.conflictsResolved, 0)
        let server = try await serverRecords()
        for name in names {
            XCTAssertEqual(server[name]?.fields["title"], .string("new title of \(name)"))
        }
    }

    // SN-26
    func testAConflictWithoutTheServersRecordTriggersALookUp() async throws {
        Calls.shared.reset(Partly.self)
        let phone = try makeDevice(Model.self)
        try await phone.engine.sync()
        try await serverSave(Model("a", "theirs", note: "kept"))
        pass()
        phone.database.failItem("a", CloudError(.serverRecordChanged))
        try await phone.engine.upload(Model("a", "mine"))
        try await phone.engine.sendChanges()
        XCTAssertEqual(Calls.shared.count(Partly.self), 1)
        XCTAssertEqual(phone.database.count(.lookUp), 1)
        XCTAssertEqual(phone.database.modifies.count, 2)
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "mine")
        XCTAssertEqual(server["a"]?.fields["note"], "kept")
    }

    // SN-26: a rejection without the server's record is not a conflict; it may be an outage.
    func testARejectionWithoutTheServersRecordIsTriedAgainAndThenParked() async throws {
        let phone = try makeDevice(Model.self)
        phone.database.failItemAlways("a", CloudError(.serverRejectedRequest))
        try await phone.engine.upload(Model("a", "mine"))
        for _ in 0..<12 { try await phone.engine.sync() }
        XCTAssertEqual(phone.database.modifies.count, 8)
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.first?.parkReason?.kind, .refused)
        XCTAssertEqual(parked.first?.parkReason?.attempts, 8)
    }

    // SN-29, SN-30, SN-31
    func testARejectedRecordIsParkedWithTheServersMessage() async throws {
        let codes: [CloudError.Code] = [.permissionFailure, .invalidArguments, .referenceViolation]
        for code in codes {
            let name = code.name
            let phone = try makeDevice(Model.self) {
                $0.storage = .inMemory
                $0.zoneName = name
            }
            try await phone.engine.upload(Model("a", "server's"))
            try await phone.engine.sync()
            phone.database.failItemAlways("a", CloudError(code, message: "The server's words."))
            try await phone.engine.upload([Model("a", "mine"), Model("b"), Model("c")])
            let summary = try await phone.engine.sync()
            XCTAssertEqual(summary.sent, 2, name)
            let parked = try await phone.engine.parkedChanges()
            XCTAssertEqual(parked.map(\.recordName), ["a"], name)
            XCTAssertEqual(parked.first?.client, Model("a", "mine"), name)
            XCTAssertEqual(parked.first?.server, Model("a", "server's"), name)
            XCTAssertEqual(parked.first?.parkReason?.kind, .refused, name)
            XCTAssertTrue(parked.first?.parkReason?.message.contains("The server's words.") == true, name)
            let shown = try await phone.engine.model(named: "a")
            XCTAssertEqual(shown?.title, "mine", name)
            let server = try await serverRecords(name)
            XCTAssertEqual(server.keys.sorted(), ["a", "b", "c"], name)
        }
    }
}
