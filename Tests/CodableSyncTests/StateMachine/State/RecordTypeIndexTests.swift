import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The index by record type agrees with the records after every entry and every undo.
final class RecordTypeIndexTests: XCTestCase {
    private let place = ExactName("Place")
    private let tour = ExactName("Tour")

    private func change(_ number: UInt64) -> LocalChange {
        LocalChange(kind: .save(ContentHandle(number), size: 1), edited: nil, base: nil)
    }

    func testReadsByTypeFindTheRecordsOfThatType() {
        var state = SyncState()
        state.apply(.queued("b", type: place, change(1)))
        state.apply(.fetched("a", type: place, KnownVersion(2)))
        XCTAssertEqual(state.sortedNames(of: "Place"), ["a", "b"])
        XCTAssertEqual(state.sortedNames(of: "Tour"), [])
        state.apply(.queued("c", type: tour, change(3)))
        XCTAssertEqual(state.sortedNames(of: "Place"), ["a", "b"])
        XCTAssertEqual(state.sortedNames(of: "Tour"), ["c"])
        state.apply(.discarded("c"))
        state.apply(.queued("d", type: place, change(4)))
        XCTAssertEqual(state.sortedNames(of: "Place"), ["a", "b", "d"])
        XCTAssertEqual(state.brokenInvariants(), [])
    }

    /// A record that is only to be looked up has no type yet.
    func testARecordWithoutATypeIsInNoIndex() {
        var state = SyncState()
        state.apply(.lookUpNeeded(["a"]))
        state.apply(.fetched("b", type: place, KnownVersion(1)))
        XCTAssertEqual(state.sortedNames(of: "Place"), ["b"])
        XCTAssertNil(state.recordType(of: "a"))
        state.apply(.fetched("a", type: tour, KnownVersion(2)))
        XCTAssertEqual(state.sortedNames(of: "Tour"), ["a"])
    }

    func testTheIndexAgreesAfterEveryKindOfEntryAndItsUndo() {
        let prefixes: [[StateChange]] = [
            [], [.queued("A", type: place, change(40)), .fetched(name: "B", KnownVersion(41))],
            [.fetched(name: "A", KnownVersion(42)), .queued("C", type: tour, change(43))],
        ]
        for prefix in prefixes {
            for entry in JournalSamples.entries {
                var state = SyncState()
                for before in prefix { state.apply(before) }
                let former = state
                let keys = (
                    state.sortedKeys(of: place), state.sortedKeys(of: tour), state.sortedKeys(of: testType)
                )
                state.apply(entry)
                XCTAssertEqual(state.indexFaults, [], "\(entry)")
                state = former
                XCTAssertEqual(state.indexFaults, [], "undoing \(entry)")
                XCTAssertEqual(state.sortedKeys(of: place), keys.0)
                XCTAssertEqual(state.sortedKeys(of: tour), keys.1)
                XCTAssertEqual(state.sortedKeys(of: testType), keys.2)
            }
        }
    }

    /// The records of a type are found without the others: with many of another type, the work is the same.
    func testManyRecordsOfAnotherTypeAreNotListed() {
        var state = SyncState()
        for number in 0..<5000 {
            let type = number % 100 == 0 ? tour : place
            state.apply(
                .fetched(RecordKey("n\(number)"), type: type, KnownVersion(UInt64(number) + 1))
            )
        }
        XCTAssertTrue(state.types.isDivided)
        XCTAssertEqual(state.sortedKeys(of: tour).count, 50)
        XCTAssertEqual(state.sortedKeys(of: place).count, 4950)
    }
}

extension SyncState {
    fileprivate var indexFaults: [String] { brokenInvariants().filter { $0.contains("index") } }
}
