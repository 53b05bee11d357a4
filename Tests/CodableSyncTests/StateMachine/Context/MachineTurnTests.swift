import XCTest

@testable import CodableSync

/// Inputs of one turn, and what they see of each other.
final class MachineTurnTests: MachineTestCase {
    func testAnEditAfterAnUnstoredAnswerIsBasedOnIt() {
        machine.know("A", 1)
        machine.upload("A", 2)
        let request = machine.sendRequest?.id ?? 0
        let saved = SendResult(name: "A", handle: 2, outcome: .saved(KnownVersion(3)))
        machine.feed(.response(request, .success(.sendResults([saved]))))
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 4)])))
        machine.commitAll()
        XCTAssertEqual(machine.state["A"]?.pending?.base, 3)
        XCTAssertEqual(machine.sendRequest?.items.map(\.known?.changeTag), ["t3"])
    }

    /// The user's edit is newer than the initial models, even while it is being stored.
    func testInitialModelsDoNotReplaceAnEditBeingStored() {
        machine.run(.calls(.stop))
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 1)])))
        var (old, other) = (NewChange.save("A", 2), NewChange.save("B", 3))
        old.isInitial = true
        other.isInitial = true
        machine.feed(.calls(.enqueue(machine.newCall(), [old, other], partOf: InitialModels(testType))))
        // The app passes its initial models again while the first call is being stored.
        machine.feed(.calls(.enqueue(machine.newCall(), [old, other], partOf: InitialModels(testType))))
        XCTAssertEqual(machine.commitAll().answers, [.done, .done, .done])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 1)
        XCTAssertEqual(machine.rows.count { $0.recordName == "B" }, 1)
        XCTAssertEqual(machine.state.pendingNames, ["A", "B"])
    }

    // MARK: What waits is what could be sent

    /// A page puts a deferred record into conflict: it can't be sent, so it no longer counts as deferred.
    func testARecordInConflictIsNotDeferred() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }
        machine.fetch([.init("A", 5)], token: "1")
        XCTAssertEqual(machine.state.conflictQueue.count, 1)
        XCTAssertEqual(machine.machine.deferred.queue.count, 0)
        XCTAssertEqual(machine.upload("B", 6).requests, ["send B=6@-"])
    }

    /// After too many conflicts in a row, the record is deferred once its resolution is stored; others are
    /// not held up.
    func testTooManyConflictsDeferARecordOnceResolved() {
        machine.know("A", 1)
        machine.upload("A", 2)
        for round in 0..<9 {
            let server = KnownVersion(UInt64(10 + round))
            machine.answerSend { _ in .conflict(server: server) }
            let item = machine.conflicts
            XCTAssertEqual(item.map(\.name), ["A"], "round \(round)")
            let resolved = item.map { Reconciled(item: $0, resolution: .client, wasAsked: true) }
            machine.feed(.reconciled(resolved))
            if round == 8 {
                // Another record is sent meanwhile.
                machine.feed(.calls(.enqueue(machine.newCall(), [.save("B", 50)])))
            }
            machine.commitAll()
        }
        XCTAssertEqual(machine.machine.deferred.queue.count, 1)
        XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["B"])
        saveAll(from: 60)
        XCTAssertNil(machine.sendRequest)
        XCTAssertEqual(machine.fireNext().requests, ["send A=2@t18"])
    }

    // MARK: Who waits for what

    /// A fetch ends the wait of fetches but not that of sends; a push ends fewer waits.
    func testEachCallEndsItsOwnWaits() {
        machine.upload("A", 1)
        machine.failSend(CloudError(.networkFailure))
        machine.run(.signal(.changes(in: nil)))
        machine.run(.response(machine.fetchRequest?.id ?? 0, .failure(CloudError(.networkFailure))))
        var other = machine
        XCTAssertEqual(other.run(.calls(.sync(other.newCall(), .fetch))).requests, ["fetch 0"])
        other = machine
        XCTAssertEqual(other.run(.calls(.sync(other.newCall(), [.fetch, .hint]))).requests, ["fetch 0"])
        other = machine
        XCTAssertEqual(other.run(.calls(.sync(other.newCall(), .send))).requests, ["send A=1@-"])
        // The wait that ended has no timer left.
        XCTAssertNil(other.timers[.sendRetry])
        XCTAssertNotNil(other.timers[.fetchRetry])
    }

    func testAPushRetriesNeitherConfigurationNorAccountErrors() {
        var broken = machine
        broken.upload("A", 1)
        broken.failSend(CloudError(.badContainer))
        let push = broken.run(.calls(.sync(broken.newCall(), [.fetch, .hint])))
        XCTAssertEqual(push.answers, [.failed(.cloud(CloudError(.badContainer)))])
        XCTAssertEqual(push.requests, [])
        var alone = machine
        alone.upload("A", 1)
        alone.failSend(CloudError(.notAuthenticated))
        let hint = alone.run(.calls(.sync(alone.newCall(), [.fetch, .hint])))
        XCTAssertEqual(hint.answers, [.failed(.cloud(CloudError(.notAuthenticated)))])
        XCTAssertEqual(hint.requests, [])
    }

    // MARK: Clocks

    /// A timer that fires too early does not end the server's wait.
    func testAnEarlyTimerIsSetAgain() {
        machine.upload("A", 1)
        machine.failSend(CloudError(.requestRateLimited, retryAfter: .seconds(30)))
        let instant = machine.timers[.serverWait]
        XCTAssertEqual(machine.run(.timePassed).requests, [])
        XCTAssertEqual(machine.timers[.serverWait], instant)
        XCTAssertEqual(machine.fireNext().requests, ["send A=1@-"])
    }

    // MARK: The subscription

    // PS-07
    func testAFailedSubscriptionDoesNotDelaySync() {
        var harness = MachineHarness()
        harness.run(.calls(.start))
        harness.confirmAccount()
        harness.run(.response(harness.setupRequest ?? 0, .success(.zoneSaved)))
        let failed = harness.run(.response(harness.setupRequest ?? 0, .failure(CloudError(.networkFailure))))
        XCTAssertEqual(failed.requests, [])
        XCTAssertNotEqual(harness.machine.reported, .waiting(until: harness.now.wall), "sync continues")
        harness.answerFetch(token: "0")
        XCTAssertEqual(harness.upload("A", 1).requests, ["send A=1@-"])
        harness.answerSend { _ in .saved(KnownVersion(10)) }
        XCTAssertEqual(harness.fireNext { $0 == .subscriptionRetry }.requests, ["subscribe"])
        XCTAssertEqual(harness.missDeadline(harness.setupRequest ?? 0).requests, [])
        XCTAssertEqual(harness.fireNext { $0 == .subscriptionRetry }.requests, ["subscribe"])
        harness.run(.response(harness.setupRequest ?? 0, .success(.subscriptionModified)))
        XCTAssertTrue(harness.state.onlyZone.isSubscribed)
        XCTAssertNil(harness.timers[.subscriptionRetry])
        XCTAssertEqual(harness.faults, [])
    }

    // MARK: Start and stop

    // LC-10
    func testThousandsOfStartsAndStopsDoNotGrowTheState() {
        var driver = MachineDriver(machine.machine, at: machine.now)
        var sizes: [[Int]] = []
        for round in 0..<3000 {
            let isBusy = round % 10 == 0
            if isBusy {
                driver.run(
                    .calls(
                        .enqueue(CallID(2 * round + 1), [.save("n\(round % 50)", UInt64(100 + round * 2))])
                    )
                )
            }
            driver.run(.calls(.stop))
            if isBusy {
                driver.run(
                    .calls(
                        .enqueue(CallID(2 * round + 2), [.save("n\(round % 70)", UInt64(101 + round * 2))])
                    )
                )
            }
            driver.run(.calls(.start))
            if round % 30 == 0 { driver.failSend() }
            if round % 30 == 10 { driver.saveAll(from: UInt64(100_000 + round * 10)) }
            if round % 7 == 0 { driver.answerFetch() }
            if round % 300 == 299 { sizes.append(driver.sizes) }
        }
        for later in sizes {
            // Queues keep up to 64 gaps before they are compacted.
            for (one, first) in zip(later, sizes[0]) { XCTAssertLessThanOrEqual(one, first + 70, "\(later)") }
        }
        XCTAssertEqual(driver.answers, 600)
        driver.run(.calls(.sync(90_000, [.fetch, .send])))
        for round in 0..<4 {
            driver.answerFetch()
            driver.saveAll(from: 900_000 + UInt64(round) * 10)
        }
        XCTAssertEqual(driver.machine.state.pendingCount, 0)
        XCTAssertEqual(driver.answers, 601)
    }
}

/// A machine whose turns are stored immediately, fast enough for thousands of rounds.
private struct MachineDriver {
    var machine: SyncStateMachine
    let now: Moment
    private var send: (id: RequestID, items: [SendItem])?
    private var fetch: RequestID?
    private(set) var answers = 0

    init(_ machine: SyncStateMachine, at now: Moment) {
        self.machine = machine
        self.now = now
    }

    mutating func run(_ input: SyncInput) {
        machine.handle(input, at: now)
        for action in machine.endTurn(at: now) {
            switch action {
            case .request(let id, .send(let items)): send = (id, items)
            case .request(let id, .fetch): fetch = id
            case .answer: answers += 1
            default: break
            }
        }
    }

    mutating func failSend() {
        guard let send else { return }
        self.send = nil
        run(.response(send.id, .failure(CloudError(.networkFailure))))
    }

    mutating func saveAll(from number: UInt64) {
        guard let send else { return }
        self.send = nil
        let results = send.items.enumerated().map { index, item in
            SendResult(
                name: item.name,
                handle: item.handle,
                outcome: .saved(KnownVersion(number + UInt64(index)))
            )
        }
        run(.response(send.id, .success(.sendResults(results))))
    }

    mutating func answerFetch() {
        guard let fetch else { return }
        self.fetch = nil
        run(.response(fetch, .success(.page(FetchedPage(token: .init("0"), moreComing: false)))))
    }

    var sizes: [Int] {
        [
            machine.timers.count, machine.calls.waiters.count, machine.deferred.queue.placeCount,
            machine.state.sendQueue.placeCount,
            machine.state.deletionQueue.placeCount, machine.state.untoldCount, machine.sending.inFlight.count,
            machine.lookingUp.queue.placeCount, machine.delivering.streams.count, machine.state.notes.count,
        ]
    }
}
