import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Versions that a newer version of the app has written: what reads show stays, and nothing is sent over them.
final class MachineTooNewTests: MachineTooNewTestCase {
    // MARK: A version that is too new arrives

    func testTheLastReadableVersionIsKeptAndShown() {
        let actions = fetchNewer()
        XCTAssertEqual(record?.known?.handle, 2)
        XCTAssertEqual(record?.readable?.handle, 1)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 1)
        XCTAssertEqual(record?.handles, [1, 2])
        XCTAssertEqual(actions.delivered, [])
        fetchNewer("A", 4)
        XCTAssertEqual(record?.readable?.handle, 1)
        XCTAssertEqual(record?.handles, [1, 4])
    }

    func testItIsReportedOnce() {
        let text = "The record was written with schema version 2, this app knows 1; update the app."
        let told = fetchNewer().events.filter { $0 == .undecodable(recordName: "A", reason: text) }
        XCTAssertEqual(told.count, 1)
        let again = machine.run(
            .calls(.decodeFailed([ReadVersion(name: "A", handle: 2, reason: "again")]))
        )
        XCTAssertEqual(again.events, [])
        XCTAssertEqual(machine.machine.undecodableNames, ["A"])
    }

    func testADeviceWithoutAReadableVersionShowsAndDeliversNothing() {
        let actions = fetchNewer("X", 5)
        XCTAssertEqual(actions.delivered, [])
        XCTAssertNil(machine.state.shownHandle(of: "X"))
        XCTAssertNil(machine.state.undelivered("X"))
        XCTAssertEqual(machine.state["X"]?.handles, [5])
        XCTAssertEqual(machine.state["X"]?.absence ?? .unknown, .tooNew)
        XCTAssertEqual(machine.state["Y"]?.absence ?? .unknown, .unknown)
    }

    func testAnUndeliveredReadableVersionStaysUndelivered() {
        machine.run(.delivery(.streamEnded(1)))
        machine.fetch([.init("A", 7)], token: "7")
        fetchNewer("A", 8)
        machine.run(.delivery(.streamEnded(2)))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(3))).delivered, [item("A", updated: 7)])
        machine.run(.delivery(.streamRequested(3)))
    }

    func testAReplayGivesTheKeptVersion() {
        fetchNewer()
        fetchNewer("X", 5)
        machine.run(.delivery(.streamEnded(1)))
        var state = machine.state
        state.apply(.startedOver)
        machine = MachineHarness(state: state)
        machine.run(.delivery(.streamRequested(3)))
        let told = machine.run(.delivery(.streamRequested(3))).delivered
        XCTAssertEqual(told, [item("A", updated: 1)])
    }

    func testARefusedArrivalIsUndone() {
        machine.upload("A", 10)
        machine.failSend(CloudError(.networkUnavailable))
        let before = machine.state.records
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        var page = FetchedPage(token: ChangeToken("n"), moreComing: false)
        page.records = [.init("A", 2, schema: 2)]
        machine.feed(.response(request.id, .success(.page(page))))
        XCTAssertNotNil(parkReason)
        machine.failNextCommit()
        XCTAssertEqual(machine.state.records, before)
        XCTAssertEqual(machine.state.tooNewQueue.count, 0)
    }

    func testTheStateIsTheSameAfterAReplayAndASnapshot() {
        machine.upload("A", 10)
        machine.failSend(CloudError(.networkUnavailable))
        fetchNewer()
        fetchNewer("X", 5)
        var replayed = SyncState()
        for row in machine.rows { replayed.apply(row: row) }
        XCTAssertEqual(replayed.records, machine.state.records)
        var snapshot = SyncState()
        snapshot.apply(.summary(machine.state.summary))
        for name in machine.state.sortedNames {
            machine.state[name].map { snapshot.apply(.record(name: name, $0)) }
        }
        XCTAssertEqual(snapshot.records, machine.state.records)
        XCTAssertEqual(snapshot.tooNewQueue.names.sorted(), ["A", "X"])
    }

    // MARK: Changes of this device

    func testAPendingEditIsParkedAndStillShown() {
        machine.upload("A", 10)
        machine.failSend(CloudError(.networkUnavailable))
        let actions = fetchNewer()
        XCTAssertEqual(parkReason?.kind, .serverValueUndecodable)
        for words in ["not overwritten", "schema version 2", "knows 1", "Update the app", "discard"] {
            XCTAssertTrue(parkReason?.message.contains(words) == true, words)
        }
        XCTAssertEqual(actions.requests.filter { $0.hasPrefix("send") }, [])
        XCTAssertEqual(actions.delivered, [])
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 10)
        XCTAssertEqual(record?.pending?.base, 1)
        let isTold = actions.events.contains {
            if case .parked("A", _) = $0 { true } else { false }
        }
        XCTAssertTrue(isTold)
    }

    func testAnEditInConflictIsParkedAndStillShown() {
        machine.upload("A", 10)
        machine.failSend(CloudError(.networkUnavailable))
        fetchReadable(7)
        XCTAssertEqual(machine.conflicts.count, 1)
        fetchNewer("A", 8)
        machine.resolve { _ in .server }
        XCTAssertNotNil(parkReason)
        XCTAssertEqual(record?.readable?.handle, 7)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 10)
        XCTAssertEqual(record?.handles, [1, 7, 8, 10])
    }

    func testARefusedEditStaysParkedAndShown() {
        machine.upload("A", 10)
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        fetchNewer()
        XCTAssertEqual(parkReason?.kind, .refused)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 10)
        fetchReadable()
        XCTAssertEqual(parkReason?.kind, .refused)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 3)
    }

    func testAnEditWhoseSaveIsRefusedIsParked() {
        for isLookedUp in [false, true] {
            setUp()
            machine.upload("A", 10)
            let newer = KnownVersion(2, schema: 2)
            var actions = machine.answerSend { _ in .conflict(server: isLookedUp ? nil : newer) }
            if isLookedUp, let request = machine.lookUpRequest {
                let found = LookedUp(name: "A", result: .success(newer))
                actions = machine.run(.response(request.id, .success(.records([found]))))
            }
            XCTAssertEqual(parkReason?.kind, .serverValueUndecodable)
            XCTAssertEqual(actions.requests, [])
            XCTAssertEqual(actions.conflicts, [])
            XCTAssertEqual(machine.state.shownHandle(of: "A"), 10)
            XCTAssertEqual(record?.readable?.handle, 1)
        }
    }

    func testAnUploadIsDurableAndParkedInOneBatch() {
        fetchNewer()
        let actions = machine.upload("A", 10)
        let batches = actions.compactMap { action -> [StateRow]? in
            if case .store(let changes) = action { changes.rows } else { nil }
        }
        XCTAssertEqual(batches.first?.count, 2, "the edit with its reason, and the note, are stored together")
        XCTAssertEqual(batches.first?.first?.record?.pending?.handle, 10)
        XCTAssertNotNil(batches.first?.first?.record?.pending?.parked)
        XCTAssertEqual(actions.answers, [.done])
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(record?.pending?.base, 1)
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 10)
        XCTAssertEqual(machine.state.editBasis(of: "A").newer, SchemaVersion(2))
        machine.upload("A", 11)
        XCTAssertEqual(record?.pending?.handle, 11)
        XCTAssertEqual(record?.pending?.base, 1)
        XCTAssertNotNil(parkReason)
    }

    func testAnUploadToARecordThatWasNeverReadableIsParkedAndShown() {
        fetchNewer("X", 5)
        XCTAssertEqual(machine.upload("X", 10).requests, [])
        XCTAssertEqual(machine.state.shownHandle(of: "X"), 10)
        XCTAssertNil(machine.state["X"]?.pending?.base)
        let actions = machine.run(.calls(.discard(machine.newCall(), names: ["X"])))
        XCTAssertNil(machine.state.shownHandle(of: "X"))
        XCTAssertEqual(actions.delivered.first, item(deleted: "X"))
    }

    func testADeletionIsParked() {
        fetchNewer()
        let actions = machine.delete("A")
        XCTAssertEqual(actions.requests, [])
        XCTAssertTrue(parkReason?.message.contains("not deleted") == true)
        XCTAssertNil(machine.state.shownHandle(of: "A"))
        XCTAssertEqual(machine.state["A"]?.absence ?? .unknown, .deleted)
        XCTAssertEqual(fetchReadable().requests.last, "send A=delete@t3")
    }

    func testAPendingDeletionIsParkedAndDiscardsNothing() {
        machine.delete("A")
        machine.failSend(CloudError(.networkUnavailable))
        XCTAssertEqual(fetchNewer().loading, [])
        XCTAssertTrue(parkReason?.message.contains("not deleted") == true)
        let ended = fetchReadable()
        XCTAssertEqual(ended.loading, [.discarded(name: "A", 3, .deletion)])
    }

    func testARetriedChangeIsParkedAgain() {
        fetchNewer()
        machine.upload("A", 10)
        let actions = machine.run(.calls(.retry(machine.newCall(), names: ["A"])))
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(actions.answers, [.done])
        XCTAssertEqual(parkReason?.kind, .serverValueUndecodable)
    }

    func testADiscardedEditGivesWayToTheKeptVersion() {
        fetchNewer()
        machine.upload("A", 10)
        let actions = machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertEqual(actions.delivered.first, item("A", updated: 1))
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 1)
    }
}
