import Foundation
import XCTest

@testable import CodableSync

/// State files of two users or zones that end up in each other's directories.
class SwappedFileScenarios: AccountScenario {
    private static let users = ["alice", "bob"]
    private static let directories = ["/device/users/2", "/device/users/3"]

    /// A disk with records of two users, some of them unsent: in the first journal, or in a snapshot and the
    /// next journal after a compaction.
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
        // The first user's state has a file less.
        let phone = try makeAccountDevice(Note.self, user: "zoe") { $0.fileSystem = files }
        try await phone.engine.sync()
        for user in Self.users {
            phone.account.signIn(user)
            try await phone.engine.sync()
            try await phone.engine.upload(Note("\(user) \(sent)".replacing(" ", with: "-"), user))
            try await phone.engine.sync()
            try await phone.engine.upload(Note("\(user) \(unsent)".replacing(" ", with: "-"), user))
        }
        try await phone.engine.close()
    }

    /// Swaps files with the same names between the two directories.
    private func exchange(_ names: [String], on files: SimulatedFileSystem) throws {
        for name in names {
            let paths = Self.directories.map { "\($0)/\(name)" }
            let bytes = try paths.map { try XCTUnwrap(files.bytes(at: $0), $0) }
            files.place(bytes[1], at: paths[0])
            files.place(bytes[0], at: paths[1])
        }
    }

    /// Asserts that no user sees or sends records of the other.
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

    func testSwappedFilesOfTwoUsersShowAndSendNoForeignRecords() async throws {
        let rows: [(compacted: Bool, names: [String])] = [
            (false, ["journal-1.jsonl"]), (false, ["journal-2.jsonl"]),
            (false, ["journal-1.jsonl", "journal-2.jsonl"]), (true, ["journal-4.jsonl"]),
            (true, ["snapshot-3.jsonl"]), (true, ["journal-3.jsonl", "journal-4.jsonl", "snapshot-3.jsonl"]),
        ]
        for (compacted, names) in rows {
            // Each row uses a new cloud, so no records are left over.
            try setUpWithError()
            let files = try await prepareTwoUsers(compacted: compacted)
            try exchange(names, on: files)
            // The newest file says whose a directory is. If whole directories are swapped, nothing is lost.
            let kept =
                !compacted ? ["unsent"] : names.count == 3 ? ["unsent", "unsent-late"] : ["unsent-late"]
            try await assertNothingForeign(on: files, keeping: kept, "\(names), compacted: \(compacted)")
        }
    }

    /// The newest file says whose directory it is: files of that user are used, and others are quarantined.
    func testAForeignFileCostsNoEditsInTheNewestFile() async throws {
        for name in ["journal-4.jsonl", "snapshot-3.jsonl"] {
            try setUpWithError()
            let files = try await prepareTwoUsers(compacted: true)
            try exchange([name], on: files)
            let phone = try makeAccountDevice(Note.self, user: "bob") { $0.fileSystem = files }
            let pending = try await phone.pending()
            XCTAssertEqual(pending, ["bob-unsent-late"], name)
            let other = "snapshot-3.jsonl"
            let told = phone.device.events.all.map(\.description).filter { $0.contains(other) }
            XCTAssertEqual(told.count, 1, "\(name): \(told)")
            let aside = Self.directories.flatMap { files.names(in: $0) }.filter {
                $0.hasPrefix("damaged-\(other)")
            }
            XCTAssertGreaterThanOrEqual(aside.count, 1, name)
            try await phone.engine.sync()
            let server = try await names(of: "bob", phone)
            XCTAssertTrue(server.contains("bob-unsent-late"), "\(name): \(server)")
            try await phone.engine.close()
        }
    }

    // MARK: Zones

    /// The disk of an engine with a zone: one record in the snapshot, and an unsent edit in the journal.
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
        let name = "snapshot-2.jsonl"
        let (files, others) = (try await prepareZone("First"), try await prepareZone("Second"))
        let path = "/device/users/1/\(name)"
        files.place(try XCTUnwrap(others.bytes(at: path)), at: path)
        let device: Device<Note> = try makeDevice {
            $0.fileSystem = files
            $0.zoneName = "First"
        }
        let shown = try await device.engine.allModels().map(\.id)
        XCTAssertEqual(shown.filter { !$0.hasPrefix("First") }, [])
        XCTAssertFalse(shown.isEmpty)
        let told = device.events.all.map(\.description).filter { $0.contains(name) }
        XCTAssertEqual(told.count, 1, "\(told)")
        try await device.engine.sync()
        let server = try await serverRecords("First").keys
        XCTAssertEqual(server.filter { !$0.hasPrefix("First") }, [])
        try await device.engine.close()
    }

    func testADirectoryOfAnotherZoneIsRejectedAndNotTouched() async throws {
        for isNewestAlone in [false, true] {
            let files = try await prepareZone(isNewestAlone ? "Second" : "First")
            if isNewestAlone {
                let path = "/device/users/1/journal-2.jsonl"
                let others = try await prepareZone("First")
                files.place(try XCTUnwrap(others.bytes(at: path)), at: path)
            }
            let before = files.files.filter { !$0.key.hasSuffix("/lock") }
            let device: Device<Note> = try makeDevice {
                $0.fileSystem = files
                $0.zoneName = "Second"
            }
            do {
                try await device.engine.upload(Note("x"))
                XCTFail("The directory was opened.")
            } catch let error as SyncError where error.code == .configuration {
                let text = error.message
                XCTAssertTrue(text.contains("First") && text.contains("Second"), text)
            }
            XCTAssertEqual(files.files.filter { !$0.key.hasSuffix("/lock") }, before)
        }
    }
}
