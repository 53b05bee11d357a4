import Foundation
import XCTest

@testable import CodableSync

/// A refused call is an event too, since an error thrown in a dropped task vanishes.
final class RefusedCallEventTests: EngineScenario {
    private typealias Call = (SyncEngine<Note>) async throws -> Void

    private func refusals(_ device: Device<Note>) -> [SyncEvent] {
        device.events.all.filter { if case .callRefused = $0 { true } else { false } }
    }

    /// Makes a call, and asserts that an event carries its record names and its error.
    private func assertReported(
        _ names: [String],
        _ code: SyncError.Code,
        on device: Device<Note>,
        _ what: String,
        line: UInt = #line,
        _ call: Call
    ) async throws {
        device.events.clear()
        do {
            try await call(device.engine)
            XCTFail("\(what): nothing was thrown", line: line)
        } catch let error as SyncError {
            XCTAssertEqual(error.code, code, what, line: line)
            XCTAssertEqual(
                refusals(device),
                [.callRefused(recordNames: names, error)],
                what,
                line: line
            )
        }
    }

    func testAnInvalidModelIsReported() async throws {
        let calls: [(String, Call)] = [
            ("upload", { try await $0.upload([Note("fine"), Note("_a")]) }),
            ("uploadOnce", { try await $0.uploadOnce { [Note("fine"), Note("_a")] } }),
            ("delete", { try await $0.delete(named: ["fine", "_a"]) }),
            ("delete of models", { try await $0.delete([Note("fine"), Note("_a")]) }),
        ]
        for (what, call) in calls {
            let phone = try makeDevice(Note.self)
            try await assertReported(["fine", "_a"], .invalidModels, on: phone, what, call)
        }
    }

    func testAMissingRecordIsReported() async throws {
        let phone = try makeDevice(Note.self)
        let calls: [(String, [String], Call)] = [
            ("edit", ["a"], { try await $0.edit(Note("a")) { $0.count = 1 } }),
            ("edit by name", ["a"], { try await $0.edit(named: "a") { $0.count = 1 } }),
            ("draft", ["a"], { try await $0.upload(Note("a", "x"), editedFrom: Note("a")) }),
            ("edits", ["a", "b"], { try await $0.edit([Note("a"), Note("b")]) { $0.count = 1 } }),
        ]
        for (what, names, call) in calls {
            try await assertReported(names, .recordNotFound, on: phone, what, call)
        }
        try await assertReported(["b"], .invalidModels, on: phone, "draft") {
            try await $0.upload(Note("b"), editedFrom: Note("a"))
        }
    }

    /// The edit of an app that has closed its engine: nobody else says that it is lost.
    func testACallOfAClosedEngineIsReported() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        try await phone.engine.close()
        let calls: [(String, Call)] = [
            ("upload", { try await $0.upload(Note("a")) }),
            ("draft", { try await $0.upload(Note("a", "x"), editedFrom: Note("a")) }),
            ("edit", { try await $0.edit(named: "a") { $0.count = 1 } }),
            ("delete", { try await $0.delete(Note("a")) }),
            ("retry", { try await $0.retry(named: ["a"]) }),
            ("discard", { try await $0.discard(named: ["a"]) }),
        ]
        for (what, call) in calls { try await assertReported(["a"], .closed, on: phone, what, call) }
        // The models aren't needed to find that out.
        try await assertReported([], .closed, on: phone, "uploadOnce") {
            try await $0.uploadOnce { [Note("a")] }
        }
    }

    func testACallThatTheDiskRefusesIsReported() async throws {
        let files = HookedFileSystem(MemoryFileSystem())
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("a"))
        files.before { operation, path throws(FileError) in
            if operation == .append { throw FileError(operation, path, code: ENOSPC) }
        }
        try await assertReported(["a"], .storageFull, on: phone, "edit") {
            try await $0.edit(named: "a") { $0.count = 1 }
        }
        files.before(nil)
    }

    /// The stream of events has it too, also where the task was dropped.
    func testADroppedTasksErrorIsInTheStreamOfEvents() async throws {
        let phone = try makeDevice(Note.self)
        var events = phone.engine.events.makeAsyncIterator()
        let engine = phone.engine
        let dropped = Task { try await engine.edit(named: "a") { $0.count = 1 } }
        _ = await dropped.result
        try await engine.sync()
        var told: [SyncEvent] = []
        while let event = await events.next() {
            if case .fetchEnded = event { break }
            told.append(event)
        }
        XCTAssertEqual(told.first, .callRefused(recordNames: ["a"], .recordNotFound("a")))
    }

    /// What is not refused, or refused by the app itself, is no event.
    func testOtherCallsAreNotReported() async throws {
        struct Mine: Error {}
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        do { try await phone.engine.edit(named: "a") { _ in throw Mine() } } catch is Mine {}
        let engine = phone.engine
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await engine.upload(Note("b"))
        }
        do { try await task.value } catch is CancellationError {}
        _ = try await phone.engine.model(named: "b")
        XCTAssertEqual(refusals(phone), [])
    }
}
