import Foundation
import XCTest

@testable import CodableSync

/// Calls that rest on a call whose entries the disk refuses.
final class RefusedCallScenarios: EngineScenario {
    private let files = HookedFileSystem(SimulatedFileSystem())

    /// A phone with the record A in the cloud, whose next writes wait for the barrier and fail.
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

    /// Begins an edit, and returns when its write has reached the disk.
    private func beginEdit(_ engine: SyncEngine<HeldItem>, _ barrier: Barrier) async -> Task<Void, any Error>
    {
        let edit = Task { _ = try await engine.edit(named: "A") { $0.note = "mine" } }
        await barrier.reached()
        return edit
    }

    /// Lets the disk refuse the write, asserts that all calls fail, and mends the disk.
    private func assertRefused(
        _ calls: [Task<Void, any Error>],
        _ barrier: Barrier,
        line: UInt = #line
    ) async {
        barrier.open()
        for call in calls {
            do {
                try await call.value
                XCTFail("nothing is stored", line: line)
            } catch SyncError.storageFull {
            } catch {
                XCTFail("\(error)", line: line)
            }
        }
        files.before(nil)
    }

    /// The edit changes nothing, since an earlier one, which is not stored yet, has made the same change.
    func testAnEditThatChangesNothingFailsWithTheOneThatItRestsOn() async throws {
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
        await isEdited.reach("the second edit is made") { $0 }
        await assertRefused([first, second], barrier)
    }

    func testADraftThatChangesNothingFailsWithTheEditThatItRestsOn() async throws {
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
        XCTAssertEqual(read?.note, "mine")
        await assertRefused([first, second], barrier)
    }

    /// A read shows an upload that the disk then refuses; the app tries again.
    func testAnUploadIsNotBasedOnContentsThatWereRefused() async throws {
        let (phone, barrier) = try await makePhone()
        let engine = phone.engine
        let first = Task { try await engine.upload(HeldItem("A", "title", note: "mine")) }
        await barrier.reached()
        let read = try await engine.model(named: "A")
        XCTAssertEqual(read?.note, "mine")
        await assertRefused([first], barrier)
        try await engine.upload(HeldItem("A", "title", note: "mine"))
        let record = await engine.machine?.state["A"]
        XCTAssertEqual(record?.pending?.base, record?.known?.handle)
        try await engine.sync()
        XCTAssertFalse(phone.events.all.contains { if case .conflictResolved = $0 { true } else { false } })
    }
}
