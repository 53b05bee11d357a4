import RecordCoding
import XCTest

@testable import CodableSync

/// Live streams: everything that reads show, and each change of it.
final class MachineLiveTests: MachineTestCase {
    private let live: StreamID = 7

    /// Requests the next element of the live stream.
    @discardableResult
    private func request(_ stream: StreamID = 7) -> [SyncAction] {
        machine.run(.delivery(.streamRequested(stream, .live)))
    }

    /// Requests elements until `.replayed` is accepted; returns what the stream got.
    @discardableResult
    private func replay(_ stream: StreamID = 7) -> [[DeliveryItem]] {
        XCTAssertEqual(request(stream).marks, [.reset])
        var elements: [[DeliveryItem]] = []
        for _ in 0..<1000 {
            let actions = request(stream)
            elements += actions.deliveries
            if actions.marks == [.replayed] { break }
        }
        request(stream)
        return elements
    }

    func testAStreamBeginsWithEverythingThatReadsShow() {
        machine.know("A", 1)
        machine.know("B", 2)
        machine.know("C", 3)
        machine.upload("B", 20)
        machine.delete("C")
        XCTAssertEqual(replay(), [[item("A", updated: 1), item("B", updated: 20)]])
        XCTAssertEqual(replay(8), [[item("A", updated: 1), item("B", updated: 20)]], "each time")
    }

    func testElementsOfTheBeginningHaveAtMostTwoHundredRecords() {
        machine.fetch((0..<450).map { .init("N\($0)", UInt64($0) + 1) }, token: "1")
        XCTAssertEqual(replay().map(\.count), [200, 200, 50])
    }

    func testAnAppWithoutRecordsGetsTheMarks() {
        XCTAssertEqual(replay(), [])
    }

    func testOwnEditsAndDeletionsAreTold() {
        machine.know("A", 1)
        replay()
        XCTAssertEqual(machine.upload("A", 2).delivered, [item("A", updated: 2)])
        request()
        XCTAssertEqual(saveAll(from: 3).delivered, [item("A", saved: 3)])
        request()
        XCTAssertEqual(machine.delete("A").delivered, [item(deleted: "A")])
        request()
        XCTAssertEqual(saveAll(from: 4).delivered, [], "it is gone already")
    }

    func testARefusedDiskTakesAnEditBack() {
        machine.know("A", 1)
        replay()
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 2)])))
        XCTAssertEqual(machine.failNextCommit().delivered, [])
        machine.commitAll()
        XCTAssertEqual(machine.folded[live], ["A": 1])
    }

    func testAParkedEditIsShownAsReadsShowIt() {
        machine.know("A", 1)
        replay()
        machine.upload("A", 2)
        request()
        machine.answerSend { _ in .failed(CloudError(.invalidArguments)) }
        request()
        XCTAssertEqual(machine.folded[live], ["A": 2])
        machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertEqual(machine.folded[live], ["A": 1])
    }

    func testContentsAreThoseAtHandingOut() {
        replay()
        machine.fetch([.init("A", 1)], token: "1")
        machine.fetch([.init("A", 2)], token: "2")
        machine.fetch([.init("A", 3)], token: "3")
        XCTAssertEqual(request().delivered, [item("A", updated: 3)])
        XCTAssertEqual(request().delivered, [])
    }

    /// The record changes while its element is decoded.
    func testAModelIsNotHandedOutAfterANewerChange() {
        replay()
        machine.fetch([.init("A", 1)], token: "1")
        machine.upload("A", 2)
        XCTAssertEqual(machine.machine.overtaken(in: live), ["A"])
        let next = machine.run(.delivery(.overtaken(live, ["A"], isEmpty: true)))
        XCTAssertEqual(next.delivered, [item("A", updated: 2)])
    }

    func testARecordThatCanNoLongerBeDecodedIsTakenAway() {
        machine.know("A", 1)
        replay()
        machine.fetch([.init("A", 2)], token: "2")
        let next = machine.run(.delivery(.undecodable(live, [.init(name: "A", reason: "no")], isEmpty: true)))
        XCTAssertEqual(next.events, [.undecodable(recordName: "A", reason: "no")])
        XCTAssertEqual(next.delivered, [item(deleted: "A")], "reads don't show it either")
        request()
        XCTAssertEqual(machine.fetch([.init("A", 3)], token: "3").delivered, [item("A", updated: 3)])
    }

    func testContentsThatCannotBeReadNowComeLater() {
        machine.know("A", 1)
        request()
        request()
        machine.run(.delivery(.loadFailed(live, ["A"], isEmpty: true)))
        let later = machine.fireNext { $0 == .deliverRetry }
        XCTAssertEqual(later.marks, [.replayed])
        XCTAssertEqual(request().delivered, [item("A", updated: 1)])
    }

    // MARK: What is accepted

    func testAStreamOfOneKindHoldsBackNoneOfTheOther() {
        machine.run(.delivery(.streamRequested(1)))
        replay()
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertNil(machine.state.undelivered("A"))
        machine.fetch([.init("A", 2)], token: "2")
        request()
        XCTAssertNotNil(machine.state.undelivered("A"), "the other stream holds it")
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertNil(machine.state.undelivered("A"))
    }

    /// A loop over `changes` may begin later than a live one, and must not miss what that one has shown.
    func testALiveStreamAloneEndsNoChange() {
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.delivery(.streamEnded(1)))
        replay()
        machine.fetch([.init("A", 1)], token: "1")
        request()
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [item("A", updated: 1)])
    }

    func testTheEndOfTheOtherLoopAcceptsNothingForIt() {
        machine.run(.delivery(.streamRequested(1)))
        replay()
        machine.fetch([.init("A", 1)], token: "1")
        request()
        machine.run(.delivery(.streamEnded(1)))
        XCTAssertNotNil(machine.state.undelivered("A"))
    }

    // MARK: Crashes

    /// The next process, which starts with the state that the previous one stored.
    private func restart() {
        XCTAssertEqual(machine.faults, [])
        machine = MachineHarness(state: machine.state)
    }

    func testAnElementIsStoredBeforeItIsDelivered() {
        machine.know("A", 1)
        request()
        let asked = machine.run(.delivery(.streamRequested(live, .live)))
        XCTAssertEqual(asked.lines, [.streams(.held(["A"], by: live))])
        guard case .store? = asked.first else { return XCTFail("\(asked)") }
        XCTAssertEqual(asked.delivered, [item("A", updated: 1)])
        request()
        XCTAssertTrue(machine.state.streams.holdsNothing)
    }

    func testRecordsThatTheAppDiedOverComeLastAndAlone() {
        for name in ["A", "B", "C", "D"] { machine.know(name, UInt64(name.utf8.first ?? 0)) }
        request()
        request()
        restart()
        machine.fetch([.init("E", 99)], token: "e")
        XCTAssertEqual(machine.run(.delivery(.streamRequested(live, .live))).marks, [.reset])
        var elements: [[String]] = []
        var marks: [StreamMark] = []
        for _ in 0..<8 {
            let actions = request()
            elements += actions.deliveries.map { $0.map(\.name) }
            marks += actions.marks
            if elements.isEmpty { XCTAssertEqual(marks, [.replayed], "before the suspects") }
        }
        XCTAssertEqual(elements, [["A"], ["B"], ["C"], ["D"]])
        XCTAssertTrue(machine.state.streams.holdsNothing, "acceptance clears it")
    }

    /// The app dies whenever it shows one of two records, and is started again each time.
    func testAnAppThatDiesOverTwoRecordsGetsAllOthers() {
        let deadly: Set = ["N7", "N230"]
        machine.fetch((0..<450).map { .init("N\($0)", UInt64($0) + 1) }, token: "1")
        var best = 0
        for start in 0..<6 {
            restart()
            request()
            var shown: Set<String> = []
            while true {
                let element = request()
                if element.marks == [.replayed] { continue }
                let names = element.delivered.map(\.name)
                if names.isEmpty { return XCTFail("no element was delivered in start \(start)") }
                if !deadly.isDisjoint(with: names) { break }
                shown.formUnion(names)
            }
            best = max(best, shown.count)
        }
        XCTAssertEqual(best, 448)
        let suspects = machine.state.streams.allSuspects.suffix(2)
        XCTAssertEqual(Set(suspects.map(\.name.text)), deadly)
    }

    /// Suspicion is by record, whichever stream the app died over.
    func testASuspectOfOneKindIsASuspectOfTheOther() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        restart()
        XCTAssertEqual(replay(), [], "the suspects come after the mark")
        XCTAssertEqual(request().delivered.map(\.name), ["B"], "A is held since the mark was accepted")
    }

    func testLeavingALoopIsNotACrash() {
        machine.know("A", 1)
        machine.know("B", 2)
        request()
        request()
        machine.run(.delivery(.streamEnded(live)))
        XCTAssertTrue(machine.state.streams.holdsNothing)
    }

    func testAFullDiskDoesNotHoldBackElements() {
        machine.know("A", 1)
        request()
        machine.feed(.delivery(.streamRequested(live, .live)))
        XCTAssertEqual(machine.failNextCommit().delivered, [item("A", updated: 1)])
    }

    /// The disk refuses the line with the suspects of the former process, together with the next element.
    func testSuspicionOutlivesAFullDisk() {
        machine.know("A", 1)
        machine.know("B", 2)
        request()
        request()
        restart()
        machine.goOnline()
        machine.fetch([.init("C", 9)], token: "c")
        request()
        machine.feed(.delivery(.streamRequested(live, .live)))
        XCTAssertEqual(machine.failNextCommit().delivered, [item("C", updated: 9)])
        XCTAssertEqual(request().marks, [.replayed])
        XCTAssertEqual(machine.state.streams.allSuspects, ["A", "B"])
        machine = MachineHarness(state: machine.state)
        XCTAssertEqual(replay().map { $0.map(\.name) }, [["C"]], "the suspects come after the mark")
    }

    /// The edit gets the values of fields that it does not have from the version below it.
    func testAnEditThatCouldNotBeDecodedIsTriedAgainOnAnotherVersion() {
        machine.know("A", 1)
        machine.upload("A", 2)
        request()
        XCTAssertEqual(request().delivered, [item("A", updated: 2)])
        machine.run(.delivery(.undecodable(live, [.init(name: "A", reason: "no")], isEmpty: true)))
        request()
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        XCTAssertEqual(machine.resolve { _ in .client }.delivered, [item("A", updated: 2)])
    }
}
