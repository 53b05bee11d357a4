import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Two devices changed the same record: the scenarios of group D, for the machine alone.
final class MachineConflictTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.know("A", 1)
    }

    /// I-17: the resolver gets the same conflict, whether a fetch or a send finds it.
    func testFetchAndSendFindTheSameConflict() {
        var fetching = machine
        fetching.upload("A", 2)
        fetching.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        let fetched = fetching.fetch([.init("A", 5)], token: "9")
        var sending = machine
        sending.upload("A", 2)
        let sent = sending.answerSend { _ in .conflict(server: KnownVersion(5)) }
        XCTAssertEqual(sent.conflicts.count, 1)
        XCTAssertEqual(sent.conflicts, fetched.conflicts)
    }

    func testConflictIsDeliveredOnlyOnceItIsResolved() {
        machine.run(.delivery(.streamRequested(1)))
        machine.upload("A", 2)
        XCTAssertEqual(machine.answerSend { _ in .conflict(server: KnownVersion(5)) }.deliveries, [])
        XCTAssertEqual(
            machine.resolve { _ in .merged(6, size: 1, edited: nil) }.delivered,
            [item("A", updated: 6)]
        )
    }

    /// CF-01.
    func testClientsValueIsSentWithTheServersTag() {
        conflict()
        let actions = machine.resolve { _ in .client }
        XCTAssertEqual(actions.requests, ["send A=2@t5"])
        XCTAssertEqual(actions.loading, [.conflictResolved(name: "A", client: 2, server: 5, .client)])
        saveAll(from: 10)
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    /// CF-02, CF-04, I-20.
    func testServersValueDiscardsTheEditAndReportsIt() {
        conflict()
        machine.run(.delivery(.streamRequested(1)))
        let actions = machine.resolve { _ in .server }
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(actions.delivered, [item("A", updated: 5)])
        XCTAssertEqual(actions.loading, [.conflictResolved(name: "A", client: 2, server: 5, .server)])
        XCTAssertEqual(machine.state.notes.map(\.kind), [.discarded])
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    /// CF-03.
    func testMergedValueIsSentAndDelivered() {
        conflict()
        machine.run(.delivery(.streamRequested(1)))
        let actions = machine.resolve { _ in .merged(6, size: 10, edited: nil) }
        XCTAssertEqual(actions.requests, ["send A=6@t5"])
        XCTAssertEqual(actions.delivered, [item("A", updated: 6)])
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(saveAll(from: 10).delivered, [item("A", saved: 10)])
    }

    func testMergedValueConfirmedBeforeDeliveryIsStillDelivered() {
        conflict()
        machine.resolve { _ in .merged(6, size: 10, edited: nil) }
        saveAll(from: 10)
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [item("A", updated: 10)])
    }

    func testEditAfterAnAcceptedMergeIsBasedOnTheServersValue() {
        conflict()
        machine.run(.delivery(.streamRequested(1)))
        machine.resolve { _ in .merged(6, size: 10, edited: nil) }
        machine.run(.delivery(.streamRequested(1)))
        machine.upload("A", 7)
        let saved = saveAll(from: 10)
        XCTAssertEqual(saved.conflicts, [])
        XCTAssertEqual(saved.requests, ["send A=7@t10"])
    }

    /// CF-10.
    func testResolvedValueIsTheClientOfTheNextConflict() {
        conflict()
        machine.resolve { _ in .merged(6, size: 10, edited: nil) }
        let actions = machine.answerSend { _ in .conflict(server: KnownVersion(8)) }
        XCTAssertEqual(actions.conflicts.map(\.client), [6])
        XCTAssertEqual(actions.conflicts.map(\.server), [8])
        XCTAssertEqual(actions.conflicts.map(\.ancestor), [5])
    }

    /// CF-12.
    func testFailedResolverParksTheEditAndDeliversTheServersValue() {
        conflict()
        machine.run(.delivery(.streamRequested(1)))
        let reason = ParkReason(kind: .resolverFailed, message: "no")
        let actions = machine.resolve { _ in .failed(reason) }
        XCTAssertEqual(actions.delivered, [item("A", updated: 5)])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 2)
        XCTAssertEqual(machine.state["A"]?.pending?.parked, reason)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 5)
        let retried = machine.run(.calls(.retry(machine.newCall(), names: ["A"])))
        XCTAssertEqual(retried.conflicts.map(\.client), [2])
    }

    func testParkingAReplacedEditIsNotReported() {
        conflict()
        let items = machine.conflicts
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 3)])))
        let failed = Resolution.failed(ParkReason(kind: .resolverFailed, message: "no"))
        machine.feed(.reconciled(items.map { Reconciled(item: $0, resolution: failed, wasAsked: true) }))
        XCTAssertFalse(machine.commitAll().events.contains { if case .parked = $0 { true } else { false } })
        XCTAssertNil(machine.state["A"]?.pending?.parked)
    }

    func testAConflictThatNeedsNoResolverIsNotReported() {
        conflict()
        let decided = machine.conflicts.map { Reconciled(item: $0, resolution: .client, wasAsked: false) }
        let actions = machine.run(.reconciled(decided))
        XCTAssertEqual(actions.requests, ["send A=2@t5"])
        XCTAssertFalse(actions.contains { if case .report(.contentsEvent) = $0 { true } else { false } })
    }

    func testStaleOutcomeIsIgnoredAfterANewerEdit() {
        conflict()
        let stale = machine.conflicts
        machine.upload("A", 3)
        let actions = machine.run(
            .reconciled(stale.map { Reconciled(item: $0, resolution: .server, wasAsked: true) })
        )
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
        XCTAssertEqual(actions.conflicts.map(\.client), [3])
    }

    func testStaleOutcomeIsIgnoredAfterANewerServerVersion() {
        conflict()
        let stale = machine.conflicts
        machine.fetch([.init("A", 8)], token: "9")
        let actions = machine.run(
            .reconciled(stale.map { Reconciled(item: $0, resolution: .server, wasAsked: true) })
        )
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 2)
        XCTAssertEqual(actions.conflicts.map(\.server), [8])
    }

    /// A newer edit is being stored when the outcome arrives.
    func testOutcomeIsIgnoredWhileANewerEditIsBeingStored() {
        conflict()
        let items = machine.conflicts
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 3)])))
        machine.feed(.reconciled(items.map { Reconciled(item: $0, resolution: .server, wasAsked: true) }))
        let actions = machine.commitAll()
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 3)
        XCTAssertEqual(actions.conflicts.map(\.client), [3])
    }

    /// I-13, SN-17.
    func testOwnContentAfterALostResponseIsConfirmed() {
        machine.upload("A", 2)
        machine.failSend(CloudError(.serverResponseLost))
        machine.fireNext()
        let actions = machine.answerSend { _ in .conflict(server: KnownVersion(5, hash: 2)) }
        XCTAssertEqual(actions.conflicts.map { $0.sent.map(\.handle) }, [[2]])
        machine.resolve { _ in .confirmed(2) }
        XCTAssertEqual(machine.state.pendingCount, 0)
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t5")
    }

    /// SN-26.
    func testConflictWithoutTheServersRecordIsLookedUp() {
        machine.upload("A", 2)
        XCTAssertEqual(machine.answerSend { _ in .conflict(server: nil) }.requests, ["lookUp A"])
        let found = lookedUp("A", .success(KnownVersion(5)))
        XCTAssertEqual(found.conflicts.map(\.server), [5])
    }

    /// SN-26: the server contradicts itself; the machine waits before it sends the change again.
    func testAConflictNotConfirmedByALookUpIsRetriedAfterAWait() {
        let answers: [Result<KnownVersion?, CloudError>] = [
            .success(KnownVersion(1)), .success(nil), .failure(CloudError(.internalError)),
        ]
        for (row, answer) in answers.enumerated() {
            for name in ["A", "New"] where row != 1 || name == "New" {
                var machine = machine
                machine.upload(name, 2)
                let tag = machine.state[name]?.known?.changeTag
                machine.answerSend { _ in .conflict(server: nil) }
                guard row != 0 || tag != nil, let request = machine.lookUpRequest else { continue }
                let result = LookedUp(name: name, result: answer)
                let actions = machine.run(.response(request.id, .success(.records([result]))))
                XCTAssertEqual(actions.requests, [], "row \(row), \(name)")
                XCTAssertEqual(machine.fireNext().requests.count, 1, "row \(row), \(name)")
            }
        }
    }

    func testAMissingLookUpResultIsRetriedAfterAWait() {
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: nil) }
        guard let request = machine.lookUpRequest else { return XCTFail("no look-up request") }
        XCTAssertEqual(machine.run(.response(request.id, .success(.records([])))).requests, [])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 2)
        XCTAssertEqual(machine.fireNext().requests, ["send A=2@t1"])
    }

    /// The server reports a conflict with the version that the device already knows.
    func testConflictWithTheKnownVersionIsRetriedAfterAWait() {
        machine.upload("A", 2)
        for _ in 0..<7 {
            let actions = machine.answerSend { _ in .conflict(server: KnownVersion(1)) }
            XCTAssertEqual(actions.requests, [])
            XCTAssertEqual(machine.fireNext().requests, ["send A=2@t1"])
        }
        machine.answerSend { _ in .conflict(server: KnownVersion(1)) }
        XCTAssertEqual(machine.state["A"]?.pending?.parked?.kind, .unknownError)
    }

    /// I-21: after more than eight conflicts in a row, the machine waits.
    func testEndlessConflictsLeadToAWait() {
        machine.upload("A", 2)
        var number: UInt64 = 10
        var loops = 0
        for _ in 0..<9 {
            machine.answerSend { _ in .conflict(server: KnownVersion(number)) }
            number += 1
            let actions = machine.resolve { _ in .client }
            if actions.events.contains(.conflictLoop(recordName: "A")) { loops += 1 }
        }
        XCTAssertEqual(loops, 1)
        XCTAssertNil(machine.sendRequest)
        XCTAssertEqual(machine.fireNext().requests, ["send A=2@t18"])
    }

    // MARK: Deletions

    /// SN-25, I-18: the record was deleted elsewhere; the resolver gets the same conflict in both orders.
    func testFetchAndSendFindTheSameDeletionConflict() {
        var fetching = machine
        machine.upload("A", 2)
        let sent = machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        fetching.upload("A", 2)
        fetching.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        let fetched = fetching.fetch(deletions: ["A"], token: "9")
        XCTAssertEqual(sent.conflicts.map(\.server), [nil])
        XCTAssertEqual(sent.conflicts.map(\.client), fetched.conflicts.map(\.client))
        XCTAssertEqual(sent.conflicts.map(\.server), fetched.conflicts.map(\.server))
        XCTAssertEqual(sent.conflicts.map(\.ancestor), fetched.conflicts.map(\.ancestor))
    }

    func testEditOfADeletedRecordIsDiscardedWithAnEvent() {
        machine.run(.delivery(.streamRequested(1)))
        machine.upload("A", 2)
        machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        let actions = machine.resolve { _ in .server }
        XCTAssertEqual(actions.delivered, [item(deleted: "A")])
        XCTAssertEqual(actions.loading, [.editOfDeleted(name: "A", 2, kept: false)])
        XCTAssertEqual(machine.state.pendingCount, 0)
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertNil(machine.state["A"])
    }

    func testKeepingAnEditOfADeletedRecordRecreatesIt() {
        machine.upload("A", 2)
        machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        let actions = machine.resolve { _ in .client }
        XCTAssertEqual(actions.requests, ["send A=2@-"])
        XCTAssertEqual(actions.loading, [.editOfDeleted(name: "A", 2, kept: true)])
    }

    /// A pending deletion wins over an edit elsewhere, in both orders.
    func testPendingDeletionWinsOverAnEditElsewhere() {
        var fetched = machine
        fetched.delete("A")
        fetched.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        let actions = fetched.fetch([.init("A", 5)], token: "9")
        XCTAssertEqual(actions.loading, [.discarded(name: "A", 5, .deletion)])
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(fetched.fireNext().requests, ["send A=delete@t5"])
        machine.fetch([.init("A", 5)], token: "9")
        XCTAssertEqual(machine.delete("A").requests, ["send A=delete@t5"])
    }

    func testDeletionRefusedAsAConflictIsSentAgain() {
        machine.delete("A")
        let actions = machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        XCTAssertEqual(actions.requests, ["send A=delete@t5"])
    }

    // MARK: -

    private func conflict() {
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        XCTAssertEqual(machine.conflicts.map(\.name), ["A"])
    }

    private func lookedUp(_ name: String, _ result: Result<KnownVersion?, CloudError>) -> [SyncAction] {
        guard let request = machine.lookUpRequest else { return [] }
        return machine.run(.response(request.id, .success(.records([LookedUp(name: name, result: result)]))))
    }

    /// OB-02: discarded while the resolver runs.
    func testAnEditDiscardedDuringResolutionIsReportedOnce() {
        conflict()
        machine.feed(.calls(.discard(machine.newCall(), names: ["A"])))
        var actions = machine.resolve { _ in .server }
        XCTAssertEqual(actions.loading, [.discarded(name: "A", 2, .discarded)])
        XCTAssertEqual(machine.state.notes.map(\.kind), [.discarded])
        XCTAssertEqual(machine.state.pendingCount, 0)
        // The outcome is known but not stored yet: first for the server's version, then for the client's.
        machine.know("B", 100)
        machine.upload("B", 101)
        machine.answerSend { _ in .conflict(server: KnownVersion(105)) }
        let item = machine.conflicts[0]
        machine.feed(.reconciled([Reconciled(item: item, resolution: .server, wasAsked: true)]))
        actions = machine.run(.calls(.discard(machine.newCall(), names: ["B"])))
        XCTAssertEqual(actions.loading, [.conflictResolved(name: "B", client: 101, server: 105, .server)])
        XCTAssertEqual(actions.answers, [.done])
        XCTAssertEqual(machine.state.notes.count, 2)
    }

    func testAnEditDiscardedAfterItWonIsDiscarded() {
        conflict()
        let item = machine.conflicts[0]
        machine.feed(.reconciled([Reconciled(item: item, resolution: .client, wasAsked: true)]))
        let actions = machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertEqual(actions.loading.last, .discarded(name: "A", 2, .discarded))
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(machine.state.pendingCount, 0)
    }
}
