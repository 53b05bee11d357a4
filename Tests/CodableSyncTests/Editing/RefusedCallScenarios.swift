import Foundation
import XCTest

@testable import CodableSync

/// Calls that depend on a call whose write the disk rejects.
final class RefusedCallScenarios: EngineScenario {
    private let files = HookedFileSystem(SimulatedFileSystem())

    /// A phone that has synced record A, and whose next writes wait for the barrier and then fail.
    private func makePhone() async throws -> (Device<HeldItem>, Barrier) {
        let files = files
        let (phone, _) = try await makePair(HeldItem("A", "title")) { $0.fileSystem = files }
        await phone.engine.waitUntilIdle()
        let barrier = Barrier()
        files.before { operation, path throws(FileError) in
            guard operation == .append else { return }
            barrier.pass()
            throw FileError(.append, path, code: ENOSPC)
        }
        return (phone, barrier)
    }

    /// Starts an edit and returns once its write waits at the barrier.
    private func beginEdit(_ engine: SyncEngine<HeldItem>, _ barrier: Barrier) async -> Task<Void, any Error>
    {
        let edit = Task { _ = try await engine.edit(named: "A") { $0.note = "mine" } }
        await barrier.reached()
        return edit
    }

    /// Lets the write fail, asserts that all calls throw, and makes the disk work again.
    private func assertRefused(
        _ calls: [Task<Void, any Error>],
        _ barrier: Barrier,
        line: UInt = #line
    ) async {
        barrier.open()
        for call in calls {
            do {
                try await call.value
                XCTFail("the call returned, but nothing was stored", line: line)
            } catch let error as SyncError where error.code == .storageFull {
            } catch {
                XCTFail("\(error)", line: line)
            }
        }
        files.before(nil)
    }

    /// The edit changes nothing, because an earlier one that is not stored yet made the same change.
    func testAnEditThatChangesNothingFailsIfTheEditItDependsOnFails() async throws {
        let (phone, barrier) = try await makePhone()
        let engine = phone.engine
        let first = await beginEdit(engine, barrier)
        let isEdited = Told(false)
        let second = Task {
            _ = try await engine.edit(named: "A") { item in
                item.note = "mine"
                isEdited.withLock { $0 = true }
            }
        }
        await isEdited.reach("the closure of the second edit runs") { $0 }
        await assertRefused([first, second], barrier)
    }

    func testADraftThatChangesNothingFailsIfTheEditItDependsOnFails() async throws {
        let (phone, barrier) = try await makePhone()
        let engine = phone.engine
        let first = await beginEdit(engine, barrier)
        let hold = DecodingHold.next(of: "A")
        let second = Task {
            let draft = HeldItem("A", "title", note: "mine")
            try await engine.upload(draft, editedFrom: HeldItem("A", "title"))
        }
        await hold.reached()
        hold.release()
        let read = try await engine.model(named: "A")
        XCTAssertEqual(read?.note, nil, "reads show what is stored")
        await assertRefused([first, second], barrier)
    }

    /// The app reads while an upload is written that the disk then rejects, and uploads the model again.
    func testAnUploadIsNotBasedOnARejectedUpload() async throws {
        let (phone, barrier) = try await makePhone()
        let engine = phone.engine
        let first = Task { try await engine.upload(HeldItem("A", "title", note: "mine")) }
        await barrier.reached()
        let read = try await engine.model(named: "A")
        XCTAssertEqual(read?.note, nil, "reads show what is stored")
        await assertRefused([first], barrier)
        try await engine.upload(HeldItem("A", "title", note: "mine"))
        let record = await engine.core.machine?.state["A"]
        XCTAssertEqual(record?.pending?.base, record?.known?.handle)
        try await engine.sync()
        XCTAssertFalse(phone.events.all.contains { if case .conflictResolved = $0 { true } else { false } })
    }
}
