import Foundation
import XCTest

@testable import CodableSync

/// Files of two users, or of two zones, that a restored backup or a hand has put into each other's directories.
class SwappedFileScenarios: AccountScenario {
    private static let users = ["alice", "bob"]
    private static let directories = ["/device/users/1", "/device/users/2"]

    /// A disk on which two users have records, some of them not sent: before a compaction in the first journal, after
    /// it in a snapshot and the journal that follows.
    private func prepareTwoUsers(compacted: Bool) async throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem()
        try await edit(files, "synced", "unsent")
        guard compacted else { return files }
        for directory in Self.directories {
            let store = try JSONStateStore.open(directory: directory, fileSystem: files).store
            try store.compact()
            store.close()
        }
        try await edit(files, "synced late", "unsent late")
        return files
    }

    private func edit(_ files: SimulatedFileSystem, _ sent: String, _ unsent: String) async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice") { $0.fileSystem = files }
        for user in Self.users {
            phone.account.signIn(user)
            try await phone.engine.sync()
            try await phone.engine.upload(Note("\(user) \(sent)".replacing(" ", with: "-"), user))
            try await phone.engine.sync()
            try await phone.engine.upload(Note("\(user) \(unsent)".replacing(" ", with: "-"), user))
        }
        try await phone.engine.close()
    }

    /// Exchanges files of the two directories, each under its own name.
    private func exchange(_ names: [String], on files: SimulatedFileSystem) throws {
        for name in names {
            let paths = Self.directories.map { "\($0)/\(name)" }
            let bytes = try paths.map { try XCTUnwrap(files.bytes(at: $0), $0) }
            files.place(bytes[1], at: paths[0])
            files.place(bytes[0], at: paths[1])
        }
    }

    /// Each user sees and sends nothing of the other's, whatever else is lost.
    private func assertNothingForeign(
        on files: SimulatedFileSystem,
        keeping kept: [String],
        _ row: String
    ) async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice") { $0.fileSystem = files }
        for user in Self.users + Self.users {
            phone.account.signIn(user)
            try await phone.engine.sync()
            let shown = try await phone.shown()
            XCTAssertEqual(shown.filter { !$0.hasPrefix(user) }, [], "\(row): shown to \(user)")
            let server = try await names(of: user, phone)
            XCTAssertEqual(server.filter { !$0.hasPrefix(user) }, [], "\(row): in the cloud of \(user)")
            XCTAssertEqual(shown, server, "\(row): \(user) has all that the cloud has")
            let edits = kept.map { "\(user)-\($0)" }
            XCTAssertEqual(edits.filter { !server.contains($0) }, [], "\(row): lost edits of \(user)")
        }
        try await phone.engine.close()
    }

    func testExchangedFilesOfTwoUsersShowAndSendNothingForeign() async throws {
        let rows: [(compacted: Bool, names: [String])] = [
            (false, ["journal-1.jsonl"]), (true, ["journal-2.jsonl"]), (true, ["snapshot-2.jsonl"]),
            (true, ["journal-2.jsonl", "snapshot-2.jsonl"]),
        ]
        for (compacted, names) in rows {
            // Another cloud for each row: nothing of one is left for the next.
            try setUpWithError()
            let files = try await prepareTwoUsers(compacted: compacted)
            try exchange(names, on: files)
            // Where whole directories were exchanged, nothing is missing.
            let isWhole = !compacted || names.count == 2
            let kept = !isWhole ? [] : compacted ? ["unsent", "unsent-late"] : ["unsent"]
            try await assertNothingForeign(on: files, keeping: kept, "\(names), compacted: \(compacted)")
        }
    }

    /// The index says whose directory it is: what is theirs in it is kept, and what is not is kept aside.
    func testAForeignFileBesideOwnOnesCostsNoneOfTheEditsInThem() async throws {
        for name in ["journal-2.jsonl", "snapshot-2.jsonl"] {
            try setUpWithError()
            let files = try await prepareTwoUsers(compacted: true)
            try exchange([name], on: files)
            let phone = try makeAccountDevice(Note.self, user: "bob") { $0.fileSystem = files }
            let kept = name == "journal-2.jsonl" ? "unsent" : "unsent-late"
            let pending = try await phone.pending()
            XCTAssertTrue(pending.contains("bob-\(kept)"), "\(name): \(pending)")
            XCTAssertEqual(pending.filter { !$0.hasPrefix("bob") }, [], name)
            let told = phone.device.events.all.map(\.description).filter { $0.contains(name) }
            XCTAssertEqual(told.count, 1, "\(name): \(told)")
            let aside = files.names(in: Self.directories[1]).filter { $0.hasPrefix("damaged-\(name)") }
            XCTAssertEqual(aside.count, 1, name)
            try await phone.engine.sync()
            let server = try await names(of: "bob", phone)
            XCTAssertTrue(server.contains("bob-\(kept)"), "\(name): \(server)")
            try await phone.engine.close()
        }
    }

    // MARK: Zones

    /// The disk of an engine of a zone, with a record in its snapshot and an edit in its journal that is not sent.
    private func prepareZone(_ zone: String) async throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem()
        let device: Device<Note> = try makeDevice {
            $0.fileSystem = files
            $0.zoneName = zone
        }
        try await device.engine.upload(Note("\(zone)-synced"))
        try await device.engine.sync()
        try await device.engine.upload(Note("\(zone)-unsent"))
        try await device.engine.close()
        let store = try JSONStateStore.open(directory: "/device/users/1", fileSystem: files).store
        try store.compact()
        store.close()
        try await device.restart()
        try await device.engine.upload(Note("\(zone)-late"))
        try await device.engine.close()
        return files
    }

    func testAFileOfAnotherZoneIsNeitherShownNorSent() async throws {
        for name in ["journal-2.jsonl", "snapshot-2.jsonl"] {
            let (files, others) = (try await prepareZone("First"), try await prepareZone("Second"))
            let path = "/device/users/1/\(name)"
            files.place(try XCTUnwrap(others.bytes(at: path)), at: path)
            let device: Device<Note> = try makeDevice {
                $0.fileSystem = files
                $0.zoneName = "First"
            }
            let shown = try await device.engine.allModels().map(\.id)
            XCTAssertEqual(shown.filter { !$0.hasPrefix("First") }, [], name)
            XCTAssertFalse(shown.isEmpty, name)
            let told = device.events.all.map(\.description).filter { $0.contains(name) }
            XCTAssertEqual(told.count, 1, "\(name): \(told)")
            try await device.engine.sync()
            let server = try await serverRecords("First").keys
            XCTAssertEqual(server.filter { !$0.hasPrefix("First") }, [], name)
            try await device.engine.close()
        }
    }

    func testADirectoryOfAnotherZoneIsRefusedAndNotTouched() async throws {
        let files = try await prepareZone("First")
        let before = files.files.filter { !$0.key.hasSuffix("/lock") }
        let device: Device<Note> = try makeDevice {
            $0.fileSystem = files
            $0.zoneName = "Second"
        }
        do {
            try await device.engine.upload(Note("x"))
            XCTFail("It was opened.")
        } catch SyncError.configuration(let text) {
            XCTAssertTrue(text.contains("First") && text.contains("Second"), text)
        }
        XCTAssertEqual(files.files.filter { !$0.key.hasSuffix("/lock") }, before)
    }
}
