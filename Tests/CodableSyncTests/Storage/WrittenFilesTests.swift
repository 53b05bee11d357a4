import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Files as versions of the library have written them: each later version reads them.
///
/// A version with another format adds its files to ``WrittenFiles``, and leaves those that are there as they are.
final class WrittenFilesTests: XCTestCase {
    private let date = Date(timeIntervalSince1970: 1_800_000_000)
    private let directory = "/d/users/1"

    private let identity = StateIdentity(
        cloud: "cloud-1",
        scope: "private",
        container: "iCloud.example",
        zone: "Item",
        recordType: "Item"
    )

    private func record(_ name: String, _ title: String) -> Record {
        var record = Record(
            recordType: "Item",
            recordID: RecordID(recordName: name, zoneID: ZoneID(zoneName: "Item")),
            fields: ["title": .string(title), "visits": .int64(3), "opened": .date(date)]
        )
        record.encryptedFields = name == "known" ? ["title"] : []
        return record
    }

    /// The records of the state, by name.
    private var records: [(name: String, record: RecordState)] {
        func version(_ handle: UInt64, schema: UInt32 = 0) -> KnownVersion {
            var version = KnownVersion(
                changeTag: "tag \(handle)",
                handle: ContentHandle(handle),
                hash: handle * 1_000_003,
                modified: date,
                size: 40
            )
            if schema > 0 { version.schema = SchemaVersion(schema) }
            // It follows from the summary.
            version.isTooNew = schema > 2
            return version
        }
        var known = RecordState()
        known.server = .known(version(1))
        known.listing = 2
        var edited = RecordState()
        edited.server = .known(version(2))
        edited.pending = LocalChange(kind: .save(3, size: 41), edited: date, base: 2)
        edited.sent = [SentVersion(handle: 3, base: 2)]
        var deleted = RecordState()
        deleted.server = .known(version(4))
        deleted.pending = LocalChange(kind: .delete, edited: date, base: 4)
        deleted.isDeletionSent = true
        var parked = RecordState()
        parked.server = .known(version(5))
        parked.pending = LocalChange(
            kind: .save(6, size: 42),
            edited: date,
            base: 5,
            parked: ParkReason(kind: .refused, message: "The server refused it.", attempts: 2)
        )
        var drafted = RecordState()
        drafted.server = .known(version(7))
        drafted.pending = LocalChange(kind: .save(8, size: 43), edited: date, base: 7, contested: 9)
        drafted.pending?.on.sides = [.init(edit: 10, ancestor: 11, contested: 12, isOwn: true)]
        drafted.pending?.earlier = [13]
        drafted.carried = CarriedTags([.init("carried", 14)], ownBase: 15)
        var lost = RecordState()
        lost.server = .lost(version(16), isRefused: true)
        var newer = RecordState()
        newer.server = .known(version(17, schema: 3))
        newer.kept = version(18, schema: 2)
        var gone = RecordState()
        gone.server = .deleted(19)
        gone.news = RecordNews(8)
        var saved = RecordState()
        saved.server = .known(version(20))
        saved.news = RecordNews(9, isSaved: true)
        saved.mustLookUp = true
        var undecodable = RecordState()
        undecodable.server = .known(version(21))
        undecodable.news = RecordNews(7)
        undecodable.news?.isUndecodable = true
        return [
            ("known", known), ("edited", edited), ("deleted", deleted), ("parked", parked),
            ("drafted", drafted),
            ("lost", lost), ("newer", newer), ("gone", gone), ("saved \"\u{1F30D}\"\n", saved),
            ("undecodable", undecodable),
        ]
    }

    private var zone: ZoneState {
        var zone = ZoneState(zoneID: ZoneID(zoneName: "Item"))
        zone.stage = .ready
        zone.token = ChangeToken("zone token")
        zone.isSubscribed = true
        zone.listing = 2
        zone.unfetched = ["tag 20"]
        return zone
    }

    private var summary: StateSummary {
        var summary = StateSummary()
        summary.databaseToken = ChangeToken("database token")
        summary.serverWait = date
        summary.lastFetch = date
        summary.lastNumber = 9
        summary.initialModels = [InitialModels("Item", through: "m")]
        summary.schemas = [ReadableSchema(type: "Item", version: SchemaVersion(2), carriesTag: true)]
        summary.identity = identity
        summary.user = "alice"
        summary.switchCount = 2
        summary.untoldSwitch = UntoldSwitch(from: "bob")
        summary.isFollowed = true
        return summary
    }

    private var streams: StreamRow {
        var streams = StreamRow(
            elements: [.init(stream: 1, keys: ["gone"])],
            suspects: ["undecodable"]
        )
        streams.accepted = 7
        streams.replay = .everything(after: "edited")
        return streams
    }

    private var notes: [SyncNote] {
        [
            SyncNote(kind: .parked, date: date, recordName: "parked", message: "The server refused it."),
            SyncNote(kind: .recovered, date: date, message: "A line was damaged."),
        ]
    }

    /// Writes a state with everything that a state can have, half of it before a compaction.
    private func write(on files: SimulatedFileSystem) throws {
        let store = try JSONStateStore.open(
            directory: directory,
            fileSystem: files,
            identity: identity,
            newLog: { 0x1234_5678_9ABC_DEF0 }
        ).store
        var state = SyncState()
        func put(_ rows: [StateRow], _ contents: [ContentHandle: Record] = [:]) throws {
            for row in rows { state.apply(row: row) }
            try store.append(JournalBatch(rows: rows, contents: contents, flush: true), leaving: state)
        }
        var first = summary
        (first.user, first.switchCount, first.untoldSwitch) = (nil, 0, nil)
        try put([.summary(first), .zone(.first, zone), .streams(streams)] + notes.map { .note($0) })
        for (index, (name, record)) in records.enumerated() {
            if index == records.count / 2 { try store.compact() }
            var contents: [ContentHandle: Record] = [:]
            for handle in record.handles { contents[handle] = self.record(name, "title \(handle.number)") }
            try put([.record(RecordKey(name), type: "Item", record)], contents)
        }
        try put([.summary(summary)])
        store.close()
    }

    func testTheFilesOfThisVersionAreKept() throws {
        let files = SimulatedFileSystem()
        try write(on: files)
        let names = files.names(in: directory)
        XCTAssertEqual(names, WrittenFiles.version7.keys.sorted())
        for name in names {
            let text = String(decoding: files.bytes(at: "\(directory)/\(name)") ?? [], as: UTF8.self)
            XCTAssertEqual(text, WrittenFiles.version7[name], "This version writes \(name) in another way.")
        }
    }

    func testFilesOfEarlierVersionsAreRead() throws {
        for (version, written) in WrittenFiles.all {
            let files = SimulatedFileSystem()
            for (name, text) in written { files.place(Array(text.utf8), at: "\(directory)/\(name)") }
            let opened = try JSONStateStore.open(directory: directory, fileSystem: files, identity: identity)
            XCTAssertEqual(opened.recovery, LogRecovery(read: opened.recovery), version)
            XCTAssertEqual(opened.state.summary, summary, version)
            XCTAssertEqual(opened.state.zone(.first), zone, version)
            XCTAssertEqual(opened.state.streams, streams, version)
            XCTAssertEqual(opened.state.notes, notes, version)
            XCTAssertEqual(opened.state.sortedNames, records.map(\.name).sorted(), version)
            for (name, record) in records {
                let key = RecordKey(name)
                XCTAssertEqual(opened.state[key]?.untyped, record.untyped, "\(version): \(name)")
                XCTAssertEqual(opened.state.recordType(of: key), "Item", "\(version): \(name)")
                let contents = try opened.store.load(record.handles)
                for handle in record.handles {
                    let expected = self.record(name, "title \(handle.number)")
                    XCTAssertEqual(contents[handle], expected, "\(version): \(name), \(handle)")
                }
            }
            XCTAssertEqual(opened.nextHandle, 22, version)
            XCTAssertEqual(opened.state.brokenInvariants(), [], version)
            opened.store.close()
            let directory = try StateDirectory(path: "/d", identity: identity, fileSystem: files)
            XCTAssertEqual(try directory.openLast().state.summary.user, "alice", version)
            directory.release()
        }
    }
}

extension RecordState {
    /// Without the type's number, which is the state's.
    fileprivate var untyped: RecordState {
        var record = self
        record.type = .unknown
        return record
    }
}

extension LogRecovery {
    /// Findings of a log without damage.
    fileprivate init(read recovery: LogRecovery) {
        self.init()
        visitedLines = recovery.visitedLines
        oldestVersion = recovery.oldestVersion
    }
}
