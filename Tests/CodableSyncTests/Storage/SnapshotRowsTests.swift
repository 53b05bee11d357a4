import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Rows of a snapshot that are parsed when somebody asks: the state is the one that parsing all of them gives.
final class SnapshotRowsTests: XCTestCase {
    private let names = [
        "a", "b", "c", "d\"", "e\\", "f\n", "カ", "н", "caf\u{E9}", "cafe\u{301}", "é", "z z",
    ]

    private func open(_ files: SimulatedFileSystem) throws -> JSONStateStore.Opened {
        try JSONStateStore.open(directory: "/state", fileSystem: files)
    }

    private struct Writer {
        var random: CodableSync.SplitMix64
        var last: UInt64 = 0
        var contents: [ContentHandle: Record] = [:]

        init(seed: UInt64) { random = CodableSync.SplitMix64(seed: seed) }

        mutating func handle() -> ContentHandle {
            last += 1
            contents[ContentHandle(last)] = JournalSamples.record("n", "text \(last)")
            return ContentHandle(last)
        }

        mutating func version(mayBeTooNew: Bool) -> KnownVersion {
            let date = Date(
                milliseconds: Int64.random(in: 1_700_000_000_000...1_700_000_009_000, using: &random)
            )
            return KnownVersion(
                changeTag: Bool.random(using: &random) ? "t\(last)" : "t\"\(last)",
                handle: handle(),
                hash: UInt64.random(in: 0 ... .max, using: &random),
                modified: date,
                size: Int.random(in: 0..<3, using: &random) * 100,
                schema: SchemaVersion(UInt64.random(in: 1...(mayBeTooNew ? 2 : 1), using: &random))
            )
        }

        mutating func entries(for key: RecordKey, of type: ExactName, in state: SyncState) -> [StateChange] {
            switch Int.random(in: 0..<12, using: &random) {
            case 0...4:
                // An edit that meets one is parked, which the machine does.
                let version = version(mayBeTooNew: state[key]?.pending == nil)
                return [.fetched(key, type: type, version)]
            case 5: return [.deletionFetched(key)]
            case 6 where state[key]?.isTooNew != true:
                let change = LocalChange(
                    kind: .save(handle(), size: 9),
                    edited: nil,
                    base: state[key]?.known?.handle
                )
                return [.queued(key, type: type, change)]
            case 7: return [.discarded(key)]
            case 8: return [.lookUpNeeded(key.zone, [key.name])]
            default: return []
            }
        }
    }

    /// Accepts the first changes that are told.
    private func acceptance(_ state: SyncState) -> StateChange {
        let numbers = state.untold.prefix(8).map(\.number)
        return .held([], accepted: max(state.streams.accepted, numbers.last ?? 0))
    }

    private func rows(_ state: SyncState) -> [StateRow] { state.rows }

    private func assertEqual(_ state: SyncState, _ live: SyncState, _ row: String, line: UInt = #line) {
        XCTAssertEqual(rows(state), rows(live), row, line: line)
        XCTAssertEqual(state.records.count, live.records.count, row, line: line)
        XCTAssertEqual(state.brokenInvariants(), [], row, line: line)
        for zone in [ZoneNumber.first, ZoneNumber(2)] {
            XCTAssertEqual(state.knownCount(in: zone), live.knownCount(in: zone), row, line: line)
        }
        for type in ["T", "U"] as [ExactName] {
            XCTAssertEqual(state.sortedKeys(of: type), live.sortedKeys(of: type), row, line: line)
        }
    }

    func testAStateGoesOnBehindItsSnapshots() throws {
        for seed in 0..<Cases.sample(UInt64(12), of: 60) {
            let files = SimulatedFileSystem()
            var writer = Writer(seed: seed)
            let types: [ExactName] = seed % 2 == 0 ? ["T"] : ["T", "U"]
            var live = SyncState()
            var store = try open(files).store
            try store.append([.followed], to: &live)
            for round in 0..<5 {
                let row = "seed \(seed), round \(round)"
                for _ in 0..<20 {
                    let index = Int.random(in: 0..<names.count, using: &writer.random)
                    let zone = ZoneNumber(UInt32(1 + index % 2))
                    let key = RecordKey(zone: zone, name: ExactName(names[index]))
                    let type = types[index / 2 % types.count]
                    let entries = writer.entries(for: key, of: type, in: live)
                    if entries.isEmpty {
                        try store.append([acceptance(store.stored.withLock { $0.state })])
                        _ = live.applyWriting([acceptance(live)])
                    } else {
                        try store.append(entries, writer.contents)
                        _ = live.applyWriting(entries)
                    }
                    writer.contents = [:]
                    live.forgetWhatChanged()
                }
                assertEqual(store.stored.withLock { $0.state }, live, row)
                if round > 0 { try store.compact() }
                store.close()
                let opened = try open(files)
                XCTAssertEqual(opened.recovery.damages, [], row)
                assertEqual(opened.state, live, row)
                XCTAssertGreaterThan(opened.nextHandle, writer.last, row)
                let named = live.sortedKeys(of: nil).flatMap { live[$0]?.handles ?? [] }
                XCTAssertEqual(Set(try opened.store.load(named).records.keys), Set(named), row)
                store = opened.store
            }
        }
    }

    private static let settled = [
        #"{"zone":1,"name":"a","record":{"type":"T","known":{"tag":"t","handle":7,"hash":9,"modified":5,"size":3},"listing":2},"places":[[7,0,10]]}"#,
        #"{"zone":1,"name":"カ","record":{"type":"é","known":{"tag":"","handle":7,"hash":18446744073709551615},"listing":0},"places":[[7,99,1]]}"#,
        #"{"zone":3,"name":"","record":{"type":"T","known":{"tag":"t","handle":0,"hash":0,"size":3},"listing":0},"places":[[0,0,0]]}"#,
    ]

    private func assertReadsAsParsed(_ line: [UInt8], isSettled: Bool? = nil, _ row: String) throws {
        try line.withUnsafeBytes { bytes in
            guard let settled = SettledRow(bytes) else { return XCTAssertNotEqual(isSettled, true, row) }
            XCTAssertNotEqual(isSettled, false, row)
            let parsed = try JournalLine.parse(line)
            XCTAssertEqual(parsed.problems, [], row)
            guard case .record(let key, let type, let record) = parsed.row else { return XCTFail(row) }
            XCTAssertEqual(RecordKey(zone: settled.zone, name: settled.name(bytes)), key, row)
            XCTAssertEqual(String(decoding: bytes[settled.type], as: UTF8.self), type?.text, row)
            XCTAssertEqual(settled.record(bytes, .unknown), record, row)
            XCTAssertEqual([settled.place], parsed.places, row)
        }
    }

    func testASettledRowReadsAsItIsParsed() throws {
        for line in Self.settled {
            try assertReadsAsParsed(Array(line.utf8), isSettled: true, line)
            for member in [
                #""lookUpNeeded":true"#, #""pending":{"delete":true}"#, #""deletionSent":true"#,
                #""news":3,"undecodable":true"#, #""lost":{"tag":"t","handle":3,"hash":1}"#,
                #""future":1"#,
            ] {
                let more = line.replacing(#","listing""#, with: ",\(member),\"listing\"")
                try assertReadsAsParsed(Array(more.utf8), isSettled: false, more)
            }
        }
    }

    func testNoChangedByteMakesARowSettledThatReadsOtherwise() throws {
        for line in Self.settled.map({ Array($0.utf8) }) {
            for index in line.indices {
                for byte in Array("\"\\,:{}[]0-1e.\u{0}".utf8) + [0xC3, 0xFF] {
                    var changed = line
                    changed[index] = byte
                    try assertReadsAsParsed(changed, "byte \(index): \(byte)")
                    changed = line
                    changed.insert(byte, at: index)
                    try assertReadsAsParsed(changed, "before byte \(index): \(byte)")
                }
                var changed = line
                changed.remove(at: index)
                try assertReadsAsParsed(changed, "without byte \(index)")
            }
        }
    }

    /// No snapshot has a record twice; a file that does must not confuse the counts.
    func testOfRepeatedRowsTheLaterParsedOneCounts() throws {
        func row(_ name: String, _ handle: Int, _ more: String = "") -> String {
            #"{"zone":1,"name":"\#(name)","record":{"type":"T","known":{"tag":"t\#(handle)","handle":\#(handle),"#
                + #""hash":9}\#(more),"listing":0},"places":[[\#(handle),0,10]]}"#
        }
        let looksUp = #","lookUpNeeded":true"#
        let cases: [(lines: [String], handle: UInt64)] = [
            ([row("a", 1), row("b", 2), row("a", 3)], 3), ([row("a", 1), row("a", 3), row("b", 2)], 3),
            ([row("a", 3, looksUp), row("a", 1), row("b", 2)], 3),
            ([row("a", 1), row("a", 3, looksUp), row("b", 2)], 3),
        ]
        for (number, (lines, handle)) in cases.enumerated() {
            var fold = JournalFold()
            for line in lines {
                let position = LogPosition(file: LogFileName(.snapshot, 2).identifier, offset: 0, length: 1)
                _ = try Array(line.utf8).withUnsafeBytes { try fold.take($0, at: position) }
            }
            XCTAssertEqual(try fold.finish { XCTFail("\($0): \($1)") }, [])
            XCTAssertEqual(fold.state["a"]?.known?.handle, ContentHandle(handle), "\(number)")
            XCTAssertEqual(fold.state.sortedNames, ["a", "b"], "\(number)")
            XCTAssertEqual(fold.state.records.count, 2, "\(number)")
            XCTAssertEqual(fold.state.brokenInvariants(), [], "\(number)")
        }
    }

    /// Settled rows of a snapshot and of a journal, parsed ones and gone ones, each in place of the others.
    func testOpeningGivesTheLiveStateAfterAnyRows() throws {
        for seed in 0..<Cases.sample(UInt64(6), of: 20) {
            var random = SeededBytes(seed: seed)
            let files = SimulatedFileSystem()
            var opened = try open(files)
            var live = opened.state
            if seed.isMultiple(of: 2) { try opened.store.append([.followed], to: &live) }
            var handle: UInt64 = 0
            for step in 0..<120 {
                let name = ["n\(random.below(9))", "\"\(random.below(2))"][random.below(5) / 4]
                handle += 1
                let contents = [ContentHandle(handle): JournalSamples.record(name, "text \(handle)")]
                let change = LocalChange(
                    kind: .save(ContentHandle(handle), size: 1),
                    edited: nil,
                    base: live[RecordKey(name)]?.known?.handle
                )
                var told = StreamRow()
                told.accepted = live.summary.lastNumber
                let entry: StateChange? =
                    switch random.below(12) {
                    case 0...5: .fetched(name: name, KnownVersion(handle))
                    case 6: .queued(name: name, change)
                    case 7: .fetchedDeletion(name: name)
                    case 8: .row(.record(RecordKey(name), type: nil, nil))
                    case 9: .streams(told)
                    default: nil
                    }
                if let entry {
                    let rows = live.applyWriting([entry]).rows
                    let batch = JournalBatch(rows: rows, contents: contents, flush: true)
                    try opened.store.append(batch, leaving: live)
                    continue
                }
                if random.below(2) == 0 { try opened.store.compact() }
                opened.store.close()
                opened = try open(files)
                let row = "seed \(seed), step \(step)"
                XCTAssertEqual(opened.state.records, live.records, row)
                XCTAssertEqual(opened.state.untold, live.untold, row)
                XCTAssertEqual(opened.state.knownCount, live.knownCount, row)
                XCTAssertEqual(opened.state.brokenInvariants(), [], row)
                XCTAssertFalse(opened.recovery.isDamaged, row)
                for key in live.sortedKeys(of: nil) {
                    XCTAssertEqual(opened.state.recordType(of: key), live.recordType(of: key), row)
                    let handles = live[key]?.handles ?? []
                    XCTAssertEqual(try opened.store.load(handles).count, Set(handles).count, row)
                }
                live = opened.state
            }
            opened.store.close()
        }
    }

    func testAHandleBehindTheRowsIsNotGivenAwayAgain() throws {
        let files = SimulatedFileSystem()
        let store = try open(files).store
        for number in 1...9 {
            try store.append(
                [.fetched(name: "n\(number)", KnownVersion(UInt64(number)))],
                [ContentHandle(UInt64(number)): JournalSamples.record("n", "x")]
            )
        }
        try store.compact()
        store.close()
        let path = "/state/snapshot-2.jsonl"
        let bytes = try XCTUnwrap(files.bytes(at: path))
        for text in ["\"lastHandle\"", "\"n9\""] {
            let place = try XCTUnwrap(bytes.firstRange(of: Array(text.utf8))).lowerBound
            try files.withDisk { $0.files[path]?.change(.write([bytes[place + 1] ^ 1], at: place + 1)) }
        }
        let opened = try open(files)
        XCTAssertTrue(opened.recovery.isDamaged)
        XCTAssertEqual(opened.nextHandle, 10)
        opened.store.close()
    }

    /// Its neighbours are where their rows say.
    func testADamagedNewlineBehindTheRowsCostsNothing() throws {
        let files = SimulatedFileSystem()
        let store = try open(files).store
        for number in 1...3 as ClosedRange<UInt64> {
            let change = LocalChange(kind: .save(ContentHandle(number), size: 1), edited: nil, base: nil)
            try store.append(
                [.queued(name: "n\(number)", change)],
                [ContentHandle(number): JournalSamples.record("n", "x")]
            )
        }
        try store.compact()
        store.close()
        let path = "/state/snapshot-2.jsonl"
        let bytes = try XCTUnwrap(files.bytes(at: path))
        let newline = try XCTUnwrap(bytes.firstRange(of: Array("\n[2,".utf8))).lowerBound
        let summary = try XCTUnwrap(bytes.firstRange(of: Array("\"lastHandle\"".utf8))).lowerBound
        for place in [newline, summary] {
            try files.withDisk { $0.files[path]?.change(.write([bytes[place] ^ 4], at: place)) }
        }
        let opened = try open(files)
        XCTAssertTrue(opened.recovery.isDamaged)
        XCTAssertEqual(opened.lostEdits, [])
        XCTAssertEqual(try opened.store.load([1, 2, 3]).count, 3)
        opened.store.close()
    }
}
