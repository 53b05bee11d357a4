import Foundation
import XCTest

@testable import CodableSync

/// Calls under way when the engine is closed.
final class ClosingScenarios: EngineScenario {
    /// Closes an engine while a call decodes the first of two records.
    private func closeDuring(
        _ call: @escaping @Sendable (SyncEngine<HeldItem>) async throws -> Void,
        line: UInt = #line
    ) async throws {
        let engine = try makeDevice(HeldItem.self).engine
        try await engine.upload([HeldItem("A"), HeldItem("B")])
        let hold = DecodingHold.next(of: "A")
        let task = Task { try await call(engine) }
        await hold.reached()
        try await engine.close()
        hold.release()
        await assertThrows(.closed, line: line) { try await task.value }
    }

    func testAReadUnderWayThrowsClosed() async throws {
        try await closeDuring { _ = try await $0.allModels() }
    }

    private struct Closing {
        var phone: Device<HeldItem>
        var hold: DecodingHold
        var edit: Task<Void, any Error>
        var later: Task<Void, any Error>
        var close: Task<Void, any Error>
    }

    /// Closes an engine while the closure of an edit is held and an upload waits for the edit.
    private func closeDuringAnEdit() async throws -> Closing {
        let phone = try makeDevice(HeldItem.self)
        let engine = phone.engine
        try await engine.upload(HeldItem("A"))
        let hold = DecodingHold.next(of: "the closure")
        addTeardownBlock { hold.release() }
        let edit = Task {
            _ = try await engine.edit(named: "A") {
                DecodingHold.pass("the closure")
                $0.title = "edited"
            }
        }
        await hold.reached()
        let later = await called { try await engine.upload([HeldItem("A", "later"), HeldItem("B")]) }
        let close = await called { try await engine.close() }
        return Closing(phone: phone, hold: hold, edit: edit, later: later, close: close)
    }

    func testClosingStoresTheCallsBeforeIt() async throws {
        let one = try await closeDuringAnEdit()
        let engine = one.phone.engine
        await assertThrows(.closed) { try await engine.upload(HeldItem("C")) }
        await assertThrows(.closed) { try await engine.sync() }
        one.hold.release()
        try await one.edit.value
        try await one.later.value
        try await one.close.value
        try await one.phone.restart()
        let models = try await one.phone.engine.allModels()
        XCTAssertEqual(models, [HeldItem("A", "later"), HeldItem("B")])
    }

    /// The closure may wait for an actor that the app blocks until the engine is closed.
    func testClosingWaitsForALimitedTime() async throws {
        let one = try await closeDuringAnEdit()
        clock.advance(by: SyncCore.patience)
        try await one.close.value
        await assertThrows(.closed) { try await one.later.value }
        one.hold.release()
        await assertThrows(.closed) { try await one.edit.value }
    }

    func testACancelledClosingWaitsForNoCall() async throws {
        let one = try await closeDuringAnEdit()
        one.close.cancel()
        try await one.close.value
        await assertThrows(.closed) { try await one.later.value }
        one.hold.release()
        await assertThrows(.closed) { try await one.edit.value }
    }

    /// Both wait for the calls before them.
    func testASecondClosingStoresTheCallsBeforeItToo() async throws {
        let one = try await closeDuringAnEdit()
        let engine = one.phone.engine
        let second = await called { try await engine.close() }
        one.hold.release()
        try await one.edit.value
        try await one.later.value
        try await one.close.value
        try await second.value
    }

    func testAnEngineThatCannotBeOpenedIsClosed() async throws {
        let phone = try makeDevice(Note.self) { $0.zoneName = "_x" }
        let engine = phone.engine
        let upload = await called { try await engine.upload(Note("A")) }
        try await engine.close()
        let result = await upload.result
        XCTAssertThrowsError(try result.get())
    }

    func testAReadOfPendingChangesUnderWayThrowsClosed() async throws {
        try await closeDuring { _ = try await $0.pendingChanges() }
    }
}

/// Events about discarded edits, whose contents the journal need not keep once the discard is stored.
final class DiscardedContentsScenarios: EngineScenario {
    /// A phone whose disk cannot be read any more once the next write has begun.
    private func makePhone() async throws -> (phone: Device<Note>, failNextReads: () -> Void) {
        let files = HookedFileSystem()
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("A", "mine"))
        let hasWritten = Locked(false)
        return (
            phone,
            {
                files.before { operation, path throws(FileError) in
                    if operation == .append { hasWritten.withLock { $0 = true } }
                    if operation == .read, hasWritten.withLock({ $0 }) {
                        throw FileError(operation, path, code: EIO)
                    }
                }
            }
        )
    }

    func testADiscardedEditIsReportedEvenIfItIsNoLongerStored() async throws {
        let (phone, failNextReads) = try await makePhone()
        failNextReads()
        try await phone.engine.discard(named: ["A"])
        try await quiet(phone)
        XCTAssertEqual(phone.discarded().map(\.name), ["A"], "\(phone.events.all)")
    }
}
