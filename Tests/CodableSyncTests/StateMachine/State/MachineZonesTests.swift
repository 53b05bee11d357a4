import RecordCoding
import XCTest

@testable import CodableSync

/// Records of the same name in two zones are kept apart by streams, calls, look-ups and pending changes.
final class MachineZonesTests: XCTestCase {
    private let own = RecordKey(zone: .first, name: "A")
    private let other = RecordKey(zone: ZoneNumber(2), name: "A")

    private func state(_ more: StateChange...) -> SyncState {
        let entries: [StateChange] = [
            .registered(1, "Z"), .registered(2, "Y"), .zoneReady, .ready(ZoneNumber(2)),
            .followed,
            .fetched(own, type: "T", KnownVersion(1)),
            .fetched(other, type: "T", KnownVersion(2)),
        ]
        var state = SyncState()
        for entry in entries + more { state.apply(entry) }
        state.forgetWhatChanged()
        XCTAssertEqual(state.brokenInvariants(), [])
        return state
    }

    private func edit(_ handle: ContentHandle, base: ContentHandle) -> LocalChange {
        LocalChange(kind: .save(handle, size: 1), edited: nil, base: base)
    }

    private var updates: [DeliveryItem] {
        [DeliveryItem(key: own, kind: .updated(1)), DeliveryItem(key: other, kind: .updated(2))]
    }

    // MARK: Streams

    func testAStreamOfChangesGetsAndAcceptsBoth() {
        var machine = MachineHarness(state: state())
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, updates)
        machine.run(.delivery(.streamRequested(1)))
        for key in [own, other] {
            XCTAssertNotNil(machine.state[key])
            XCTAssertNil(machine.state.undelivered(key), "\(key)")
        }
        XCTAssertEqual(machine.faults, [])
    }

    func testALiveStreamGetsAndAcceptsBoth() {
        var machine = MachineHarness(state: state())
        XCTAssertEqual(machine.run(.delivery(.streamRequested(7, .live))).marks, [.reset])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(7, .live))).delivered, updates)
        XCTAssertEqual(machine.run(.delivery(.streamRequested(7, .live))).marks, [.replayed])
        XCTAssertEqual(machine.faults, [])
    }

    func testARecordThatMayHaveCrashedTheAppIsOfOneZone() {
        var machine = MachineHarness(
            state: state(.streams(StreamRow(elements: [], suspects: [other])))
        )
        machine.run(.delivery(.streamRequested(8, .live)))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(8, .live))).delivered, [updates[0]])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(8, .live))).marks, [.replayed])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(8, .live))).delivered, [updates[1]])
    }

    // MARK: Calls

    func testPendingChangesAreListedForEachZone() {
        let state = state(
            .queued(other, type: "T", edit(4, base: 2)),
            .queued(own, type: "T", edit(3, base: 1))
        )
        XCTAssertEqual(state.pendingKeys, [other, own])
        XCTAssertEqual(state.pendingKeys.map { state[$0]?.pending?.handle }, [4, 3])
        XCTAssertEqual(state.pendingKeys.map { state[$0]?.pending?.base }, [2, 1])
    }

    /// Names from the app are in the engine's zone.
    func testCallsChangeOneZone() {
        let reason = ParkReason(kind: .refused, message: "x")
        var machine = MachineHarness(
            state: state(
                .queued(own, type: "T", edit(3, base: 1)),
                .queued(other, type: "T", edit(4, base: 2)),
                .parked(own, reason),
                .parked(other, reason)
            )
        )
        let parked = machine.state[other]
        machine.run(.calls(.retry(machine.newCall(), names: ["A"])))
        XCTAssertNil(machine.state[own]?.pending?.parked)
        machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertNil(machine.state[own]?.pending)
        machine.run(.calls(.enqueue(machine.newCall(), [.save("A", 9)])))
        XCTAssertEqual(machine.state[own]?.pending?.handle, 9)
        XCTAssertEqual(machine.state[own]?.pending?.isDeletion, false)
        machine.run(.calls(.enqueue(machine.newCall(), [.delete("A")])))
        XCTAssertEqual(machine.state[own]?.pending?.isDeletion, true)
        XCTAssertEqual(machine.state[other], parked)
    }

    // MARK: Tables of the rooms

    func testALookUpIsOfOneRecord() {
        var state = state(.lookUpNeeded(ZoneNumber(2), ["A"]))
        XCTAssertEqual(Array(state.lookUpQueue.keys), [other])
        state.apply(.fetched(own, type: "T", KnownVersion(5)))
        XCTAssertEqual(Array(state.lookUpQueue.keys), [other])
        state.apply(.fetched(other, type: "T", KnownVersion(6)))
        XCTAssertEqual(Array(state.lookUpQueue.keys), [])
    }

    func testAQueueHasAPlaceForEach() {
        var queue = RecordQueue()
        queue.append(own)
        queue.append(other)
        queue.moveToEnd(own)
        XCTAssertEqual(Array(queue.keys), [other, own])
        queue.remove(other)
        XCTAssertEqual(Array(queue.keys), [own])
        XCTAssertFalse(queue.contains(other))
    }

    func testItemsInFlightAreFoundByZoneAndName() {
        let items = [
            SendItem(key: own, handle: 3, known: nil), SendItem(key: other, handle: 4, known: nil),
        ]
        let inFlight = InFlight(items, from: RecordQueue())
        XCTAssertEqual(inFlight[own]?.handle, 3)
        XCTAssertEqual(inFlight[other]?.handle, 4)
    }

    /// A table that has grown keeps them in different shards, and lists one zone after the other.
    func testALargeTableKeepsThemApart() {
        var table = RecordTable<Int>()
        for zone in [UInt32(2), 1] {
            for number in 0..<100 {
                table[RecordKey(zone: ZoneNumber(zone), name: ExactName("N\(number)"))] = Int(zone)
            }
        }
        XCTAssertEqual(table.count, 200)
        let keys = table.sortedKeys
        XCTAssertEqual(
            keys.map(\.zone.number),
            Array(repeating: 1, count: 100) + Array(repeating: 2, count: 100)
        )
        for key in keys { XCTAssertEqual(table[key], Int(key.zone.number)) }
    }
}
