import RecordCoding
import XCTest

@testable import CodableSync

/// Which request gets the slot next; the harness detects two requests at once.
final class MachineSlotTests: MachineTestCase {
    private func makeManual() { machine.machine.context.configuration.automaticallySyncs = false }

    private func beginSync(_ parts: SyncParts = [.fetch, .send]) -> [SyncAction] {
        machine.run(.calls(.sync(machine.newCall(), parts)))
    }

    private func answerLookUp(_ version: KnownVersion?) -> [SyncAction] {
        guard let request = machine.lookUpRequest else { return [] }
        let found = request.names.map { LookedUp(name: $0, result: .success(version)) }
        return machine.run(.response(request.id, .success(.records(found))))
    }

    // MARK: The order

    func testAPageAndASendTakeTurns() {
        machine = .synced { $0.maximumItems = 1 }
        machine.run(.calls(.stop))
        for (number, name) in ["A", "B", "C"].enumerated() { machine.upload(name, UInt64(number)) }
        var requests = machine.run(.calls(.start)).requests
        for page in 1...3 {
            requests += machine.answerFetch(token: "\(page)", moreComing: true).requests
            requests += saveAll(from: UInt64(page * 10)).requests
        }
        XCTAssertEqual(
            requests,
            ["fetch 0", "send A=0@-", "fetch 1", "send B=1@-", "fetch 2", "send C=2@-", "fetch 3"]
        )
    }

    func testLookUpsComeFirst() {
        machine.run(.signal(.changes(in: nil)))
        machine.upload("B", 2)
        XCTAssertEqual(
            machine.answerFetch(failed: ["A"], token: "1", moreComing: true).requests,
            ["lookUp A"]
        )
        XCTAssertEqual(answerLookUp(KnownVersion(5)).requests, ["send B=2@-"])
        XCTAssertEqual(saveAll(from: 10).requests, ["fetch 1"])
    }

    func testNoRequestIsSentUntilTheLastAnswerIsStored() {
        machine.upload("A", 1)
        machine.run(.signal(.changes(in: nil)))
        guard let send = machine.sendRequest else { return XCTFail("no send request") }
        let saved = SendResult(name: "A", handle: 1, outcome: .saved(KnownVersion(10)))
        let sent = machine.run(.response(send.id, .success(.sendResults([saved]))))
        guard case .store? = sent.first else { return XCTFail("\(sent)") }
        XCTAssertEqual(sent.requests, ["fetch 0"])
    }

    func testTheFeedIsReadOnceThePageIsStored() {
        machine = MachineHarness()
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.run(.response(machine.setupRequest ?? 0, .success(.zoneSaved)))
        XCTAssertNotNil(machine.fetchRequest, "the subscription needs no slot")
        let missing = CloudError(.zoneNotFound)
        XCTAssertEqual(machine.run(.response(machine.setupRequest ?? 0, .failure(missing))).requests, [])
        XCTAssertEqual(machine.answerFetch(token: "0").requests, ["readDatabaseChanges"])
    }

    // MARK: Waits

    func testAWaitingFetchDelaysNoSend() throws {
        machine.run(.signal(.changes(in: nil)))
        let fetch = try XCTUnwrap(machine.fetchRequest?.id)
        machine.run(.response(fetch, .failure(CloudError(.networkFailure))))
        XCTAssertEqual(machine.upload("A", 1).requests, ["send A=1@-"])
    }

    func testAWaitingSendDelaysNoPage() {
        for code in [CloudError.Code.networkFailure, .quotaExceeded] {
            machine = .synced()
            machine.upload("A", 1)
            machine.failSend(CloudError(code))
            XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, ["fetch 0"], code.name)
        }
    }

    func testAWaitingLookUpDelaysNothing() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1", moreComing: true)
        let request = try XCTUnwrap(machine.lookUpRequest?.id)
        let failed = machine.run(.response(request, .failure(CloudError(.networkFailure))))
        XCTAssertEqual(failed.requests, ["fetch 1"])
        machine.upload("B", 2)
        XCTAssertEqual(machine.answerFetch(token: "2").requests, ["send B=2@-"])
    }

    /// The wait applies to all requests, and none is in flight meanwhile.
    func testTheServersWaitDelaysAllRequests() throws {
        machine.run(.signal(.changes(in: nil)))
        let fetch = try XCTUnwrap(machine.fetchRequest?.id)
        let wait = CloudError(.requestRateLimited, retryAfter: .seconds(30))
        machine.run(.response(fetch, .failure(wait)))
        XCTAssertEqual(machine.upload("A", 1).requests, [])
        XCTAssertEqual(machine.open, [:])
        XCTAssertEqual(machine.fireNext { $0 == .serverWait }.requests, ["send A=1@-"])
    }

    // MARK: The first page

    func testASyncReadsItsFirstPageBeforeAnySend() {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(token: "0")
        XCTAssertTrue(machine.machine.slot.isSendsTurn)
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.run(.calls(.start))
        XCTAssertEqual(beginSync().requests, [])
        XCTAssertEqual(machine.fetchRequest?.since, ChangeToken("0"))
        machine.answerFetch(token: "1")
        // The call's own run follows the one that `start` began, and fetches its first page before the send.
        XCTAssertNotNil(machine.fetchRequest)
        XCTAssertEqual(machine.answerFetch(token: "2").requests, ["send A=1@-"])
    }

    func testASyncSendsBetweenPagesAfterItsFirstPage() {
        makeManual()
        machine.upload("A", 1)
        XCTAssertEqual(beginSync().requests, ["fetch 0"])
        XCTAssertEqual(machine.answerFetch(token: "1", moreComing: true).requests, ["send A=1@-"])
        XCTAssertEqual(saveAll(from: 10).requests, ["fetch 1"])
        XCTAssertEqual(machine.answerFetch(token: "2").answers.count, 1)
    }

    /// Without automatic sync, a call that only fetches sends nothing.
    func testACallThatOnlyFetchesSendsNothing() {
        makeManual()
        machine.upload("A", 1)
        XCTAssertEqual(beginSync(.fetch).requests, ["fetch 0"])
        XCTAssertEqual(machine.answerFetch(token: "1").requests, [])
        XCTAssertEqual(beginSync(.send).requests, ["send A=1@-"])
    }

    func testAFailedFirstPageDelaysNoSend() throws {
        machine.upload("A", 1)
        _ = beginSync()
        saveAll(from: 10)
        machine.upload("B", 2)
        let fetch = try XCTUnwrap(machine.fetchRequest?.id)
        let actions = machine.run(.response(fetch, .failure(CloudError(.networkFailure))))
        XCTAssertEqual(actions.requests, ["send B=2@-"])
        XCTAssertEqual(actions.answers.count, 1)
    }

    /// The failed run is not the caller's own, which would have been the next one.
    func testAFetchThatFailsBeforeACallersFirstPageDelaysNoSend() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.upload("A", 1)
        _ = beginSync()
        let fetch = try XCTUnwrap(machine.fetchRequest?.id)
        let actions = machine.run(.response(fetch, .failure(CloudError(.networkFailure))))
        XCTAssertEqual(actions.requests, ["send A=1@-"])
        XCTAssertEqual(actions.answers.count, 1)
    }

    func testAnEditIsSentWithinTwoRequestsDuringAListingOf500Pages() {
        for isSyncing in [false, true] {
            machine = .synced()
            _ = isSyncing ? beginSync() : machine.run(.signal(.changes(in: nil)))
            for page in 1...500 {
                // Another caller joining midway makes no difference.
                if page == 250 { _ = beginSync() }
                let isEdited = page.isMultiple(of: 25)
                if isEdited { machine.upload("N\(page)", UInt64(page)) }
                machine.answerFetch(token: "\(page)", moreComing: page < 500)
                guard isEdited else { continue }
                // The caller's own run begins after the listing.
                if page == 500, machine.sendRequest == nil { machine.answerFetch(token: "500") }
                XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["N\(page)"], "\(isSyncing)")
                saveAll(from: UInt64(1000 + page))
            }
            XCTAssertEqual(machine.faults, [])
        }
    }
}
