import Dispatch
import XCTest

@testable import CodableSync

/// What may wait for a disk or another process is not asked on the core's actor.
final class BesideTheActorTests: EngineScenario {
    /// A database whose identifier needs a slow disk.
    private final class SlowlyIdentified: ForwardingDatabase, @unchecked Sendable {
        let asked = Told(false)
        private let disk = DispatchSemaphore(value: 0)
        private let lateAnswers = Locked(0)

        var lateCount: Int { lateAnswers.withLock { $0 } }

        override var identifier: String {
            get throws {
                asked.withLock { $0 = true }
                if disk.wait(timeout: .now() + 20) == .timedOut { lateAnswers.withLock { $0 += 1 } }
                disk.signal()
                return try super.identifier
            }
        }

        func release() { disk.signal() }
    }

    func testTheActorIsFreeWhileTheDatabaseFindsItsIdentifier() async throws {
        let database = SlowlyIdentified(FakeCloud().database(user: "alice"))
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.automaticallySyncs = false
        let engine = SyncEngine<Note>(database: database, configuration: configuration)
        async let diagnostics = engine.diagnostics()
        await database.asked.reach("the identifier is asked") { $0 }
        // Returns only once the actor is free; on the actor, the look-up would go on until its time is up.
        _ = await engine.core.session
        database.release()
        let shown = try await diagnostics
        XCTAssertEqual(shown.cloud, try database.base.identifier)
        XCTAssertEqual(database.lateCount, 0, "the actor has waited for the identifier")
        try await engine.close()
    }

    func testModelsAreReadWhileAWriteIsBlocked() async throws {
        for operation in [FileError.Operation.append, .flush] {
            let files = HeldFileSystem(MemoryFileSystem())
            let phone = try makeDevice(Note.self) { $0.fileSystem = files }
            let engine = phone.engine
            try await engine.upload(Note("a", "Tea"))
            let hold = files.hold(operation, "journal")
            async let queued: Void = engine.upload(Note("b", "Milk"))
            await waiting(for: "\(operation) is blocked", else: ()) { await hold.reached() }
            let read = await waiting(for: "a read beside a blocked \(operation)", else: nil) {
                try? await engine.model(named: "a")
            }
            XCTAssertEqual(read?.title, "Tea", "\(operation)")
            _ = await waiting(for: "the actor beside a blocked \(operation)", else: 0) {
                await engine.core.session
            }
            hold.release()
            try await queued
            let names = try await engine.allModels().map(\.recordName).sorted()
            XCTAssertEqual(names, ["a", "b"], "\(operation)")
            try await engine.close()
        }
    }
}
