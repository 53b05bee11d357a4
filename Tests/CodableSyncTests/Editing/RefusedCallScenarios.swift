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

    private func assertRefused(_ call: Task<Void, any Error>, line: UInt = #line) async {
        do {
            try await call.value
            XCTFail("nothing is stored", line: line)
        } catch SyncError.storageFull {
        } catch {
            XCTFail("\(error)", line: line)
        }
    }

    /// The edit changes nothing, since an earlier one, which is not stored yet, has made the same change.
    func testAnEditThatChangesNothingFailsWithTheOneThatItRestsOn() async throws {
        let (phone, barrier) = try await makePhone()
        let engine = phone.engine
        let first = Task { _ = try await engine.edit(named: "A") { $0.note = "mine" } }
        await barrier.reached()
        let isEdited = Told(false)
        let second = Task {
            _ = try await engine.edit(named: "A") { item in
                item.note = "mine"
                isEdited.withLock { $0 = true }
            }
        }
        await isEdited.reach("the second edit is made") { $0 }
        barrier.open()
        await assertRefused(first)
        await assertRefused(second)
        files.before(nil)
    }

    func testADraftThatChangesNothingFailsWithTheEditThatItRestsOn() async throws {
        let (phone, barrier) = try await makePhone()
        let engine = phone.engine
        let first = Task { _ = try await engine.edit(named: "A") { $0.note = "mine" } }
        await barrier.reached()
        let hold = DecodingHold.next(of: "A")
        let second = Task {
            let draft = HeldItem("A", "title", note: "mine")
            try await engine.upload(draft, editedFrom: HeldItem("A", "title"))
        }
        await hold.reached()
        hold.release()
        let read = try await engine.model(named: "A")
        XCTAssertEqual(read?.note, "mine")
        barrier.open()
        await assertRefused(first)
        await assertRefused(second)
        files.before(nil)
    }

    /// A read shows an upload that the disk then refuses; the app tries again.
    func testAnUploadIsNotBasedOnContentsThatWereRefused() async throws {
        let (phone, barrier) = try await makePhone()
        let engine = phone.engine
        let first = Task { try await engine.upload(HeldItem("A", "title", note: "mine")) }
        await barrier.reached()
        let read = try await engine.model(named: "A")
        XCTAssertEqual(read?.note, "mine")
        barrier.open()
        await assertRefused(first)
        files.before(nil)
        try await engine.upload(HeldItem("A", "title", note: "mine"))
        let record = await engine.machine?.state["A"]
        XCTAssertEqual(record?.pending?.base, record?.known?.handle)
        try await engine.sync()
        XCTAssertFalse(phone.events.all.contains { if case .conflictResolved = $0 { true } else { false } })
    }
}
