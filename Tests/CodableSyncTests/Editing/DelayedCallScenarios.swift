import XCTest

@testable import CodableSync

/// A running edit holds up only calls for its records, and so does a call that waits for the edit.
final class DelayedCallScenarios: EngineScenario {
    private struct Setting {
        var phone: Device<HeldItem>
        var tablet: Device<HeldItem>
        var hold: DecodingHold
        var edit: Task<ModelEdit<HeldItem>, any Error>
        /// The call that waits for the edit.
        var delayed: Task<Void, any Error>

        @discardableResult
        func release() async throws -> ModelEdit<HeldItem> {
            hold.release()
            let edit = try await edit.value
            try await delayed.value
            return edit
        }
    }

    /// Holds an edit of A in its closure on a phone, and makes a call that waits for it.
    ///
    /// Before that, the tablet changes the notes of some records, and the phone fetches them.
    private func makeDelayed(
        notes names: [String] = [],
        _ call: @escaping @MainActor (SyncEngine<HeldItem>) async throws -> Void
    ) async throws -> Setting {
        let (phone, tablet) = try await makePair(
            HeldItem("A", "title"),
            HeldItem("B", "title"),
            HeldItem("C", "title")
        )
        for name in names { try await tablet.engine.edit(named: name) { $0.note = "theirs" } }
        try await settle(tablet, phone)
        pass()
        let engine = phone.engine
        let hold = DecodingHold.next(of: "the closure")
        // A failing test leaves no thread blocked.
        addTeardownBlock { hold.release() }
        let edit = Task {
            try await engine.edit(named: "A") {
                DecodingHold.pass("the closure")
                $0.title = "edited"
            }
        }
        await hold.reached()
        let delayed = await called { try await call(engine) }
        return Setting(phone: phone, tablet: tablet, hold: hold, edit: edit, delayed: delayed)
    }

    /// Makes calls that must return while the edit is held.
    private func meanwhile<Value: Sendable>(
        _ what: String,
        _ calls: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task { try await calls() }
        return try await waiting(for: what, else: .failure(CancellationError())) { await task.result }.get()
    }

    func testAnUploadThatWaitsForAnEditHoldsUpNoOtherRecord() async throws {
        let one = try await makeDelayed { try await $0.upload(HeldItem("A", "uploaded")) }
        let engine = one.phone.engine
        let titles = try await meanwhile("the calls for B and C") {
            try await engine.upload(HeldItem("B", "uploaded"))
            try await engine.edit(named: "B") { $0.title += ", edited" }
            try await engine.upload(HeldItem("C", "draft"), editedFrom: HeldItem("C", "title"))
            try await engine.delete(HeldItem("C"))
            return [try await engine.model(named: "B")?.title] + (try await engine.allModels().map(\.title))
        }
        XCTAssertEqual(titles, ["uploaded, edited", "title", "uploaded, edited"])
        let edit = try await one.release()
        XCTAssertEqual([edit.before.title, edit.after.title], ["title", "edited"])
        let model = try await engine.model(named: "A")
        XCTAssertEqual(model?.title, "uploaded", "the upload comes after the edit")
    }

    func testAStreamOfOtherRecordsContinuesWhileAnUploadWaitsForAnEdit() async throws {
        let one = try await makeDelayed(notes: ["B"]) { try await $0.upload(HeldItem("A", "uploaded")) }
        let (here, there) = (one.phone.engine, one.tablet.engine)
        let notes = try await meanwhile("two elements of the stream") {
            var notes: [String?] = []
            for await change in here.changes {
                notes += change.models.map(\.note)
                if notes.count == 2 { break }
                try await there.edit(named: "B") { $0.note = "newer" }
                try await there.sync()
                _ = try await here.core.sync([.fetch, .hint])
            }
            return notes
        }
        XCTAssertEqual(notes, ["theirs", "newer"])
        try await one.release()
    }

    func testABatchThatWaitsForAnEditKeepsTheOrderOfItsOtherRecords() async throws {
        let one = try await makeDelayed {
            try await $0.upload([HeldItem("A", "batch"), HeldItem("B", "batch")])
        }
        let engine = one.phone.engine
        let later = await called { try await engine.upload(HeldItem("B", "later")) }
        let edit = await called { try await engine.edit(named: "B") { $0.title += ", edited" } }
        let titles = try await meanwhile("a call for C") {
            try await engine.upload(HeldItem("C", "uploaded"))
            return try await engine.allModels().map(\.title)
        }
        XCTAssertEqual(titles, ["title", "title", "uploaded"])
        try await one.release()
        try await later.value
        _ = try await edit.value
        let models = try await engine.allModels()
        XCTAssertEqual(models.map(\.title), ["batch", "later, edited", "uploaded"])
    }

    /// The sync sends both calls that were made before it.
    func testASyncThatWaitsForAnEditHoldsUpNoOtherCall() async throws {
        let one = try await makeDelayed { try await $0.upload(HeldItem("A", "uploaded")) }
        let engine = one.phone.engine
        let sync = await called { try await engine.sync() }
        let title = try await meanwhile("a call for B") {
            try await engine.upload(HeldItem("B", "uploaded"))
            return try await engine.model(named: "B")?.title
        }
        XCTAssertEqual(title, "uploaded")
        XCTAssertEqual(one.phone.database.count(.modify), 1, "nothing but the first upload was sent")
        try await one.release()
        _ = try await sync.value
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["title"], "uploaded")
    }

    /// A push must be handled in a limited time.
    func testAPushWaitsForNoEdit() async throws {
        let one = try await makeDelayed { try await $0.upload(HeldItem("A", "uploaded")) }
        let engine = one.phone.engine
        _ = try await meanwhile("the fetch of a push") { try await engine.core.sync([.fetch, .hint]) }
        try await one.release()
    }

    func testAnIdleEngineHasNoWaitingCall() async throws {
        let one = try await makeDelayed { try await $0.upload(HeldItem("A", "uploaded")) }
        let engine = one.phone.engine
        let isIdle = Told(false)
        let idle = await called {
            await engine.waitUntilIdle()
            isIdle.withLock { $0 = true }
        }
        await engine.reach("the engine waits for the edit only") { $0.isIdle }
        XCTAssertFalse(isIdle.withLock { $0 })
        try await one.release()
        try await idle.value
        let pending = try await one.phone.pendingNames()
        XCTAssertEqual(pending, ["A"])
    }

    // MARK: What an upload is made on
}
