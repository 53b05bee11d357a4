import Foundation
import RecordCoding
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
        let record = JournalSamples.record("A", "some \"text\"")
        for count in 0..<3 {
            let contents = (0..<count).map { number in
                (
                    handle: ContentHandle(UInt64(number) + 5),
                    write: { (json: inout JSONWriter) in RecordJSON.append(record, to: &json) }
                )
            }
            let change = LocalChange(kind: .save(5, size: 1), edited: nil, base: nil)
            let line = JournalLine.make(.queued(name: "A", change), contents: contents)
            let parsed = try JournalLine.parse(line.bytes)
            XCTAssertEqual(parsed.contents.map(\.0), line.places.map(\.handle))
            XCTAssertEqual(parsed.contents.map(\.1), line.places.map(\.range))
            for (_, range) in parsed.contents {
                XCTAssertEqual(try RecordJSON.decode(line.bytes[range]), record)
            }
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
