import RecordCoding
import XCTest

@testable import CodableSync

/// The beginning of `changes`: everything at the first request ever, and again after a `.reset`.
final class MachineResetTests: MachineAccountTestCase {
    private func request(_ stream: StreamID = 1) -> [SyncAction] {
        machine.run(.delivery(.streamRequested(stream)))
    }

    /// Requests elements until none comes; returns their names, or the marks.
    private func drain(_ stream: StreamID = 1) -> [String] {
        var told: [String] = []
        for _ in 0..<50 {
            let actions = request(stream)
            let names = actions.deliveries.map { $0.map(\.name).joined(separator: " ") }
            let marks = actions.marks.map { "\($0)" }
            if names.isEmpty, marks.isEmpty { break }
            told += names + marks
        }
        return told
    }

    /// A user's state with one record, which the app has accepted.
    private func followed(_ user: String, _ name: String) -> SyncState {
        state(
            of: user,
            .zoneReady,
            .followed,
            .fetched(name: name, KnownVersion(50)),
            .held([], accepted: 1)
        )
    }

    private func switchToBob(_ bob: SyncState, from alice: String = "alice") {
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        machine.switchUser(state: bob, from: alice)
    }

    // MARK: The first request ever

    func testTheFirstRequestEverBringsEverythingWithoutAReset() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.upload("B", 2)
        saveAll(from: 3)
        let first = request()
        XCTAssertEqual(first.marks, [])
        XCTAssertEqual(first.lines.first?.summary?.isFollowed, true)
        XCTAssertEqual(first.delivered, [item("A", updated: 1), item("B", updated: 3)])
        XCTAssertEqual(request().delivered, [])
    }

    func testDeletionsFromBeforeTheFirstRequestAreToldToNobody() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.fetch(deletions: ["A", "B"], token: "2")
        XCTAssertNil(machine.state["A"])
        machine.upload("B", 3)
        XCTAssertEqual(machine.conflicts.map(\.ancestor), [], "for an app without streams, B is gone")
        XCTAssertEqual(request().delivered, [])
        XCTAssertNil(machine.state["A"])
    }

    func testAnUploadOverADeletionThatAStreamHasYetToTellIsDecided() {
        machine.fetch([.init("A", 1)], token: "1")
        for _ in 0..<4 { machine.run(.delivery(.streamRequested(7, .live))) }
        machine.fetch(deletions: ["A"], token: "2")
        XCTAssertEqual(machine.upload("A", 3).conflicts.map(\.ancestor), [1])
    }

    func testALiveStreamTellsADeletionThatNobodyElseAskedFor() {
        machine.fetch([.init("A", 1)], token: "1")
        for _ in 0..<4 { machine.run(.delivery(.streamRequested(7, .live))) }
        XCTAssertEqual(machine.fetch(deletions: ["A"], token: "2").delivered, [item(deleted: "A")])
        XCTAssertNotNil(machine.state["A"])
        machine.run(.delivery(.streamRequested(7, .live)))
        XCTAssertNil(machine.state["A"])
    }

    func testARequestThatCannotBeStoredIsMadeAgain() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.feed(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.failNextCommit().delivered, [item("A", updated: 1)], "the disk is full")
        XCTAssertFalse(machine.state.summary.isFollowed)
        machine.fireNext { $0 == .storeAgain }
        XCTAssertTrue(machine.state.summary.isFollowed)
    }

    // MARK: Another user

    func testASwitchOfUsersIsAResetBeforeTheFirstChange() {
        machine.know("A", 1)
        XCTAssertEqual(drain(), [])
        switchToBob(followed("bob", "B"))
        XCTAssertEqual(drain(), ["B", "replayed"], "the request before the switch has brought the reset")
        XCTAssertNil(machine.state.streams.replay)
        XCTAssertEqual(drain(), [])
    }

    func testTheResetIsTheFirstElementOfTheNextUser() {
        machine.know("A", 1)
        XCTAssertEqual(drain(), [])
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        let switched = machine.switchUser(state: followed("bob", "B"), from: "alice")
        XCTAssertEqual(switched.marks, [.reset])
        XCTAssertEqual(switched.delivered, [])
    }

    /// The loop is still at the former user's element.
    func testASlowLoopGetsTheResetAfterTheElementThatItHolds() {
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 1)], token: "1")
        switchToBob(followed("bob", "B"))
        XCTAssertEqual(drain(), ["reset", "B", "replayed"])
        XCTAssertNil(machine.state["A"])
    }

    func testAnAppThatNeverAskedGetsNoReset() {
        machine.fetch([.init("A", 1)], token: "1")
        switchToBob(state(of: "bob", .zoneReady, .fetched(name: "B", KnownVersion(50))))
        XCTAssertEqual(drain(), ["B"])
    }

    /// The process ends between two elements of the beginning.
    func testAResetIsGivenUntilItIsAccepted() {
        machine.know("A", 1)
        XCTAssertEqual(drain(), [])
        switchToBob(followed("bob", "B"))
        machine = MachineHarness(state: machine.state)
        XCTAssertEqual(request().marks, [.reset])
        XCTAssertEqual(request().delivered.map(\.name), ["B"])
        // The app has accepted a part of it, which a store may have only collected.
        XCTAssertEqual(request().marks, [.replayed])
        machine = MachineHarness(state: machine.state)
        XCTAssertEqual(machine.state.streams.replay, .reset)
        XCTAssertEqual(request().marks, [.reset])
        XCTAssertEqual(drain(), ["B", "replayed"])
        machine = MachineHarness(state: machine.state)
        XCTAssertEqual(drain(), [])
    }

    func testEveryStreamGetsTheReset() {
        machine.know("A", 1)
        XCTAssertEqual(drain(1) + drain(2), [])
        switchToBob(followed("bob", "B"))
        XCTAssertEqual(drain(1), ["B", "replayed"])
        XCTAssertEqual(machine.state.streams.replay, .reset)
        XCTAssertEqual(drain(2), ["B", "replayed"])
        XCTAssertNil(machine.state.streams.replay)
    }

    func testAnEditThatIsPendingIsPartOfTheReplay() {
        machine.know("A", 1)
        XCTAssertEqual(drain(), [])
        var bob = followed("bob", "B")
        let edit = LocalChange(kind: .save(60, size: 1), edited: nil, base: 50)
        for entry in [StateChange.queued(name: "B", edit), .startedOver] { bob.apply(entry) }
        switchToBob(bob)
        XCTAssertEqual(request().delivered, [item("B", updated: 60)])
        XCTAssertEqual(request().marks, [.replayed])
    }

    // MARK: Removal

    func testRemovedRecordsAreAReset() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.know("A", 1)
        machine.know("B", 2)
        XCTAssertEqual(drain(), [])
        machine.run(.delivery(.streamRequested(7, .live)))
        for _ in 0..<3 { machine.run(.delivery(.streamRequested(7, .live))) }
        machine.upload("B", 3)
        machine.run(.delivery(.streamRequested(7, .live)))
        machine.run(.signal(.accountChanged))
        let signedOut = answer(.noAccount)
        XCTAssertEqual(signedOut.marks, [.reset, .reset])
        XCTAssertEqual(drain(), ["B", "replayed"])
        for _ in 0..<3 { machine.run(.delivery(.streamRequested(7, .live))) }
        XCTAssertEqual(machine.folded[7], ["B": 3])
    }

    func testARefusedRemovalIsNoReset() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.know("A", 1)
        XCTAssertEqual(drain(), [])
        machine.run(.signal(.accountChanged))
        guard let request = machine.setupRequest else { return XCTFail("no look-up") }
        let account = CloudAccount(status: .noAccount, userRecordName: nil)
        machine.feed(.response(request, .success(.account(account))))
        let failed = machine.failNextCommit()
        XCTAssertEqual(failed.marks + machine.commitAll().marks, [])
        XCTAssertNil(machine.state.streams.replay)
        XCTAssertNotNil(machine.state["A"])
    }
}
