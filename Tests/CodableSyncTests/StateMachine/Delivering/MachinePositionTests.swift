import RecordCoding
import XCTest

@testable import CodableSync

/// What is not told at its place in the order is told later, and nothing is forgotten before.
final class MachinePositionTests: MachineTestCase {
    private let live: StreamID = 7

    @discardableResult
    private func request(_ stream: StreamID = 1) -> [SyncAction] {
        machine.run(.delivery(.streamRequested(stream)))
    }

    @discardableResult
    private func requestLive() -> [SyncAction] { machine.run(.delivery(.streamRequested(live, .live))) }

    private func requestRefused(_ stream: StreamID = 1) -> [SyncAction] {
        machine.feed(.delivery(.streamRequested(stream)))
        return machine.failNextCommit()
    }

    private func restart() { machine = MachineHarness(state: machine.state) }

    /// A stream of `changes` has asked before, and has ended.
    private func follow() {
        request(9)
        machine.run(.delivery(.streamEnded(9)))
    }

    // MARK: A full disk

    func testSuspectsAreToldThatTheDiskRefusedToNumber() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        request()
        restart()
        XCTAssertEqual(requestRefused().delivered, [], "they come last")
        XCTAssertEqual(machine.run(.delivery(.storable)).delivered.map(\.name), ["A"])
        XCTAssertEqual(request().delivered.map(\.name), ["B"])
        request()
        XCTAssertTrue(machine.state.untold.isEmpty)
    }

    func testADeletionIsToldThatCameBeforeTheFirstRequestCouldBeStored() {
        machine.fetch([.init("A", 1)], token: "1")
        XCTAssertEqual(requestRefused().delivered, [item("A", updated: 1)])
        machine.fetch(deletions: ["A"], token: "2")
        machine.run(.delivery(.storable))
        XCTAssertEqual(request().delivered, [item(deleted: "A")])
        request()
        XCTAssertNil(machine.state["A"])
    }

    func testAnOvertakenRecordIsToldOnAFullDisk() {
        follow()
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        XCTAssertEqual(requestRefused().delivered.count, 2)
        machine.feed(.delivery(.loadFailed(1, ["A"], isEmpty: false)))
        machine.failNextCommit()
        XCTAssertEqual(machine.fireNext { $0 == .deliverRetry }.delivered, [])
        XCTAssertEqual(requestRefused().delivered, [item("A", updated: 1)])
        XCTAssertEqual(requestRefused().delivered, [], "once")
    }

    func testADeletionThatCannotBeForgottenStopsNothing() {
        machine.know("A", 1)
        request()
        request()
        for _ in 0..<4 { requestLive() }
        machine.fetch(deletions: ["A"], token: "2")
        request()
        XCTAssertNotNil(machine.state["A"], "the live stream shows it")
        restart()
        machine.feed(.calls(.start))
        machine.failNextCommit()
        XCTAssertTrue(machine.machine.isDiskRefusing)
        XCTAssertNotNil(machine.setupRequest, "the account is looked up")
        machine.commitAll()
        machine.run(.delivery(.storable))
        XCTAssertNil(machine.state["A"])
    }

    // MARK: Deletions

    func testADeletionUnderAVersionThatIsTooNewIsTold() {
        var state = SyncState()
        state.apply(.registered(1, "Z"))
        let entries: [StateChange] = [
            .followed, .fetched(name: "A", KnownVersion(1)), .held([], accepted: 1),
            .fetchedDeletion(name: "A"), .fetched(name: "A", KnownVersion(3, schema: 2)),
        ]
        for entry in entries { state.apply(entry) }
        for end in [StateChange.fetchedDeletion(name: "A"), .zoneLost(.deleted)] {
            var ended = state
            ended.apply(end)
            XCTAssertEqual(ended.undelivered("A"), .deleted, "\(end)")
            XCTAssertEqual(ended.brokenInvariants(), [])
        }
    }

    // MARK: What counts as saved

    /// The loop has never got what the edit was made on.
    func testARecordThatIsSavedDuringTheFirstReplayIsToldAsAnUpdate() {
        machine.fetch((0..<201).map { .init("N\(1000 + $0)", UInt64($0) + 1) }, token: "1")
        XCTAssertEqual(request().delivered.count, 200)
        machine.upload("N1200", 500)
        saveAll(from: 600)
        XCTAssertEqual(request().delivered, [item("N1200", updated: 600)])
        XCTAssertEqual(request().delivered, [item("N1200", saved: 600)])
        XCTAssertEqual(request().delivered, [])
    }

    func testALiveStreamTellsAnEditOfWhatItNeverToldAsAnUpdate() {
        machine.know("A", 1)
        for _ in 0..<4 { requestLive() }
        machine.fetch([.init("B", 2)], token: "2")
        machine.fetch([.init("A", 3)], token: "3")
        machine.upload("A", 4)
        saveAll(from: 5)
        XCTAssertEqual(requestLive().delivered, [item("A", updated: 5)])
        machine.upload("A", 6)
        saveAll(from: 7)
        XCTAssertEqual(requestLive().delivered, [item("A", saved: 7)], "the loop has what it was made on")
    }

    /// What it did not get of another device is told with the edit on top of it.
    func testALiveStreamTellsAnEditOfWhatWasOvertakenAsAnUpdate() {
        machine.know("A", 1)
        for _ in 0..<4 { requestLive() }
        XCTAssertEqual(machine.fetch([.init("A", 3)], token: "3").delivered, [item("A", updated: 3)])
        machine.upload("A", 4)
        saveAll(from: 5)
        let next = machine.run(.delivery(.overtaken(live, ["A"], isEmpty: true)))
        XCTAssertEqual(next.delivered, [item("A", updated: 5)])
    }

    func testALiveStreamTellsAnOvertakenEditAsSaved() {
        machine.know("A", 1)
        for _ in 0..<4 { requestLive() }
        XCTAssertEqual(machine.upload("A", 4).delivered, [item("A", updated: 4)])
        saveAll(from: 5)
        let next = machine.run(.delivery(.overtaken(live, ["A"], isEmpty: true)))
        XCTAssertEqual(next.delivered, [item("A", saved: 5)])
    }

    func testWhatALiveStreamTellsAsSavedDoesNotDependOnChanges() {
        follow()
        for _ in 0..<3 { requestLive() }
        machine.fetch([.init("A", 2)], token: "2")
        requestLive()
        machine.upload("A", 4)
        requestLive()
        XCTAssertEqual(saveAll(from: 5).delivered, [item("A", saved: 5)])
    }

    func testAnEditThatWasDiscardedUnseenLeavesNoTrace() {
        machine.know("A", 1)
        for _ in 0..<4 { requestLive() }
        machine.fetch([.init("B", 2)], token: "2")
        machine.upload("A", 3)
        machine.answerSend { _ in .failed(CloudError(.invalidArguments)) }
        machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertEqual(requestLive().delivered, [])
        XCTAssertEqual(machine.fetch([.init("C", 4)], token: "4").delivered, [item("C", updated: 4)])
        machine.upload("A", 5)
        saveAll(from: 6)
        XCTAssertEqual(requestLive().delivered, [item("A", saved: 6)])
    }

    // MARK: Streams that end

    func testAnElementThatIsTakenAgainAndAgainIsHeldOnce() {
        follow()
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        for stream in 10..<15 as Range<StreamID> {
            XCTAssertEqual(request(stream).delivered.count, 2)
            machine.run(.delivery(.streamEnded(stream)))
        }
        XCTAssertEqual(machine.state.streams.elements.map(\.keys), [["A", "B"]])
    }

    /// What it left out has got its new number, whatever else is in the turn.
    func testAStreamThatEndsIsNotPastWhatItLeftOut() {
        follow()
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        request()
        machine.feed(.delivery(.loadFailed(1, ["A"], isEmpty: false)))
        machine.feed(.delivery(.streamRequested(1)))
        machine.feed(.delivery(.streamEnded(1)))
        machine.commitAll()
        XCTAssertEqual(machine.state.untoldNames, ["A"])
    }

    /// The disk takes it again in the turn of the deletion.
    func testADeletionIsToldThatComesBeforeTheFirstRequestIsStored() {
        machine.fetch([.init("A", 1)], token: "1")
        XCTAssertEqual(requestRefused().delivered, [item("A", updated: 1)])
        machine.run(.signal(.changes(in: nil)))
        var page = FetchedPage(token: .init("2"), moreComing: false)
        page.deletions = ["A"]
        machine.feed(.delivery(.storable))
        machine.feed(.response(machine.fetchRequest?.id ?? 0, .success(.page(page))))
        machine.commitAll()
        XCTAssertEqual(request().delivered, [item(deleted: "A")])
    }

    func testAcceptingAnOlderChangeLeavesTheNewerOneUndecodable() {
        follow()
        machine.fetch([.init("A", 1)], token: "1")
        request(1)
        request(2)
        request(2)
        machine.fetch([.init("A", 5)], token: "2")
        machine.run(.delivery(.undecodable(2, [.init(name: "A", reason: "no")], isEmpty: true)))
        machine.run(.delivery(.streamEnded(2)))
        request(1)
        XCTAssertEqual(machine.state["A"]?.news?.isUndecodable, true)
    }

    func testAReplayGoesOnBehindTheSlowestStream() {
        machine.fetch((0..<201).map { .init("N\(1000 + $0)", UInt64($0) + 1) }, token: "1")
        request(1)
        request(2)
        request(1)
        XCTAssertEqual(machine.state.streams.replay, .everything(after: nil))
    }

    /// What could not be loaded is another device's, whatever was saved on top of it.
    func testALiveStreamTellsAnEditOfWhatItCouldNotLoadAsAnUpdate() {
        machine.know("A", 1)
        for _ in 0..<4 { requestLive() }
        machine.fetch([.init("A", 3), .init("B", 2)], token: "3")
        machine.run(.delivery(.loadFailed(live, ["A"], isEmpty: false)))
        machine.upload("A", 4)
        saveAll(from: 5)
        machine.fireNext { $0 == .deliverRetry }
        XCTAssertEqual(requestLive().delivered, [item("A", updated: 5)])
    }
}
