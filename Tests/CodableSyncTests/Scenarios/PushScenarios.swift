import Foundation
import XCTest

@testable import CodableSync

/// The payload of a push about a zone, with changes to the details of its subscription.
private func push(
    container: String = "iCloud.notes",
    id: String? = UUID().uuidString,
    _ change: (inout [String: Any]) -> Void = { _ in }
) -> [AnyHashable: Any] {
    var details: [String: Any] = [
        "dbs": 1, "sid": "codablesync-Item", "zid": "Item", "zoid": "_0123456789abcdef",
    ]
    change(&details)
    var cloud: [String: Any] = ["ce": 2, "cid": container, "ckuserid": "_0123456789abcdef", "fet": details]
    cloud["nid"] = id
    return ["aps": ["content-available": 1], "ck": cloud]
}

/// Scenarios, group K: pushes, lost pushes, and notifications that belong to something else.
class PushScenarios: EngineScenario {
    /// A device that knows its container and fetches only on request.
    func makePhone(_ configure: (inout SyncConfiguration) -> Void = { _ in }) async throws -> Device<Note> {
        let phone = try makeDevice(Note.self) {
            $0.containerIdentifier = "iCloud.notes"
            configure(&$0)
        }
        try await phone.engine.sync()
        return phone
    }

    // PS-01
    func testAPushFetchesOnceAndReportsWhetherThereWasNewData() async throws {
        for isAutomatic in [false, true] {
            let name = "a-\(isAutomatic)"
            let phone = try await makePhone {
                $0.automaticallySyncs = isAutomatic
                $0.storage = .inMemory
            }
            try await quiet(phone)
            let before = phone.database.totalCount
            try await serverSaveUnheard(Note(name, "theirs"), phone)
            let outcome = await phone.engine.handleNotification(push())
            XCTAssertEqual(outcome, .newData)
            XCTAssertEqual(phone.database.totalCount, before + 1)
            let model = try await phone.engine.model(named: name)
            XCTAssertEqual(model?.title, "theirs")
            let second = await phone.engine.handleNotification(push())
            XCTAssertEqual(second, .noData)
            XCTAssertEqual(phone.database.totalCount, before + 2)
            try await phone.engine.close()
        }
    }

    // PS-02, E3, E4, E5, E8
    func testAPushForAnotherEngineDoesNothing() async throws {
        let phone = try await makePhone()
        let before = phone.database.totalCount
        let others: [(String, [AnyHashable: Any])] = [
            ("container", push(container: "iCloud.other")),
            ("container's case", push(container: "icloud.notes")),
            ("subscription of another engine", push { $0["sid"] = "codablesync-Photo" }),
            ("unknown subscription", push { $0["sid"] = "private-db" }),
            ("zone of another model", push { $0["zid"] = "Photo" }),
            ("public database", push { $0["dbs"] = 2 }),
            ("shared database", push { $0["dbs"] = 3 }),
            ("unknown database", push { $0["dbs"] = 99 }),
        ]
        for (what, payload) in others {
            let outcome = await phone.engine.handleNotification(payload)
            XCTAssertEqual(outcome, .notOurs, what)
        }
        XCTAssertEqual(phone.database.totalCount, before)
    }

    // E1, E2
    func testAnythingButAPushIsNotOurs() async throws {
        let phone = try await makePhone()
        let before = phone.database.totalCount
        let others: [[AnyHashable: Any]] = [
            [:], ["aps": ["alert": "Hello"]], ["ck": "text"], ["ck": [1]], ["ck": 7], ["ck": NSNull()],
            ["ck": [:]],
        ]
        for other in others {
            let outcome = await phone.engine.handleNotification(other)
            XCTAssertEqual(outcome, .notOurs, "\(other)")
        }
        XCTAssertEqual(phone.database.totalCount, before)
    }

    // E6, E7
    func testAHostilePushIsNotOursAndWritesNoLogLine() async throws {
        let phone = try await makePhone()
        let before = phone.database.totalCount
        phone.events.clear()
        var deep: [String: Any] = ["zid": "Item"]
        for _ in 0..<1000 { deep = ["ck": deep] }
        let long = String(repeating: "Item", count: 2500)
        let hostile: [[AnyHashable: Any]] = [
            push { $0["zid"] = "Item\u{0}\nforged" }, push { $0["zid"] = long }, push { $0["zid"] = 7 },
            push { $0["zid"] = ["Item"] }, push { $0["zoid"] = 7 }, push { $0["sid"] = long },
            push(container: "iCloud.notes\n"), push { $0["dbs"] = "1" }, ["ck": deep],
        ]
        for payload in hostile {
            let outcome = await phone.engine.handleNotification(payload)
            XCTAssertEqual(outcome, .notOurs, "\(payload)".prefix(200).description)
        }
        XCTAssertEqual(phone.database.totalCount, before)
        XCTAssertEqual(phone.events.all, [])
    }

    // E7: deep nesting outside the parts that are read does not matter.
    func testAPushWithDeepExtrasIsStillAPush() async throws {
        let phone = try await makePhone()
        var deep: [String: Any] = [:]
        for _ in 0..<1000 { deep = ["x": deep] }
        var payload = push()
        payload["deep"] = deep
        let outcome = await phone.engine.handleNotification(payload)
        XCTAssertEqual(outcome, .noData)
    }

    // E5, PS-06
    func testAPrunedPushFetches() async throws {
        let phone = try await makePhone()
        try await serverSave(Note("a", "theirs"))
        let before = phone.database.count(.fetch)
        let first = await phone.engine.handleNotification(push { $0 = ["dbs": 1] })
        XCTAssertEqual(first, .newData)
        let bare: [AnyHashable: Any] = ["ck": ["cid": "iCloud.notes", "p": 1] as [String: Any]]
        let second = await phone.engine.handleNotification(bare)
        XCTAssertEqual(second, .noData)
        XCTAssertEqual(phone.database.count(.fetch), before + 2)
    }

    // PS-06
    func testAPrunedPushMakesEachEngineOfTheContainerFetch() async throws {
        let notes = try await makePhone()
        let others = try await makePhone { $0.zoneName = "Other" }
        try await serverSave(Note("a", "theirs"))
        try await serverSave(Note("b", "theirs"), zone: "Other")
        let payload = push { $0 = ["dbs": 1] }
        for engine in [notes.engine, others.engine] {
            let outcome = await engine.handleNotification(payload)
            XCTAssertEqual(outcome, .newData)
        }
    }

    // E9
    func testAThousandCopiesOfANotificationFetchOnce() async throws {
        let phone = try await makePhone()
        try await serverSave(Note("a", "theirs"))
        let before = phone.database.count(.fetch)
        let engine = phone.engine
        let id = UUID().uuidString
        let concurrent = (0..<500).map { _ in
            Task { await engine.handleNotification(push(id: id)) }
        }
        var outcomes: [NotificationOutcome] = []
        for task in concurrent { outcomes.append(await task.value) }
        for _ in 0..<500 { outcomes.append(await engine.handleNotification(push(id: id))) }
        XCTAssertEqual(phone.database.count(.fetch), before + 1)
        XCTAssertEqual(outcomes.count { $0 == .newData }, 1)
        XCTAssertEqual(outcomes.count { $0 == .noData }, 999)
    }

    // E9: a notification whose fetch failed is not handled yet.
    func testACopyOfANotificationFetchesAgainIfItsFetchFailed() async throws {
        let phone = try await makePhone()
        try await serverSave(Note("a", "theirs"))
        phone.database.failNext(.fetch, .networkFailure)
        let id = UUID().uuidString
        let first = await phone.engine.handleNotification(push(id: id))
        XCTAssertEqual(first, .failed)
        let second = await phone.engine.handleNotification(push(id: id))
        XCTAssertEqual(second, .newData)
    }

    // PS-01: fifty at once, as after a night with the device turned off.
    func testFiftyPushesAtOnceCauseAtMostTwoFetches() async throws {
        let phone = try await makePhone()
        let before = phone.database.count(.fetch)
        let gate = Gate()
        phone.database.plan(.fetch, .holdBefore(gate))
        let engine = phone.engine
        let pushes = (0..<50).map { _ in
            Task { await engine.handleNotification(push()) }
        }
        await engine.reach("all pushes have arrived") { $0.waiterCount == 50 }
        gate.open()
        for push in pushes { _ = await push.value }
        XCTAssertEqual(phone.database.count(.fetch), before + 2)
    }

    // E10, PS-04
    func testAPushDuringTheFirstStartUsesItsFetch() async throws {
        for isAutomatic in [true, false] {
            let phone = try makeDevice(Note.self) {
                $0.containerIdentifier = "iCloud.notes"
                $0.automaticallySyncs = isAutomatic
                $0.storage = .inMemory
            }
            try await serverSave(Note("a", "theirs"))
            let gate = Gate()
            phone.database.plan(.account, .holdBefore(gate))
            let engine = phone.engine
            let outcome = Task { await engine.handleNotification(push()) }
            await gate.reached()
            await engine.reach("the push waits") { $0.waiterCount == 1 }
            XCTAssertEqual(phone.database.totalCount, 1, "only the account is checked")
            gate.open()
            let found = await outcome.value
            XCTAssertEqual(found, .newData)
            XCTAssertEqual(phone.database.count(.fetch), 1)
            try await phone.engine.close()
        }
    }

    // E10, PS-04
    func testAPushToAStoppedEngineSendsNoRequestUntilTheStart() async throws {
        let phone = try await makePhone { $0.automaticallySyncs = true }
        try await quiet(phone)
        await phone.engine.stop()
        try await serverSave(Note("a", "theirs"))
        let before = phone.database.totalCount
        let outcome = await phone.engine.handleNotification(push())
        XCTAssertEqual(outcome, .noData)
        try await quiet(phone)
        XCTAssertEqual(phone.database.totalCount, before)
        try await phone.engine.start()
        try await quiet(phone)
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model?.title, "theirs")
    }

    // E10
    func testAPushWithoutAUserSendsNoRequest() async throws {
        let phone = try await makePhone()
        phone.database.setAccount(.noAccount)
        await phone.engine.core.process(.signal(.accountChanged))
        _ = await phone.beginSync().result
        try await quiet(phone)
        let before = phone.database.totalCount
        for _ in 0..<5 {
            let outcome = await phone.engine.handleNotification(push())
            XCTAssertEqual(outcome, .noData)
        }
        try await quiet(phone)
        XCTAssertEqual(phone.database.totalCount, before)
        phone.database.setAccount(nil)
        try await serverSave(Note("a", "theirs"))
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.fetched, 1)
    }

    // G4, E10
    func testAPushToAClosedEngineSendsNoRequest() async throws {
        let phone = try await makePhone()
        try await phone.engine.close()
        let before = phone.database.totalCount
        let outcome = await phone.engine.handleNotification(push())
        XCTAssertEqual(outcome, .noData)
        let stranger = await phone.engine.handleNotification(["aps": 1])
        XCTAssertEqual(stranger, .notOurs)
        XCTAssertEqual(phone.database.totalCount, before)
    }

    // PS-01: a push does not concern unsent changes.
    func testAPushSendsNoChangesWithoutAutomaticSync() async throws {
        let phone = try await makePhone()
        try await phone.engine.upload(Note("mine"))
        let outcome = await phone.engine.handleNotification(push())
        XCTAssertEqual(outcome, .noData)
        XCTAssertEqual(phone.database.count(.modify), 0)
    }

    // PS-05
    func testAnAppThatResignsActiveCanSendItsChanges() async throws {
        let phone = try await makePhone { $0.automaticallySyncs = true }
        try await quiet(phone)
        phone.database.failNext(.modify, .networkFailure, times: 6)
        try await phone.engine.upload([Note("a"), Note("b")])
        try await passUntil("the engine waits for a long time", phone) { phone.database.count(.modify) >= 6 }
        phone.database.clearPlans()
        let (fetches, sends) = (phone.database.count(.fetch), phone.database.count(.modify))
        let summary = try await phone.engine.sendChanges()
        XCTAssertEqual(summary.sent, 2)
        XCTAssertEqual(summary.pending, 0)
        XCTAssertEqual(phone.database.count(.modify), sends + 1)
        XCTAssertEqual(phone.database.count(.fetch), fetches)
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a", "b"])
    }

    // PS-07: it neither fails a call nor holds one up.
    func testAnUnansweredSubscriptionFailsNoCall() async throws {
        let phone = try makeDevice(Note.self)
        let gate = Gate()
        phone.database.plan(.subscriptions, .holdBefore(gate))
        try await phone.engine.upload(Note("a"))
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 1)
        await gate.reached()
        clock.advance(by: .seconds(30))
        let hold = Gate()
        phone.database.plan(.fetch, .holdBefore(hold))
        let second = phone.beginSync()
        await hold.reached()
        clock.advance(by: .seconds(30))
        await phone.engine.reach("the subscription request is abandoned") {
            $0.machine?.context.requests.contains(.subscription) == false
        }
        hold.open()
        _ = try await second.value
        gate.open()
    }

    /// Saves a record as another device, without causing a signal.
    func serverSaveUnheard(_ note: Note, _ phone: Device<Note>) async throws {
        let cloud = (phone.database.base as? FakeDatabase)?.cloud
        cloud?.pushes = false
        try await serverSave(note)
        cloud?.pushes = true
    }
}
