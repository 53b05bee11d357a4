import Foundation
import XCTest

@testable import CodableSync

/// Scenarios, group G: the state directory.
class StateScenarios: StateFileScenario {
    /// A directory on the real disk, removed when the test ends.
    func makeDirectory() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        addTeardownBlock { try? directory.remove() }
        return directory
    }

    /// A device whose state is on the real disk.
    func makeRealDevice<Model>(_ model: Model.Type, in directory: URL) throws -> Device<Model> {
        try makeDevice(model) { configuration in
            configuration.storage = .directory(directory)
            configuration.fileSystem = LocalFileSystem()
        }
    }

    /// The message of an upload that finds the state in use.
    func owner<Model>(_ device: Device<Model>, _ model: Model) async throws -> String? {
        do {
            try await device.engine.upload(model)
            return nil
        } catch let error as SyncError where error.code == .stateInUse {
            return error.message
        }
    }

    // SF-01, D11, I-08
    func testASecondEngineInThisProcessFailsUntilTheFirstIsClosed() async throws {
        let directory = try makeDirectory()
        let first = try makeRealDevice(Note.self, in: directory.url)
        try await first.engine.upload(Note("a"))
        let second = try makeRealDevice(Note.self, in: directory.url)
        let expected = SyncError.stateInUse(by: "another engine of this process (\(getpid()))").message
        for _ in 0..<2 {
            let owner = try await owner(second, Note("b"))
            XCTAssertEqual(owner, expected)
        }
        // The same through a symbolic link.
        let link = try makeDirectory().url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: directory.url)
        let linked = try makeRealDevice(Note.self, in: link)
        let linkOwner = try await owner(linked, Note("b"))
        XCTAssertEqual(linkOwner, expected)
        try await first.engine.upload(Note("c"))
        let names = try await first.pendingNames()
        XCTAssertEqual(names, ["a", "c"])
        try await first.engine.close()
        let after = try await owner(second, Note("b"))
        XCTAssertNil(after)
        let pending = try await second.pendingNames()
        XCTAssertEqual(pending, ["a", "b", "c"])
        try await second.engine.close()
    }

    // SF-02, C23, D11
    func testTheErrorNamesTheOwningProcessWhoseEndFreesTheDirectory() async throws {
        let directory = try makeDirectory()
        let lock = directory.path.appending(path: "lock")
        let child = try ChildProcess("lock", lock)
        XCTAssertEqual(child.readLine(), "locked")
        let device = try makeRealDevice(Note.self, in: directory.url)
        let owner = try await owner(device, Note("a"))
        XCTAssertEqual(owner, SyncError.stateInUse(by: "process \(child.processID)").message)
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
        XCTAssertEqual(files, ["lock"], "no file was written")
        child.kill()
        let after = try await self.owner(device, Note("a"))
        XCTAssertNil(after)
        try await device.engine.close()
    }

    // C23: the contents of a dead process's lock file don't matter.
    func testALockFileOfADeadProcessIsIgnored() async throws {
        for text in ["", "99999999\n", "1\n", "not a number", String(repeating: "9", count: 5000), "\u{0}"] {
            let directory = try makeDirectory()
            try Data(text.utf8).write(to: directory.url.appending(path: "lock"))
            let device = try makeRealDevice(Note.self, in: directory.url)
            let owner = try await owner(device, Note("a"))
            XCTAssertNil(owner, text)
            try await device.engine.close()
        }
    }

    // SF-03, D9
    func testDeletingTheDirectoryRestartsSyncWithoutDeletingRecords() async throws {
        let directory = try makeDirectory()
        let state = directory.url.appending(path: "state")
        let phone = try makeRealDevice(Note.self, in: state)
        let tablet = try makeDevice(Note.self)
        try await phone.engine.upload((0..<5).map { Note("n\($0)", "Tea") })
        try await settle(phone, tablet)
        try await show(phone, tablet)
        try await phone.engine.close()
        try FileManager.default.removeItem(at: state)

        let again = try makeRealDevice(Note.self, in: state)
        let before = try await again.engine.allModels()
        XCTAssertEqual(before, [])
        try await again.engine.sync()
        let told = try await again.drain()
        XCTAssertEqual(told, [.updated((0..<5).map { Note("n\($0)", "Tea") })])
        XCTAssertEqual(again.database.modifies.flatMap(\.names), [])
        try await assertEqualEverywhere(again, tablet)
        XCTAssertEqual(recoveries(of: again), [])
        try await again.engine.close()
    }

    // SF-07, P-11, C15
    func testADamagedLineIsLostAndCausesAFullFetch() async throws {
        let files = try await prepare()
        var bytes = files["journal-1.jsonl"]
        let place = try XCTUnwrap(bytes.firstRange(of: Array("{\"zone\":1,\"name\":\"p2\"".utf8))).lowerBound
        bytes[place + 9] ^= 0x20
        files["journal-1.jsonl"] = bytes
        let line = bytes[..<place].count { $0 == UInt8(ascii: "\n") } + 1
        let device = try open(files)
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, ["p1", "p3"])
        let told = recoveries(of: device)
        XCTAssertEqual(told.count, 1)
        let text = told.first ?? ""
        let start = "journal-1.jsonl:\(line) (byte \(place)): the checksum does not hold."
        XCTAssertTrue(text.hasPrefix(start) && text.contains("damaged-journal-1.jsonl-1"), text)
        XCTAssertEqual(files.quarantine, [bytes])
        let notes = try await device.engine.diagnostics().notes
        XCTAssertEqual(notes.map(\.message), told)
        try await assertFetchesAll(device)
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), Self.known + ["p1", "p3"])
        try await device.engine.close()
        let again = try open(files)
        try await again.engine.sync()
        XCTAssertEqual(recoveries(of: again), [], "reported once")
        XCTAssertEqual(files.quarantine, [bytes], "the damaged file is kept")
    }

    // SF-09
    func testEnginesInSiblingDirectoriesDoNotInterfere() async throws {
        let parent = try makeDirectory()
        let notes = try makeRealDevice(Note.self, in: parent.url.appending(path: "Note"))
        let tasks = try makeRealDevice(ShoppingTask.self, in: parent.url.appending(path: "Task"))
        let (noteEngine, taskEngine) = (notes.engine, tasks.engine)
        async let first: Void = noteEngine.upload((0..<20).map { Note("n\($0)") })
        async let second: Void = taskEngine.upload(
            (0..<20).map { ShoppingTask(id: "n\($0)", isDone: false) }
        )
        _ = try await (first, second)
        try await notes.engine.sync()
        try await tasks.engine.sync()
        let noteRecords = try await serverRecords()
        let taskRecords = try await serverRecords("ShoppingTask")
        XCTAssertEqual(noteRecords.count, 20)
        XCTAssertEqual(taskRecords.count, 20)
        try await notes.engine.close()
        try FileManager.default.removeItem(at: parent.url.appending(path: "Note"))
        try await tasks.engine.upload(ShoppingTask(id: "n0", isDone: true))
        try await tasks.restart()
        let pending = try await tasks.pendingNames()
        XCTAssertEqual(pending, ["n0"])
        try await tasks.engine.sync()
        let models = try await tasks.engine.allModels()
        XCTAssertEqual(models.filter(\.isDone).map(\.id), ["n0"])
        let untouched = try await serverRecords()
        XCTAssertEqual(untouched, noteRecords)
        try await tasks.engine.close()
    }
}

struct ShoppingTask: RecordCodable, Equatable {
    var id: String
    var isDone: Bool
    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<ShoppingTask>) throws -> ShoppingTask? {
        conflict.latestEdit
    }
}
