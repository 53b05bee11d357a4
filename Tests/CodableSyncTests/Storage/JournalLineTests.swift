import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

@testable import CodableSync

/// The JSON of the journal's entries.
final class JournalLineTests: XCTestCase {
    func testEveryEntryRoundTrips() throws {
        for entry in JournalSamples.entries {
            let line = JournalLine.make(entry).bytes
            XCTAssertEqual(try JournalLine.parse(line).entry, entry, String(decoding: line, as: UTF8.self))
            XCTAssertFalse(line.contains(10), "a line contains no newline")
        }
    }

    func testContentsAreAtTheirReportedRanges() throws {
        var record = JournalSamples.record("A", "some \"text\"")
        for count in 0..<6 {
            record.encryptedFields = count < 3 ? [] : ["text", "\"", "\u{1F30D}"]
            let contents = (0..<count % 3).map { [record] number in
                (
                    handle: ContentHandle(UInt64(number) + 5),
                    write: { (json: inout JSONWriter) in json.contents(record) }
                )
            }
            let change = LocalChange(kind: .save(5, size: 1), edited: nil, base: nil)
            let line = JournalLine.make(.queued(name: "A", change), contents: contents)
            let parsed = try JournalLine.parse(line.bytes)
            XCTAssertEqual(parsed.contents.map(\.0), line.places.map(\.handle))
            XCTAssertEqual(parsed.contents.map(\.1), line.places.map(\.range))
            for (_, range) in parsed.contents {
                let read = try JournalLine.record(inContents: Array(line.bytes[range]))
                XCTAssertEqual(read, record)
                XCTAssertEqual(read.encryptedFields, record.encryptedFields)
            }
        }
    }

    /// A later version may add more to a row.
    func testARowOfContentsMayHaveNamesAndMore() throws {
        let record = #"{"name":"A","zone":"Z","type":"T","fields":{"text":"x"}}"#
        for (rest, names) in [
            ("", Set<String>()), (",[]", []), (#", ["text"]"#, ["text"]),
            (#",["text"],{"a":[]},1"#, ["text"]),
            (#",["text","text","other"]"#, ["text", "other"]),
        ] {
            let line = Array(
                #"{"zone":1,"name":"A","retried":true,"contents":[[5,\#(record)\#(rest) ]]}"#.utf8
            )
            let places = try JournalLine.parse(line).contents
            XCTAssertEqual(places.map(\.0), [5], rest)
            for (_, range) in places {
                let read = try JournalLine.record(inContents: Array(line[range]))
                XCTAssertEqual(read.fields, ["text": "x"], rest)
                XCTAssertEqual(read.encryptedFields, names, rest)
            }
        }
    }

    /// Versions before the names read the first two elements of a row, and skip the rest.
    func testARecordWithNamesIsReadableWithoutThem() throws {
        var record = JournalSamples.record("A", "x")
        record.encryptedFields = ["text"]
        let line = JournalLine.make(.retried(name: "A"), contents: [(5, { [record] in $0.contents(record) })])
        let text = String(decoding: line.bytes, as: UTF8.self)
        record.encryptedFields = []
        let alone = String(decoding: RecordJSON.encode(record), as: UTF8.self)
        XCTAssertTrue(text.hasSuffix(#""contents":[[5,\#(alone),["text"]]]}"#), text)
    }

    func testMalformedNamesAreAnError() {
        let record = #"{"name":"A","zone":"Z","type":"T","fields":{"text":"x"}}"#
        for names in ["[1]", #"["text",null]"#, #"[["text"]]"#, #""text""#, "{}", "null", "true", "7"] {
            XCTAssertThrowsError(try JournalLine.record(inContents: Array("\(record),\(names)".utf8)), names)
            {
                guard case RecordCodingError.malformedJSON? = $0 as? RecordCodingError else {
                    return XCTFail("\(names): \($0)")
                }
            }
        }
        for rest in [",", "]", " ]", "][]", ",[]]", #",["text"],"#, "[]", ",[],[]"] {
            XCTAssertThrowsError(try JournalLine.record(inContents: Array("\(record)\(rest)".utf8)), rest)
        }
    }

    func testLineBeginsWithTheRecordsName() {
        let line = String(decoding: JournalLine.make(.retried(name: "A")).bytes, as: UTF8.self)
        XCTAssertEqual(line, #"{"zone":1,"name":"A","retried":true}"#)
    }

    func testAnUnknownKindIsDistinguishedFromDamage() {
        for line in [#"{"zone":1,"name":"A","invented":true}"#, #"{"invented":{"a":[1]}}"#] {
            XCTAssertThrowsError(try JournalLine.parse(Array(line.utf8)), line) { error in
                XCTAssertEqual(error as? JournalLineError, .unknownKind("invented"), line)
            }
        }
        for line in [
            "{}", #"{"name":"A"}"#, #"{"page":{}}"#, #"{"zone":1,"name":"A","queued":{}}"#, "[]", "", "{",
        ] {
            XCTAssertThrowsError(try JournalLine.parse(Array(line.utf8)), line) { error in
                if case .unknownKind? = error as? JournalLineError { XCTFail(line) }
            }
        }
    }

    func testUnknownMembersOfKnownKindsAreIgnored() throws {
        let line =
            #"{"zone":1,"name":"A","fetched":{"type":"T","tag":"t","handle":1,"hash":2,"new":[{"a":1}]}}"#
        let version = KnownVersion(changeTag: "t", handle: 1, hash: 2, modified: nil)
        XCTAssertEqual(try JournalLine.parse(Array(line.utf8)).entry, .fetched(name: "A", version))
    }

    func testLargestNumbersDoNotTrap() throws {
        let max = UInt64.max
        XCTAssertThrowsError(
            try JournalLine.parse(
                Array(#"{"zone":1,"name":"A","queued":{"type":"T","save":\#(max),"size":1}}"#.utf8)
            )
        )
        var state = SyncState()
        var summary = StateSummary()
        summary.deliveryOrder = max
        XCTAssertThrowsError(try JournalLine.parse(JournalLine.make(.summary(summary)).bytes))
        var zone = ZoneState()
        zone.listing = max
        XCTAssertThrowsError(try JournalLine.parse(JournalLine.make(.zoneState(zone)).bytes))
        for number in ["0", "1073741824", "4294967296", "-1"] {
            XCTAssertThrowsError(try JournalLine.parse(Array(#"{"zone":\#(number),"subscribed":true}"#.utf8)))
        }
        summary.deliveryOrder = 1 << 61 - 1
        zone.listing = 1 << 61 - 1
        for entry in [
            JournalEntry.summary(summary), .zoneState(zone), .listingBegan,
            .fetched(name: "A", KnownVersion(1)),
            .page(token: ChangeToken("t"), isComplete: true),
        ] {
            state.apply(try JournalLine.parse(JournalLine.make(entry).bytes).entry)
        }
        XCTAssertNotNil(state["A"]?.undelivered)
    }

    /// Parsing and applying a line never traps, whatever its bytes.
    func testMutatedLinesNeverTrap() {
        var random = SeededBytes(seed: 7)
        let lines = JournalSamples.entries.map { JournalLine.make($0).bytes }
        var understood = 0
        for line in lines {
            for _ in 0..<60 {
                var bytes = line
                for _ in 0...random.below(3) { random.mutate(&bytes) }
                guard let parsed = try? JournalLine.parse(bytes) else { continue }
                understood += 1
                var state = SyncState()
                state.apply(.record(name: "A", JournalSamples.records[0]))
                state.apply(parsed.entry)
                state.apply(.listingBegan)
            }
        }
        XCTAssertGreaterThan(understood, 100)
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
