import Foundation
import XCTest

@testable import CodableSync

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Rows C19 to C22 of the malformed inputs on the real disk: unsafe paths, and other objects in place of
/// files.
final class UnsafeFileTests: EngineScenario {
    private func makeDirectory() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        addTeardownBlock { try? directory.remove() }
        return directory
    }

    private func device(at url: URL, on fileSystem: any FileSystem = LocalFileSystem()) throws -> Device<Note>
    {
        try makeDevice(Note.self) { configuration in
            configuration.storage = .directory(url)
            configuration.fileSystem = fileSystem
        }
    }

    /// The error message of the first call.
    private func message(_ device: Device<Note>, _ row: String) async throws -> String {
        do {
            try await device.engine.upload(Note("a"))
            XCTFail("\(row): the state was opened")
            try await device.engine.close()
            return ""
        } catch let error as SyncError where error.code == .storageFailed {
            let text = error.message
            XCTAssertFalse(text.contains("\n") || text.contains("\0"), row)
            XCTAssertLessThan(text.count, 400, row)
            return text
        }
    }

    /// A state with one edit, on the real disk.
    private func makeState() async throws -> URL {
        let state = try makeDirectory().url.appending(path: "state")
        let phone = try device(at: state)
        try await phone.engine.upload(Note("kept"))
        try await phone.engine.close()
        return state
    }

    /// All files below a directory by path, with the bytes of regular files.
    private func contents(_ url: URL) throws -> [String: Data?] {
        var found: [String: Data?] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: url.path) {
            let status = try LocalFileSystem().status(of: url.path.appending(path: path))
            found[path] = status?.kind == .file ? try Data(contentsOf: url.appending(path: path)) : .some(nil)
        }
        return found
    }

    private static let kinds: [(String, @Sendable (_ path: String, _ victim: String) -> Int32)] = [
        ("link", { symlink($1, $0) }), ("dangling link", { symlink($1 + "-nowhere", $0) }),
        ("loop", { path, _ in symlink(path, path) }), ("pipe", { path, _ in mkfifo(path, 0o600) }),
        ("directory", { path, _ in mkdir(path, 0o700) }), ("hard link", { link($1, $0) }),
    ]

    // C20
    func testSpecialFilesInPlaceOfStateFilesAreRejected() async throws {
        for name in ["lock", "users/1/journal-1.jsonl", "users/1/journal-2.jsonl"] {
            for (kind, make) in Self.kinds {
                let row = "\(kind) as \(name)"
                let state = try await makeState()
                let victim = state.deletingLastPathComponent().appending(path: "victim")
                try Data("theirs".utf8).write(to: victim)
                let path = state.path.appending(path: name)
                unlink(path)
                XCTAssertEqual(make(path, victim.path), 0, row)
                let before = try contents(state)
                let message = try await message(try device(at: state), row)
                XCTAssertTrue(message.contains(name.lastPathComponent), "\(row): \(message)")
                let word = kind == "dangling link" || kind == "loop" ? "link" : kind
                XCTAssertTrue(
                    message.contains(word) || message.contains("regular"),
                    "\(row): \(message)"
                )
                XCTAssertEqual(try Data(contentsOf: victim), Data("theirs".utf8), row)
                // The lock is taken first, and its file names the owner.
                var after = try contents(state)
                if name != "lock" { after["lock"] = before["lock"] }
                XCTAssertEqual(after, before, row)
            }
        }
    }

    // C20: a device file; only the superuser can create one.
    func testADeviceFileInPlaceOfTheJournalIsRejected() async throws {
        let state = try await makeState()
        let path = state.path.appending(path: "users/1/journal-1.jsonl")
        unlink(path)
        guard mknod(path, S_IFCHR | 0o600, 0x103) == 0 else { throw XCTSkip("only root may make a device") }
        let message = try await message(try device(at: state), "device")
        XCTAssertTrue(message.contains("device") && message.contains("journal-1.jsonl"), message)
    }

    // C20: the path to the directory may contain a link that the user created.
    func testALinkToTheDirectoryIsFollowed() async throws {
        let state = try await makeState()
        let link = state.deletingLastPathComponent().appending(path: "link")
        XCTAssertEqual(symlink(state.path, link.path), 0)
        let phone = try device(at: link)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["kept"])
        try await phone.engine.close()
    }

    // C19, C22
    func testInvalidDirectoryPathsAreRejectedAndNothingIsCreated() async throws {
        let directory = try makeDirectory()
        let root = directory.path
        try Data("theirs".utf8).write(to: directory.url.appending(path: "file"))
        XCTAssertEqual(symlink(root + "/nowhere/at all", root + "/dangling"), 0)
        XCTAssertEqual(symlink(root + "/loop", root + "/loop"), 0)
        XCTAssertEqual(mkfifo(root + "/pipe", 0o600), 0)
        let before = try contents(directory.url)
        let paths = [
            "file", "file/below", "dangling", "loop", "loop/below", "pipe",
            String(repeating: "x", count: 300), String(repeating: "long/", count: 900),
            "line\nbreak/\u{7}" + String(repeating: "y", count: 300),
        ]
        for path in paths {
            let url = URL(fileURLWithPath: root + "/" + path, isDirectory: false)
            let message = try await message(try device(at: url), path)
            XCTAssertTrue(message.contains("\""), message)
            let after = try contents(directory.url).filter { !$0.key.hasPrefix("line") }
            XCTAssertEqual(after, before, path)
        }
        for path in ["/dev/null/state", "/proc/nowhere/state"] {
            let message = try await message(try device(at: URL(fileURLWithPath: path)), path)
            XCTAssertTrue(message.contains(path.split(separator: "/")[0]), message)
        }
    }

    // C22
    func testAZeroByteInAPathIsRejected() async throws {
        let directory = try makeDirectory()
        let url = URL(fileURLWithPath: directory.path + "/a\0b")
        let phone = try device(at: url)
        do {
            try await phone.engine.upload(Note("a"))
            XCTFail("the state was opened: \(url)")
        } catch let error as SyncError where error.code == .configuration {
            let text = error.message
            XCTAssertTrue(text.contains(": storage "), text)
            XCTAssertFalse(text.contains("\0"), text)
        }
        // A name that only looks like one with a zero byte is valid.
        let other = try device(at: directory.url.appending(path: "a%00b"))
        try await other.engine.upload(Note("a"))
        try await other.engine.close()
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: directory.path), ["a%00b"])
    }

    // C21
    func testFilesWithoutPermissionAreNamedAndOpenedLater() async throws {
        let rows: [(FileError.Operation, Int32)] = [
            (.createDirectory, EACCES), (.createDirectory, EROFS), (.lock, EACCES), (.lock, EROFS),
            (.look, EACCES), (.list, EACCES), (.open, EACCES), (.open, EPERM), (.create, EROFS),
            (.create, EACCES), (.rename, EPERM), (.syncDirectory, EIO), (.read, EIO), (.append, EROFS),
        ]
        for isNew in [true, false] {
            for (operation, code) in rows {
                let row = "\(operation) \(code), \(isNew ? "new" : "old")"
                let disk = SimulatedFileSystem()
                if !isNew {
                    let before = try device(at: URL(fileURLWithPath: "/state"), on: disk)
                    try await before.engine.upload(Note("kept"))
                    try await before.engine.close()
                }
                let phone = try device(at: URL(fileURLWithPath: "/state"), on: disk)
                disk.fail(operation, code: code)
                do {
                    try await phone.engine.upload(Note("a"))
                    // Some calls are not needed if the state already exists.
                    XCTAssertFalse(isNew && [.create, .list, .lock].contains(operation), row)
                } catch let error as SyncError where error.code == .storageFailed {
                    let message = error.message
                    // The name of the state's directory is in its parent.
                    let isNamed = message.contains("/state") || operation == .syncDirectory
                    XCTAssertTrue(isNamed, "\(row): \(message)")
                    XCTAssertTrue(message.contains(String(cString: strerror(code))), "\(row): \(message)")
                    try await phone.engine.upload(Note("a"))
                }
                disk.clearFaults()
                let pending = try await phone.pendingNames()
                XCTAssertEqual(pending, isNew ? ["a"] : ["a", "kept"], row)
                try await phone.engine.close()
            }
        }
    }
}
