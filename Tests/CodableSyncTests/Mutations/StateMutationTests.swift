import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// State files changed behind valid checksums: no change crashes the process, and an edit made after opening
/// survives a compaction and a reopening.
final class StateMutationTests: XCTestCase {
    private static let directory = "/device/users/1"
    private let database = FakeCloud().database(user: "alice")

    private func location(_ files: SimulatedFileSystem) throws -> StateLocation {
        var configuration = SyncConfiguration()
        configuration.storage = .directory(URL(fileURLWithPath: "/device"))
        configuration.fileSystem = files
        configuration.seed = 1
        return try StateLocation(
            database: database,
            configuration: configuration,
            zoneID: ZoneID(zoneName: "Item"),
            recordType: "Item"
        )
    }

    private let now = Moment(monotonic: .zero, wall: Date(timeIntervalSince1970: 1_800_000_000))

    /// A state with facts of every kind, both in the snapshot and in the journal after it.
    private func prepare() async throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem()
        for isFirst in [true, false] {
            let opened = try await location(files).open(at: now)
            if isFirst { try put(.claimed(by: "alice"), opened.store) }
            var handle = opened.nextHandle
            for name in ["a", "b", "c"].map({ isFirst ? $0 : $0 + "2" }) {
                let known = KnownVersion(
                    changeTag: "t\(handle)",
                    handle: ContentHandle(handle),
                    hash: 3,
                    modified: now.wall,
                    size: 30
                )
                try put(.fetched(name: name, known), opened.store, [handle: name])
                let edit = LocalChange(
                    kind: .save(ContentHandle(handle + 1), size: 40),
                    edited: now.wall,
                    base: known.handle
                )
                try put(.queued(name: name, edit), opened.store, [handle + 1: name])
                try put(.sendBegan([SendItem(name: name, handle: edit.handle)]), opened.store)
                handle += 2
            }
            for entry in JournalSamples.entriesOfAll {
                let isOfTheStart = ["made", "claimed", "registered", "summary"].contains {
                    entry.description.hasPrefix($0)
                }
                if !isOfTheStart { try put(entry, opened.store) }
            }
            if isFirst { try opened.store.compact() }
            opened.close()
        }
        return files
    }

    private func put(
        _ entry: StateChange,
        _ store: JSONStateStore,
        _ contents: [UInt64: String] = [:]
    ) throws {
        var records: [ContentHandle: Record] = [:]
        for (handle, name) in contents {
            var record = JournalSamples.record(name, "x")
            record.encryptedFields = ["text"]
            records[ContentHandle(handle)] = record
        }
        try store.append([entry], records)
    }

    func testMutatedStatesCanBeReadExtendedAndReopened() async throws {
        let whole = try await prepare()
        let paths = whole.files.keys.filter { $0.hasSuffix(".jsonl") }.sorted()
        XCTAssertEqual(paths.count, 4, "each switch has begun a file")
        var openedCount = 0
        try await Mutations.forEach(else: Cases.sample(15, of: 100)) { seed in
            var mutator = FileMutator(seed: seed)
            let files = whole.crashed(keeping: .allWrites)
            let path = paths[mutator.below(paths.count)]
            files.place(mutator.mutate(try XCTUnwrap(files.bytes(at: path))), at: path)
            let before = files.withoutLocks
            let opened: OpenedState
            do {
                opened = try await location(files).open(at: now)
            } catch let error as SyncError {
                assertMayBeRefused(error, seed)
                XCTAssertEqual(files.withoutLocks, before, "seed \(seed): rejected, but its files changed")
                return
            }
            try await goOn(opened, files, seed)
            openedCount += 1
        }
        if Mutations.areCommitted { XCTAssertGreaterThan(openedCount, 0) }
    }

    /// Asserts that the files were rejected as those of another version, another user or another program.
    private func assertMayBeRefused(_ error: SyncError, _ seed: UInt64) {
        switch error.code {
        case .stateTooNew, .configuration: break
        case .storageFailed:
            let reasons = ["is not a file of", "which an older version of the library wrote"]
            XCTAssertTrue(reasons.contains { error.message.contains($0) }, "seed \(seed): \(error)")
        default: XCTFail("seed \(seed): \(error)")
        }
    }

    /// Reads everything, drives a machine, appends, compacts and reopens.
    private func goOn(_ opened: OpenedState, _ files: SimulatedFileSystem, _ seed: UInt64) async throws {
        XCTAssertNil(opened.compactionFailure, "seed \(seed)")
        try readAll(opened)
        drive(opened.state)
        let number = opened.nextHandle
        let edit = LocalChange(kind: .save(ContentHandle(number), size: 9), edited: now.wall, base: nil)
        let key = RecordKey(zone: opened.state.engineZone, name: "new")
        try put(.queued(key, type: testType, edit), opened.store, [number: "new"])
        try opened.store.compact()
        opened.close()
        let again = try await location(files).open(at: now)
        defer { again.close() }
        let change = again.state[key]?.pending
        XCTAssertEqual(change, edit, "seed \(seed): \(again.recovered)")
        let contents = try again.store.load([ContentHandle(number)])
        XCTAssertEqual(contents[ContentHandle(number)]?.recordID.recordName, "new", "seed \(seed)")
        XCTAssertEqual(again.recovered, [], "seed \(seed): damage is reported once")
    }

    private func readAll(_ opened: OpenedState) throws {
        for name in opened.state.sortedNames {
            guard let record = opened.state[name] else { continue }
            _ = try opened.store.load(record.handles)
            _ = opened.state.shownHandle(of: name)
        }
    }

    /// Lets a machine plan its first requests and deliver undelivered changes.
    private func drive(_ state: SyncState) {
        var machine = SyncStateMachine(state: state, configuration: MachineConfiguration(), at: now)
        let request = SyncInput.delivery(.streamRequested(StreamID(1)))
        for input in [.calls(.start), request, request] {
            machine.handle(input, at: now)
            _ = machine.endTurn(at: now)
        }
    }
}
