import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

@testable import CodableSync

/// The JSON of the journal's entries.
final class JournalLineTests: XCTestCase {
    private let gone = StateRow.record("A", type: nil, nil)

    func testEveryLineRoundTrips() throws {
        for line in JournalSamples.lines {
            let bytes = JournalLine.make(line)
            let read = try JournalLine.parse(bytes).row
            XCTAssertEqual(read.asRead, line.asRead, String(decoding: bytes, as: UTF8.self))
            XCTAssertFalse(bytes.contains(10), "a line contains no newline")
        }
    }

    /// I-02: the lines of a batch give the state that its entries gave.
    func testLinesGiveTheStateThatTheirEntriesGave() throws {
        for seed in 0..<Cases.sample(UInt64(8), of: 40) {
            var random = CodableSync.SplitMix64(seed: seed)
            var (state, read) = (SyncState(), SyncState())
            for _ in 0..<60 {
                let entries = (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in
                    JournalSamples.entries.randomElement(using: &random)
                }
                for line in state.applyWriting(entries).rows {
                    read.apply(row: try JournalLine.parse(JournalLine.make(line)).row)
                }
                XCTAssertEqual(read.rows, state.rows, "seed \(seed): \(entries)")
            }
        }
    }

    func testContentsAreReadAsTheyWereWritten() throws {
        var record = JournalSamples.record("A", "some \"text\"")
        for names in [[], ["text"], ["text", "\"", "\u{1F30D}"]] as [Set<String>] {
            record.encryptedFields = names
            for number in [0, 1, 17, (1 << 62) - 1] as [UInt64] {
                let line = JournalLine.make(ContentHandle(number), record)
                let read = try JournalLine.record(of: ContentHandle(number), in: line)
                XCTAssertEqual(read, record)
                XCTAssertEqual(read.encryptedFields, names)
                line.withUnsafeBytes { line in
                    XCTAssertTrue(JournalLine.isWhole(line))
                    XCTAssertEqual(JournalLine.handle(of: line), ContentHandle(number))
                }
                XCTAssertThrowsError(try JournalLine.record(of: ContentHandle(number + 1), in: line))
            }
        }
    }

    func testEachChangedByteOfContentsIsNoticed() throws {
        var record = JournalSamples.record("A", "some text")
        record.encryptedFields = ["text"]
        let line = JournalLine.make(17, record)
        for index in line.indices {
            for bit in 0..<8 {
                var changed = line
                changed[index] ^= 1 << UInt8(bit)
                XCTAssertThrowsError(try JournalLine.record(of: 17, in: changed), "byte \(index), bit \(bit)")
            }
        }
        for count in line.indices {
            XCTAssertThrowsError(try JournalLine.record(of: 17, in: Array(line[..<count])), "\(count) bytes")
        }
    }

    private func contents(_ elements: String) -> [UInt8] { Array(JournalLine.contents(5, elements).utf8) }

    /// A later version may add more to a line of contents.
    func testALineOfContentsMayHaveNamesAndMore() throws {
        let record = #"{"name":"A","zone":"Z","type":"T","fields":{"text":"x"}}"#
        for (rest, names) in [
            ("", Set<String>()), (",[]", []), (#", ["text"]"#, ["text"]),
            (#",["text"],{"a":[]},1"#, ["text"]),
            (#",["text","text","other"]"#, ["text", "other"]),
        ] {
            let read = try JournalLine.record(of: 5, in: contents(record + rest + " "))
            XCTAssertEqual(read.fields, ["text": "x"], rest)
            XCTAssertEqual(read.encryptedFields, names, rest)
        }
    }

    /// A version before the names reads the record, and skips the rest.
    func testARecordWithNamesIsReadableWithoutThem() throws {
        var record = JournalSamples.record("A", "x")
        record.encryptedFields = ["text"]
        let text = String(decoding: JournalLine.make(5, record), as: UTF8.self)
        record.encryptedFields = []
        let alone = String(decoding: RecordJSON.encode(record), as: UTF8.self)
        XCTAssertTrue(text.hasSuffix(#"",\#(alone),["text"]]"#), text)
    }

    func testMalformedNamesAreAnError() {
        let record = #"{"name":"A","zone":"Z","type":"T","fields":{"text":"x"}}"#
        for names in ["[1]", #"["text",null]"#, #"[["text"]]"#, #""text""#, "{}", "null", "true", "7"] {
            XCTAssertThrowsError(try JournalLine.record(of: 5, in: contents("\(record),\(names)")), names) {
                guard case RecordCodingError.malformedJSON? = $0 as? RecordCodingError else {
                    return XCTFail("\(names): \($0)")
                }
            }
        }
        for rest in [",", "]", " ]", "][]", ",[]]", #",["text"],"#, "[]"] {
            XCTAssertThrowsError(try JournalLine.record(of: 5, in: contents("\(record)\(rest)")), rest)
        }
    }

    func testLineBeginsWithTheRecordsName() {
        let line = String(decoding: JournalLine.make(gone), as: UTF8.self)
        XCTAssertEqual(line, #"{"zone":1,"name":"A","record":null}"#)
    }

    func testAnUnknownKindIsDistinguishedFromDamage() {
        for line in [#"{"zone":1,"name":"A","invented":true}"#, #"{"invented":{"a":[1]}}"#] {
            XCTAssertThrowsError(try JournalLine.parse(Array(line.utf8)), line) { error in
                XCTAssertEqual(error as? JournalLineError, .unknownKind("invented"), line)
            }
        }
        for line in [
            "{}", #"{"name":"A"}"#, #"{"zoneState":{}}"#, #"{"zone":1,"name":"A","record":{"pending":{}}}"#,
            "[]", "",
            "{",
        ] {
            XCTAssertThrowsError(try JournalLine.parse(Array(line.utf8)), line) { error in
                if case .unknownKind? = error as? JournalLineError { XCTFail(line) }
            }
        }
    }

    func testUnknownMembersOfKnownKindsAreIgnored() throws {
        let line =
            #"{"zone":1,"name":"A","record":{"type":"T","new":1,"known":{"tag":"t","handle":1,"hash":2,"new":[{}]}}}"#
        var record = RecordState()
        record.server = .known(KnownVersion(changeTag: "t", handle: 1, hash: 2, modified: nil))
        let expected = StateRow.record("A", type: testType, record)
        XCTAssertEqual(try JournalLine.parse(Array(line.utf8)).row, expected)
    }

    func testLargestNumbersDoNotTrap() throws {
        let max = UInt64.max
        XCTAssertThrowsError(
            try JournalLine.parse(
                Array(#"{"zone":1,"name":"A","record":{"pending":{"save":\#(max),"size":1}}}"#.utf8)
            )
        )
        var state = SyncState()
        var summary = StateSummary()
        summary.lastNumber = max
        XCTAssertThrowsError(try JournalLine.parse(JournalLine.make(.summary(summary))))
        var zone = ZoneState()
        zone.listing = max
        XCTAssertThrowsError(try JournalLine.parse(JournalLine.make(.zone(.first, zone))))
        for number in ["0", "1073741824", "4294967296", "-1"] {
            XCTAssertThrowsError(try JournalLine.parse(Array(#"{"zone":\#(number),"zoneState":{}}"#.utf8)))
        }
        summary.lastNumber = 1 << 61 - 1
        zone.listing = 1 << 61 - 1
        for entry in [
            StateChange.summary(summary), .followed, .zoneState(zone), .listingBegan,
            .fetched(name: "A", KnownVersion(1)),
            .page(token: ChangeToken("t"), isComplete: true),
        ] {
            for line in state.applyWriting([entry]).rows { _ = JournalLine.make(line) }
        }
        XCTAssertNotNil(state.undelivered("A"))
    }

    /// Parsing and applying a line never traps, whatever its bytes.
    func testMutatedLinesNeverTrap() {
        var random = SeededBytes(seed: 7)
        let lines = JournalSamples.lines.map { JournalLine.make($0) }
        var understood = 0
        for line in lines {
            for _ in 0..<60 {
                var bytes = line
                for _ in 0...random.below(3) { random.mutate(&bytes) }
                guard let parsed = try? JournalLine.parse(bytes) else { continue }
                understood += 1
                var state = SyncState()
                state.apply(.record(name: "A", JournalSamples.records[0]))
                state.apply(row: parsed.row)
                state.apply(.listingBegan)
            }
        }
        XCTAssertGreaterThan(understood, 100)
    }
}

extension StateRow {
    /// Without what the state derives.
    var asRead: StateRow {
        guard case .record(let key, let type, var record?) = self else { return self }
        record.server.changeVersion { $0.isTooNew = false }
        record.kept?.isTooNew = false
        record.type = .unknown
        return .record(key, type: type, record)
    }
}

extension SyncState {
    /// Every row.
    var rows: [StateRow] {
        var summary = summary
        // A number that no row has is given away again.
        summary.lastNumber = 0
        var rows = [StateRow.summary(summary)]
        rows += notes.map { .note($0) }
        rows += zones.numbers.map { .zone($0, zone($0)) }
        for key in sortedKeys(of: nil) {
            var record = self[key]
            // Nothing is kept but beside a version that is too new.
            if record?.isTooNew == false { record?.kept = nil }
            record?.news?.number = 0
            rows.append(StateRow.record(key, type: recordType(of: key), record).asRead)
        }
        return rows
    }
}

/// Reproducible random damage.
struct SeededBytes {
    private var random: CodableSync.SplitMix64

    init(seed: UInt64) { random = CodableSync.SplitMix64(seed: seed) }

    mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }

    mutating func mutate(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let place = below(bytes.count)
        switch below(5) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(Array("{}[],:\"-0919e.n".utf8)[below(15)], at: place)
        case 3: bytes.removeLast(bytes.count - place)
        default: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: place)
        }
    }
}
