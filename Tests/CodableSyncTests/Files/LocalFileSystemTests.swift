import Foundation
import XCTest

@testable import CodableSync

final class LocalFileSystemTests: XCTestCase {
    private let fileSystem = LocalFileSystem()
    private var directory: TemporaryDirectory!

    override func setUpWithError() throws {
        directory = try TemporaryDirectory()
    }

    override func tearDownWithError() throws {
        try directory.remove()
    }

    private func path(_ name: String) -> String { directory.path.appending(path: name) }

    func testAppendReadTruncate() throws {
        let file = try fileSystem.openFile(at: path("a"), for: .replacing)
        try file.append(Array("hello world".utf8))
        try file.flush()
        XCTAssertEqual(try file.read(at: 6, count: 100), Array("world".utf8))
        XCTAssertEqual(try file.read(at: 100, count: 5), [])
        XCTAssertEqual(try file.read(at: .max, count: 5), [])
        try file.truncate(to: 5)
        try file.append(Array("!".utf8))
        XCTAssertEqual(try file.size(), 6)
        XCTAssertEqual(try fileSystem.readFile(path("a")), Array("hello!".utf8))
        XCTAssertEqual(try fileSystem.status(of: path("a"))?.identity, file.identity)
        let again = try fileSystem.openFile(at: path("a"), for: .appending)
        XCTAssertEqual(again.identity, file.identity)
        XCTAssertEqual(try fileSystem.openFile(at: path("a"), for: .replacing).size(), 0)
    }

    func testAVolumeWithoutAFullFlushIsFlushedInTheOtherWay() {
        for code in [ENOTSUP, EOPNOTSUPP, EINVAL, ENOTTY, ENOSYS] {
            XCTAssertTrue(LocalOpenFile.meansNotSupported(code), "\(code)")
        }
        for code in [0, EIO, ENOSPC, EBADF, EINTR, EDQUOT, EPERM] {
            XCTAssertFalse(LocalOpenFile.meansNotSupported(code), "\(code)")
        }
    }

    func testCreatingADirectoryCreatesItsParents() throws {
        let deep = path("a/b/c")
        try fileSystem.createDirectory(at: deep)
        try fileSystem.createDirectory(at: deep)
        XCTAssertEqual(try fileSystem.status(of: deep)?.kind, .directory)
        try fileSystem.writeAtomically([1, 2], to: deep.appending(path: "file"))
        try fileSystem.writeAtomically([3], to: deep.appending(path: "file"))
        XCTAssertEqual(try fileSystem.contents(ofDirectory: deep), ["file"])
        XCTAssertEqual(try fileSystem.readFile(deep.appending(path: "file")), [3])
        try fileSystem.remove(deep.appending(path: "file"))
        XCTAssertNil(try fileSystem.status(of: deep.appending(path: "file")))
    }

    /// C20, C22.
    func testSpecialFilesAreRejected() throws {
        try fileSystem.writeAtomically([1], to: path("file"))
        XCTAssertEqual(symlink(path("file"), path("link")), 0)
        XCTAssertEqual(symlink(path("nowhere"), path("dangling")), 0)
        XCTAssertEqual(symlink(path("loop"), path("loop")), 0)
        XCTAssertEqual(mkfifo(path("pipe"), 0o600), 0)
        XCTAssertEqual(mkdir(path("directory"), 0o700), 0)
        try fileSystem.writeAtomically([1], to: path("linked"))
        XCTAssertEqual(link(path("linked"), path("hard link")), 0)
        let long = String(repeating: "x", count: 5000)
        for name in [
            "link", "dangling", "loop", "pipe", "directory", "hard link", "nul\0byte", long, "file/below",
        ] {
            for access in [FileAccess.reading, .appending, .replacing] {
                XCTAssertThrowsError(try fileSystem.openFile(at: path(name), for: access), name) { error in
                    let error = error as? FileError
                    XCTAssertEqual(error?.path, path(name))
                    XCTAssertEqual(error?.message.hasSuffix("."), true)
                }
            }
        }
        XCTAssertThrowsError(try fileSystem.openFile(at: "/dev/null", for: .appending))
        XCTAssertEqual(try fileSystem.readFile(path("file")), [1])
        XCTAssertEqual(try fileSystem.status(of: path("link"))?.kind, .symbolicLink)
        XCTAssertEqual(try fileSystem.status(of: path("pipe"))?.kind, .other)
    }

    func testErrorsNameTheOperationThePathAndARemedy() {
        XCTAssertThrowsError(try fileSystem.openFile(at: path("missing"), for: .reading)) { error in
            let error = error as? FileError
            XCTAssertEqual(error?.code, ENOENT)
            XCTAssertEqual(error?.operation, .open)
            XCTAssertEqual(error?.message.contains("missing"), true)
            XCTAssertEqual(error?.message.hasSuffix("Check that the directory still exists."), true)
        }
        XCTAssertTrue(FileError(.append, "a", code: ENOSPC).isOutOfSpace)
        XCTAssertFalse(FileError(.append, "a", code: EIO).isOutOfSpace)
        XCTAssertFalse(FileError(.append, "a\nb", code: EIO).message.contains("\n"))
    }

    /// D5.
    func testAFullDeviceIsOutOfSpace() throws {
        guard FileManager.default.fileExists(atPath: "/dev/full") else { throw XCTSkip("no /dev/full here") }
        let number = open("/dev/full", O_WRONLY)
        defer { close(number) }
        XCTAssertEqual(write(number, [1], 1), -1)
        XCTAssertTrue(FileError(.append, "/dev/full", code: errno).isOutOfSpace)
    }

    /// I-08, C23.
    func testALockExcludesOthersInThisProcess() throws {
        guard case .acquired(let lock) = try fileSystem.lock(path("lock")) else {
            return XCTFail("the lock should be free")
        }
        guard case .held(let owner) = try fileSystem.lock(path("lock")) else {
            return XCTFail("the lock should be held")
        }
        XCTAssertEqual(owner, Int(getpid()))
        lock.release()
        lock.release()
        guard case .acquired = try fileSystem.lock(path("lock")) else {
            return XCTFail("the lock should be free again")
        }
    }

    /// I-08, C23.
    func testALockExcludesOtherProcessesAndEndsWithItsOwner() throws {
        let child = try ChildProcess("lock", path("lock"))
        XCTAssertEqual(child.readLine(), "locked")
        guard case .held(let owner) = try fileSystem.lock(path("lock")) else {
            return XCTFail("the lock should be held")
        }
        XCTAssertEqual(owner, Int(child.processID))
        child.kill()
        guard case .acquired(let lock) = try fileSystem.lock(path("lock")) else {
            return XCTFail("the lock should end with its process")
        }
        let other = try ChildProcess("lock", path("lock"))
        XCTAssertEqual(other.readLine(), "held")
        try other.finish()
        lock.release()
    }

    func testRemovedLockFileIsNotALock() throws {
        guard case .acquired(let first) = try fileSystem.lock(path("lock")) else {
            return XCTFail("the lock should be free")
        }
        try fileSystem.remove(path("lock"))
        guard case .acquired(let second) = try fileSystem.lock(path("lock")) else {
            return XCTFail("a new lock file should be free")
        }
        first.release()
        guard case .held = try fileSystem.lock(path("lock")) else {
            return XCTFail("the new lock file should be held")
        }
        second.release()
    }

    func testTheCanonicalPathIsTheSameBeforeAndAfterTheDirectoryIsCreated() throws {
        try fileSystem.createDirectory(at: path("real"))
        XCTAssertEqual(symlink(path("real"), path("alias")), 0)
        let before = LocalFileSystem.canonicalPath(of: path("alias/new/place"))
        try fileSystem.createDirectory(at: path("alias/new/place"))
        XCTAssertEqual(LocalFileSystem.canonicalPath(of: path("alias/new/place/")), before)
        XCTAssertEqual(LocalFileSystem.canonicalPath(of: path("real/new/place")), before)
        XCTAssertTrue(before.hasSuffix("/real/new/place"))
        XCTAssertEqual(LocalFileSystem.canonicalPath(of: "/"), "/")
        XCTAssertTrue(LocalFileSystem.canonicalPath(of: "not-there").hasPrefix("/"))
    }

    func testALogWorksOnTheRealDisk() throws {
        let written = try LogFixture.write(groups: 5, to: fileSystem, directory: path("log")).flatMap { $0 }
        let (log, lines, _) = try LogFixture.open(fileSystem, directory: path("log"))
        XCTAssertEqual(lines, written)
        try LogFixture.compact(log)
        let (_, again, recovery) = try LogFixture.open(fileSystem, directory: path("log"))
        XCTAssertEqual(again, written)
        XCTAssertFalse(recovery.isDamaged)
        XCTAssertEqual(
            try fileSystem.contents(ofDirectory: path("log")),
            ["journal-2.jsonl", "snapshot-2.jsonl"]
        )
    }
}
