import RecordCoding
import XCTest

@testable import CodableSync

/// Streams that are misused or slow, changes that cannot be decoded, and disks that reject writes.
final class MachineStreamTroubleTests: MachineTestCase {
    /// Somebody has asked for changes before, so that they are kept.
    override func setUp() {
        super.setUp()
        machine.run(.delivery(.streamRequested(9)))
        machine.run(.delivery(.streamEnded(9)))
    }

    private func undecodable(_ stream: StreamID, _ names: String..., isEmpty: Bool = true) -> SyncInput {
        .delivery(
            .undecodable(stream, names.map { .init(name: $0, reason: "no") }, isEmpty: isEmpty)
        )
    }

    // MARK: G5

    // G5
    func testARequestByAStreamWithoutAnElementAcceptsNothing() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        // Two tasks request an element at once, before the first is delivered.
        machine.feed(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).deliveries.count, 1)
        XCTAssertEqual(machine.state.untoldCount, 2)
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).lines, [])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).lines, [])
    }

    // G5
    func testInputsOfUnknownOrEndedStreamsAreIgnored() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.run(.delivery(.streamEnded(7))), [])
        XCTAssertEqual(machine.run(undecodable(7, "A")).lines, [])
        XCTAssertEqual(machine.run(undecodable(1, "B", isEmpty: false)).events, [])
        machine.run(.delivery(.streamEnded(1)))
        XCTAssertEqual(machine.run(.delivery(.streamEnded(1))), [])
        XCTAssertEqual(machine.run(undecodable(1, "A")).events, [])
        XCTAssertNotNil(machine.state.undelivered("A"))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(2))).delivered, [item("A", updated: 1)])
    }

    // G5
    func testAStreamAcceptsOnlyItsCurrentElement() {
        machine.fetch((0..<450).map { .init("N\($0)", UInt64($0) + 1) }, token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.state.untoldCount, 250)
        // The older element is not accepted again by later requests.
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.state.untoldNames, (400..<450).map { "N\($0)" })
    }

    // MARK: A slow stream

    private func arrive(_ count: Int, from first: UInt64) -> [SyncAction] {
        machine.fetch(
            (0..<count).map { .init("M\(first + UInt64($0))", first + UInt64($0)) },
            token: "m\(first)"
        )
    }

    private func stalls(_ actions: [SyncAction]) -> [SyncEvent] {
        actions.events.filter { if case .streamStalled = $0 { true } else { false } }
    }

    func testAStreamThatStallsForAThousandChangesIsReportedOnce() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(stalls(arrive(999, from: 1000)), [])
        XCTAssertEqual(stalls(arrive(1, from: 2000)), [.streamStalled(waiting: 1000)])
        XCTAssertEqual(stalls(arrive(1500, from: 3000)), [])
        // The stream requests another element, and stalls again.
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(stalls(arrive(999, from: 6000)), [])
        XCTAssertEqual(stalls(arrive(999, from: 8000)).count, 1)
    }

    func testABacklogAloneIsNotAStall() {
        XCTAssertEqual(stalls(arrive(2000, from: 1)), [])
        var actions: [SyncAction] = []
        for round in 0..<5 {
            actions += machine.run(.delivery(.streamRequested(1)))
            actions += arrive(900, from: 10_000 + UInt64(round) * 1000)
        }
        XCTAssertEqual(stalls(actions), [])
    }

    func testAStalledStreamDoesNotHoldUpAnother() {
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(2)))
        var actions = machine.fetch([.init("A", 1)], token: "1")
        for round in 0..<3 {
            actions += arrive(400, from: 1000 + UInt64(round) * 1000)
            while machine.machine.delivering.streams[1].stage == .holding {
                actions += machine.run(.delivery(.streamRequested(2)))
            }
        }
        XCTAssertEqual(stalls(actions), [.streamStalled(waiting: 1200)])
        XCTAssertEqual(machine.state.untoldCount, 1201)
        machine.run(.delivery(.streamEnded(1)))
        XCTAssertEqual(machine.state.untoldCount, 0)
    }

    // MARK: Undecodable

    /// I-30.
    func testAnUndecodableChangeIsKeptWhenStreamsEndBeforeAcceptingIt() {
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamRequested(2)))
        machine.fetch([.init("B", 1)], token: "1")
        machine.fetch([.init("A", 2)], token: "2")
        // The first stream has received A and cannot decode it; the second still handles B, and gets A next.
        machine.run(.delivery(.streamRequested(1)))
        machine.run(undecodable(1, "A"))
        machine.run(.delivery(.streamEnded(2)))
        XCTAssertNil(machine.state.undelivered("B"))
        XCTAssertNotNil(machine.state.undelivered("A"))
        machine.run(.delivery(.streamEnded(1)))
        XCTAssertNotNil(machine.state.undelivered("A"))
        XCTAssertEqual(machine.machine.undecodableNames, ["A"])
    }

    /// I-30.
    func testAnUndecodableChangeIsTriedAndReportedOncePerOpening() {
        machine.fetch([.init("A", 1)], token: "1")
        for _ in 0..<3 {
            XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [item("A", updated: 1)])
            let told = machine.run(undecodable(1, "A")).events
            XCTAssertEqual(told, [.undecodable(recordName: "A", reason: "no")])
            XCTAssertEqual(machine.run(.delivery(.streamRequested(2))).delivered, [])
            machine = MachineHarness(state: machine.state)
        }
    }

    /// I-30: a loop and a read find the same undecodable version.
    func testAnUndecodableVersionIsReportedOnceByLoopOrRead() {
        let read = SyncInput.calls(.decodeFailed([ReadVersion(name: "A", handle: 1, reason: "no")]))
        for isReadFirst in [false, true] {
            machine = .synced()
            machine.fetch([.init("A", 1)], token: "1")
            var told = isReadFirst ? machine.run(read).events : []
            machine.run(.delivery(.streamRequested(1)))
            told += machine.run(undecodable(1, "A")).events
            told += machine.run(read).events
            XCTAssertEqual(told, [.undecodable(recordName: "A", reason: "no")], "\(isReadFirst)")
            XCTAssertEqual(machine.machine.undecodableNames, ["A"])
        }
    }

    /// C25: a pending edit made by an older version of the app cannot be decoded; the server's version can.
    func testAnUndecodableEditIsNotReportedAsTheServersVersion() {
        machine.know("A", 1)
        machine.upload("A", 2)
        let read = machine.run(.calls(.decodeFailed([ReadVersion(name: "A", handle: 2, reason: "no")])))
        XCTAssertEqual(read.events, [])
        XCTAssertEqual(machine.machine.undecodableNames, [])
    }

    func testANewVersionOfAnUndecodableChangeIsTried() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.run(undecodable(1, "A"))
        XCTAssertEqual(machine.fetch([.init("A", 2)], token: "2").delivered, [item("A", updated: 2)])
        XCTAssertEqual(machine.machine.undecodableNames, [])
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertNil(machine.state.undelivered("A"))
    }

    func testAnOutdatedVersionThatCannotBeReadIsNotReportedAsUndecodable() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 2)], token: "2")
        let actions = machine.run(undecodable(1, "A"))
        XCTAssertEqual(actions.events, [])
        XCTAssertEqual(actions.delivered, [item("A", updated: 2)])
    }

    // MARK: Disks

    /// P-27, I-28.
    func testContentsThatCannotBeReadNowAreRetriedAfterAWait() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        let actions = machine.run(.delivery(.loadFailed(1, ["A", "B"], isEmpty: true)))
        XCTAssertEqual(actions.delivered, [])
        XCTAssertNotNil(machine.timers[.deliverRetry])
        XCTAssertEqual(
            machine.fireNext { $0 == .deliverRetry }.delivered,
            [item("A", updated: 1), item("B", updated: 2)]
        )
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertTrue(machine.state.untold.isEmpty)
    }

    func testReadableChangesAreAcceptedWithoutTheUnreadableOnes() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.loadFailed(1, ["A"], isEmpty: false)))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [])
        XCTAssertEqual(Array(machine.state.untoldNames), ["A"])
        XCTAssertEqual(machine.fireNext { $0 == .deliverRetry }.delivered, [item("A", updated: 1)])
    }

    /// The edit that overtook it is not stored, so the change is still to be delivered.
    func testAChangeIsDeliveredIfTheEditThatOvertookItIsRefused() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 5)])))
        machine.feed(.delivery(.overtaken(1, ["A"], isEmpty: false)))
        machine.failNextCommit()
        let next = machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(next.delivered, [item("A", updated: 1)])
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertTrue(machine.state.untold.isEmpty)
    }

    func testAnAcceptanceThatTheDiskRejectedIsStoredLater() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.feed(.delivery(.streamRequested(1)))
        machine.failNextCommit()
        XCTAssertEqual(machine.state.untoldCount, 2)
        // B gets a new version meanwhile, which the app has not accepted.
        machine.fetch([.init("B", 3)], token: "2")
        XCTAssertEqual(Array(machine.state.untoldNames), ["B"])
    }

    // MARK: A conflict that keeps this device's model

    func testAModelThatAConflictOnlyRedatedIsDeliveredAsSaved() {
        machine.know("A", 1)
        machine.run(.delivery(.streamRequested(1)))
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        let resolved = machine.resolve { _ in .redated(6, size: 10, edited: nil) }
        XCTAssertEqual(resolved.delivered, [])
        XCTAssertEqual(resolved.requests, ["send A=6@t5"])
        XCTAssertEqual(resolved.loading, [.conflictResolved(name: "A", client: 2, server: 5, .client)])
        XCTAssertEqual(saveAll(from: 10).delivered, [item("A", saved: 10)])
    }

    /// A merged model counts as an update until the app accepts it, even if a later conflict only changes its
    /// date.
    func testARedatedMergeIsStillDeliveredAsAnUpdate() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        machine.resolve { _ in .merged(6, size: 10, edited: nil) }
        machine.answerSend { _ in .conflict(server: KnownVersion(7)) }
        machine.resolve { _ in .redated(8, size: 10, edited: nil) }
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [item("A", updated: 8)])
        saveAll(from: 10)
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [item("A", updated: 10)])
    }
}
