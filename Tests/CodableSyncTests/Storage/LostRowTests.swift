import RecordCoding
import XCTest

@testable import CodableSync

/// Rows and contents in a damaged group, while later rows know what they led to.
final class LostRowTests: XCTestCase {
    private let files = SimulatedFileSystem()
    private let states = RowStates()
    private let journal = "/state/journal-1.jsonl"

    private func open() throws -> JSONStateStore.Opened {
        try JSONStateStore.open(directory: "/state", fileSystem: files)
    }

    /// Stores a version of a record in a zone, and entries behind it.
    private func storeVersion(and entries: StateChange...) throws {
        try store([.registered(1, "Z"), .zoneReady, .fetched(name: "a", KnownVersion(1))] + entries)
    }

    private func store(_ entries: StateChange...) throws { try store(entries) }

    /// Stores entries in groups of their own.
    private func store(_ entries: [StateChange]) throws {
        let store = try open().store
        var written: Set<ContentHandle> = []
        for entry in entries {
            let handle = entry.ownHandle.flatMap { written.insert($0).inserted ? $0 : nil }
            let contents = handle.map { [$0: JournalSamples.record("a", "x")] } ?? [:]
            try states.put(entry, contents, in: store)
        }
        store.close()
    }

    /// The state after damage to the line with a text, as an engine repairs it.
    private func repaired(breaking text: String) throws -> (state: SyncState, opened: JSONStateStore.Opened) {
        var bytes = try XCTUnwrap(files.bytes(at: journal))
        let place = try XCTUnwrap(bytes.firstRange(of: Array(text.utf8)), text).lowerBound
        bytes[place + 1] ^= 1
        files.place(bytes, at: journal)
        let opened = try open()
        XCTAssertTrue(opened.recovery.isDamaged)
        var state = opened.state
        for row in opened.repairs { state.apply(row: row) }
        XCTAssertEqual(state.brokenInvariants(), [])
        return (state, opened)
    }

    private func edit(_ handle: UInt64, base: UInt64?) -> StateChange {
        .queued(
            name: "a",
            LocalChange(
                kind: .save(ContentHandle(handle), size: 1),
                edited: nil,
                base: base.map { ContentHandle($0) }
            )
        )
    }

    func testRecordsAreReadableIfOnlyALaterRowSaysSo() throws {
        let schema = ReadableSchema(type: testType, version: SchemaVersion(2))
        try store(
            .readable(schema),
            .fetched(name: "a", KnownVersion(1, schema: 2)),
            edit(2, base: 1),
            .fetchCompleted(JournalSamples.date)
        )
        let (state, _) = try repaired(breaking: "\"schemas\"")
        XCTAssertEqual(state["a"]?.isTooNew, false)
        XCTAssertNil(state["a"]?.pending?.parked)
        XCTAssertEqual(state.sendQueue.count, 1)
    }

    func testWhatASignOutRemovedStaysRemoved() throws {
        try store(
            .claimed(by: "alice"),
            .fetched(name: "a", KnownVersion(1)),
            .signedOut(removing: true),
            .held([]),
            .fetchCompleted(JournalSamples.date)
        )
        let (state, _) = try repaired(breaking: "\"removed\"")
        XCTAssertEqual(state.summary.signOut, .removed)
        XCTAssertNil(state["a"])
    }

    /// Its later row, about a request, does not have the contents.
    func testAnEditWithoutContentsIsReportedAsLost() throws {
        try store(
            .fetched(name: "a", KnownVersion(1)),
            edit(2, base: 1),
            .sendBegan([SendItem(name: "a", handle: 2)])
        )
        let (state, opened) = try repaired(breaking: "[2,\"")
        XCTAssertEqual(opened.lostEdits, ["a"])
        XCTAssertNil(state["a"]?.pending)
        XCTAssertEqual(state.shownHandle(of: "a"), 1)
        XCTAssertEqual(state["a"]?.sent, [])
    }

    // MARK: Going back

    /// Only the edit before it was flushed when its call returned.
    func testTheEditBeforeAnUnsentOneWithoutContentsIsBack() throws {
        try storeVersion(
            and: edit(2, base: 1),
            edit(3, base: 1),
            .lookUpNeeded(["a"])
        )
        let (state, opened) = try repaired(breaking: "[3,\"")
        XCTAssertEqual(opened.lostEdits, ["a"])
        XCTAssertEqual(state["a"]?.pending?.handle, 2)
        XCTAssertEqual(state["a"]?.known?.handle, 1)
        XCTAssertEqual(state.sendQueue.count, 1)
    }

    /// The cloud may have what was sent, and an older edit would be decided against it.
    func testTheEditBeforeASentOneWithoutContentsStaysReplaced() throws {
        try storeVersion(
            and: edit(2, base: 1),
            edit(3, base: 1),
            .sendBegan([SendItem(name: "a", handle: 3)])
        )
        let (state, opened) = try repaired(breaking: "[3,\"")
        XCTAssertEqual(opened.lostEdits, ["a"])
        XCTAssertNil(state["a"]?.pending)
    }

    /// As if the response were lost: the cloud may lose the zone before it is asked again.
    func testASentEditIsBackWithoutTheContentsOfItsConfirmation() throws {
        try storeVersion(
            and: edit(2, base: 1),
            .sendBegan([SendItem(name: "a", handle: 2)]),
            .saved(name: "a", sent: 2, KnownVersion(3)),
            .lookUpNeeded(["a"])
        )
        let (state, opened) = try repaired(breaking: "[3,\"")
        XCTAssertEqual(opened.lostEdits, [])
        XCTAssertEqual(state["a"]?.pending?.handle, 2)
        XCTAssertEqual(state["a"]?.sent.map(\.handle), [2])
        XCTAssertEqual(state["a"]?.known?.changeTag, "t1")
    }

    /// It was acknowledged, and is what the user did last.
    func testADeletionStaysWithoutTheContentsOfTheVersionBefore() throws {
        try storeVersion(
            and: edit(2, base: 1),
            .sendBegan([SendItem(name: "a", handle: 2)]),
            .saved(name: "a", sent: 2, KnownVersion(3)),
            .queued(name: "a", LocalChange(kind: .delete, edited: nil, base: 3))
        )
        let (state, _) = try repaired(breaking: "[3,\"")
        XCTAssertEqual(state["a"]?.pending?.isDeletion, true)
    }

    func testADeletionThatAnEditHasReplacedStaysReplaced() throws {
        try storeVersion(
            and: .queued(name: "a", LocalChange(kind: .delete, edited: nil, base: 1)),
            edit(3, base: 1),
            .lookUpNeeded(["a"])
        )
        let (state, opened) = try repaired(breaking: "[3,\"")
        XCTAssertEqual(opened.lostEdits, ["a"])
        XCTAssertNil(state["a"]?.pending)
        XCTAssertEqual(state["a"]?.known?.handle, 1)
    }

    /// A tag of the zone that was lost says nothing about the next.
    func testNoVersionFromBeforeALossOfTheZoneIsBack() throws {
        try storeVersion(
            and: edit(2, base: 1),
            .zoneLost(nil),
            .zoneReady,
            edit(3, base: 1),
            .lookUpNeeded(["a"])
        )
        let (state, _) = try repaired(breaking: "[3,\"")
        XCTAssertEqual(state["a"]?.lost?.handle, 1, "as the row behind the loss has it")
        XCTAssertEqual(state["a"]?.pending?.handle, 2)
        let (later, _) = try repaired(breaking: "[2,\"")
        XCTAssertEqual(later["a"]?.lost?.handle, 1)
        XCTAssertNil(later["a"]?.known)
        XCTAssertNil(later["a"]?.pending)
    }

    func testNothingOfAUserWhoHasSignedOutIsBack() throws {
        try store(
            .claimed(by: "alice"),
            .fetched(name: "a", KnownVersion(1)),
            .signedOut(removing: true),
            .held([]),
            .claimed(by: "bob"),
            edit(2, base: nil),
            .lookUpNeeded(["a"])
        )
        let (state, opened) = try repaired(breaking: "[2,\"")
        XCTAssertEqual(opened.lostEdits, ["a"])
        XCTAssertNil(state["a"])
    }

    /// The journal has contents of edits that were replaced before.
    func testARemovalOfNoRecordIsMadeUpForToo() throws {
        try store(
            .claimed(by: "alice"),
            .fetched(name: "a", KnownVersion(1)),
            edit(2, base: 1),
            edit(3, base: 1)
        )
        try store(.signedOut(removing: true))
        let opened = try open()
        XCTAssertNotNil(opened.state["a"])
        XCTAssertTrue(opened.state.hasGoneRecords)
        states.note(opened)
        try opened.store.compact()
        opened.store.close()
        XCTAssertFalse(try open().state.hasGoneRecords)
    }

    /// An upload of a copy with such a tag would have nothing to compare with.
    func testATagOfAVersionWithoutContentsIsForgotten() throws {
        var record = RecordState()
        record.server = .known(KnownVersion(2))
        record.carried = CarriedTags([.init("t1", 1)])
        try store(.record(name: "a", record), .fetchCompleted(JournalSamples.date))
        let (state, _) = try repaired(breaking: "\"lastFetch\"")
        XCTAssertEqual(state["a"]?.known?.changeTag, "t2")
        XCTAssertEqual(state["a"]?.carried, CarriedTags())
    }

    /// The zone's row is lost, and a record that the next listing lacks must not seem to be in it.
    func testTheNumberOfTheLastListingIsThatOfItsRecords() throws {
        var record = RecordState()
        record.server = .known(KnownVersion(1))
        record.listing = 3
        try store(.record(name: "a", record), .fetchCompleted(JournalSamples.date))
        let (state, _) = try repaired(breaking: "\"lastFetch\"")
        XCTAssertEqual(state.onlyZone.listing, 3)
    }

    /// The next zone has another history.
    func testTheNewestVersionOfALostZoneIsForgotten() throws {
        let version = KnownVersion(changeTag: "t9", handle: 1, hash: 1, modified: JournalSamples.date)
        let opened = try open()
        let entries: [StateChange] = [.registered(1, "Z"), .zoneReady, .fetched(name: "a", version)]
        for entry in entries { try states.put(entry, in: opened.store) }
        XCTAssertEqual(try open().state.newestKnown?.changeTag, "t9")
        for entry in [StateChange.zoneLost(.deleted), .zoneReady] { try states.put(entry, in: opened.store) }
        opened.store.close()
        XCTAssertNil(try open().state.newestKnown)
    }

    /// The snapshot has it, and a restored cloud has older ones.
    func testTheNewestVersionOfALostZoneIsForgottenBehindASnapshot() throws {
        func version(_ name: String, _ handle: UInt64, after seconds: Double) -> KnownVersion {
            let date = JournalSamples.date.addingTimeInterval(seconds)
            return KnownVersion(changeTag: name, handle: ContentHandle(handle), hash: 1, modified: date)
        }
        let opened = try open()
        func put(_ entry: StateChange) throws {
            let handle = entry.ownHandle
            try states.put(
                entry,
                handle.map { [$0: JournalSamples.record("a", "x")] } ?? [:],
                in: opened.store
            )
        }
        for entry in [StateChange.registered(1, "Z"), .zoneReady] { try put(entry) }
        for (number, name) in ["a", "b", "c"].enumerated() {
            try put(.fetched(name: name, version(name, UInt64(number) + 1, after: Double(number))))
        }
        try opened.store.compact()
        XCTAssertEqual(try open().state.newestKnown?.changeTag, "c")
        // The newest one has an older version now, so another one is the newest.
        var older = RecordState()
        older.server = .known(version("c2", 4, after: -9))
        try put(.row(.record("c", type: testType, older)))
        XCTAssertEqual(try open().state.newestKnown?.changeTag, "b")
        for entry in [StateChange.zoneLost(.deleted), .zoneReady] { try put(entry) }
        XCTAssertNil(try open().state.newestKnown)
        try put(.fetched(name: "b", version("b2", 5, after: -5)))
        XCTAssertEqual(try open().state.newestKnown?.changeTag, "b2")
        opened.store.close()
    }

    /// Otherwise each opening would rewrite all files.
    func testRemovedRecordsAreInTheFilesOnlyUntilTheNextSnapshot() throws {
        try store(
            .claimed(by: "alice"),
            .fetched(name: "a", KnownVersion(1)),
            .signedOut(removing: true)
        )
        let opened = try open()
        XCTAssertTrue(opened.state.hasGoneRecords)
        states.note(opened)
        try opened.store.compact()
        try states.put(.claimed(by: "alice"), in: opened.store)
        opened.store.close()
        XCTAssertFalse(try open().state.hasGoneRecords)
    }
}

extension StateChange {
    /// The contents that it brings.
    fileprivate var ownHandle: ContentHandle? {
        var state = SyncState()
        // The base of an edit is older.
        return state.applyWriting([self]).introduced.max()
    }
}
