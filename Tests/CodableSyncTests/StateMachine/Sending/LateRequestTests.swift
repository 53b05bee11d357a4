import RecordCoding
import XCTest

@testable import CodableSync

/// Which records are taken for late creations of this device, and how long they are remembered.
final class LateRequestTests: XCTestCase {
    private let date = Date(timeIntervalSince1970: 1_800_000_000)

    private func creation(_ handle: UInt64) -> LocalChange {
        var change = LocalChange(kind: .save(ContentHandle(handle), size: 1), edited: date, base: nil)
        change.hash = handle
        return change
    }

    private func version(_ handle: UInt64, hash: UInt64, modified: Date? = nil) -> KnownVersion {
        KnownVersion(changeTag: "t\(handle)", handle: ContentHandle(handle), hash: hash, modified: modified)
    }

    private func found(_ version: KnownVersion, name: String = "A") -> FetchedRecord {
        FetchedRecord(key: RecordKey(name), recordType: testType, version: version, edited: date)
    }

    /// A state whose creation was sent a number of times, and confirmed as the version 9.
    private func confirmed(sent count: Int) -> SyncState {
        var state = SyncState()
        state.apply(.queued(name: "A", creation(1)))
        for _ in 0..<count { state.apply(.sendBegan([SendItem(name: "A", handle: 1)])) }
        state.apply(.saved(name: "A", sent: 1, version(9, hash: 1, modified: date)))
        return state
    }

    func testACreationThatWasSentOnceAndConfirmedIsForgotten() {
        XCTAssertEqual(confirmed(sent: 1)["A"]?.late, LateRequests())
        XCTAssertEqual(confirmed(sent: 2)["A"]?.late.creations.map(\.isRepeated), [true])
    }

    /// A creation that becomes an edit of what the cloud has: the answer to the edit says nothing about the creation.
    func testAnEditWithTheContentsOfACreationRepeatsIt() {
        var state = SyncState()
        state.apply(.queued(name: "A", creation(1)))
        state.apply(.sendBegan([SendItem(name: "A", handle: 1)]))
        state.apply(.fetched(name: "A", version(8, hash: 8, modified: date)))
        state.apply(.resolved(name: "A", client: 1, server: 8, .client))
        state.apply(.sendBegan([SendItem(name: "A", handle: 1)]))
        state.apply(.saved(name: "A", sent: 1, version(9, hash: 1, modified: date)))
        XCTAssertEqual(state["A"]?.late.creations.map(\.isRepeated), [true])
    }

    func testARecordWhoseVersionWasForgottenIsNotDeleted() {
        var state = confirmed(sent: 2)
        // As after damage of the version's row or contents.
        state.change(RecordKey("A")) { record in
            record.forgetKnownVersion()
            record.mustLookUp = true
        }
        XCTAssertFalse(state.receiveLateCreation(found(version(10, hash: 1, modified: date + 1)), at: date))
    }

    func testAVersionFromBeforeAnotherDevicesDeletionIsNotLate() {
        var state = confirmed(sent: 2)
        state.apply(.fetchedDeletion(name: "A"))
        // A feed that lags behind its own deletions.
        XCTAssertFalse(state.receiveLateCreation(found(version(9, hash: 1, modified: date)), at: date))
        XCTAssertFalse(state.receiveLateCreation(found(version(9, hash: 1)), at: date))
        XCTAssertFalse(state.receiveLateCreation(found(version(10, hash: 2, modified: date + 1)), at: date))
        XCTAssertTrue(state.receiveLateCreation(found(version(10, hash: 1, modified: date + 1)), at: date))
        XCTAssertEqual(state["A"]?.pending?.isDeletion, true)
        XCTAssertEqual(state["A"]?.checkInvariants(), [])
    }

    func testALateCreationMayComeTwice() {
        var state = confirmed(sent: 3)
        state.apply(.queued(name: "A", LocalChange(kind: .delete, edited: date, base: 9)))
        for handle in 10..<12 as Range<UInt64> {
            state.apply(.sendBegan([SendItem(name: "A", handle: nil)]))
            state.apply(.deletionConfirmed(name: "A"))
            let modified = date + TimeInterval(handle)
            XCTAssertTrue(
                state.receiveLateCreation(found(version(handle, hash: 1, modified: modified)), at: date)
            )
        }
    }

    func testTheOldestOfTooManyAreForgotten() {
        var state = SyncState()
        let count = LateRequests.maximumRecords + 2
        for number in 0..<count {
            state.apply(.queued(name: "\(number)", creation(UInt64(number) + 1)))
            state.apply(.sendBegan([SendItem(name: "\(number)", handle: ContentHandle(UInt64(number) + 1))]))
        }
        state.apply(.sendBegan([]))
        XCTAssertEqual(state.lateQueue.count, LateRequests.maximumRecords)
        XCTAssertEqual(state["0"]?.late, LateRequests())
        XCTAssertEqual(state["\(count - 1)"]?.late.creations.count, 1)
        // What is left of a deleted record goes with it.
        state.apply(.queued(name: "2", LocalChange(kind: .delete, edited: date, base: nil)))
        state.apply(.deletionConfirmed(name: "2"))
        XCTAssertNotNil(state["2"])
        state.apply(.queued(name: "next", creation(5000)))
        state.apply(.sendBegan([SendItem(name: "next", handle: 5000)]))
        XCTAssertNil(state["2"])
    }

    /// A request may wait for long before it leaves, and one that has not left can't arrive.
    func testADeletionMayArriveForMinutesFromTheEndOfItsRequest() {
        for (code, isLate) in [(CloudError.Code.serverResponseLost, true), (.networkUnavailable, false)] {
            var state = confirmed(sent: 1)
            state.apply(.queued(name: "A", LocalChange(kind: .delete, edited: date, base: 9)))
            let items = [SendItem(name: "A", handle: nil)]
            state.beginSending(items, at: date)
            state.noteFailure(of: items, CloudError(code), at: date + 900)
            state.apply(.queued(name: "A", creation(2)))
            state.beginSending([SendItem(name: "A", handle: 2)], at: date + 905)
            state.apply(.saved(name: "A", sent: 2, version(10, hash: 2, modified: date + 910)))
            XCTAssertEqual(state.receiveLateDeletion(of: RecordKey("A"), at: date + 920), isLate, "\(code)")
            XCTAssertEqual(state["A"]?.checkInvariants(), [])
            // It was the only one.
            XCTAssertFalse(state.receiveLateDeletion(of: RecordKey("A"), at: date + 930))
        }
    }

    func testOneRecordHasAFewCreations() {
        var late = LateRequests()
        for handle in 1...10 as ClosedRange<UInt64> {
            late.note(SentCreation(handle: ContentHandle(handle), hash: handle, edited: date))
        }
        XCTAssertEqual(late.creations.map(\.hash), Array(3...10))
    }
}
