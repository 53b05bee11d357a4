#if os(Linux)
    import Foundation
    import XCTest

    @testable import CodableSync

    /// Compactions beside jobs of the engine.
    final class CompactionJobTests: XCTestCase {
        /// I-01: a compaction drops what the journal has replaced; a read that knows only of the replaced version finds
        /// the newer one, not nothing.
        func testAReadBesideACompactionFindsWhatIsThere() throws {
            for seed in UInt64(0)..<10 {
                let lost = try JobSimulation.run(seed: seed) { try readBesideCompactions($0, seed) }
                XCTAssertEqual(lost, 0, "seed \(seed)")
            }
        }

        /// Edits one record again and again, and reads it in between.
        ///
        /// - Returns: How many reads found nothing.
        private func readBesideCompactions(_ simulation: JobSimulation, _ seed: UInt64) throws -> Int {
            var configuration = SyncConfiguration()
            configuration.storage = .directory(URL(fileURLWithPath: "/device"))
            configuration.fileSystem = MemoryFileSystem()
            configuration.compactionSize = 0
            configuration.seed = seed
            configuration.automaticallySyncs = false
            let cloud = FakeCloud(identifier: "story")
            cloud.epoch = seed + 1
            let engine = SyncEngine<StampSet>(database: cloud.database(), configuration: configuration)
            let (uploaded, lost) = (Locked(0), Locked(0))
            func call(_ body: @escaping @Sendable () async throws -> Void) {
                Task { do { try await body() } catch { XCTFail("\(error)") } }
            }
            for number in 0..<60 {
                call {
                    try await engine.upload(StampSet(id: "a", stamps: ["\(number)"]))
                    uploaded.withLock { $0 += 1 }
                }
                for _ in 0..<Int(simulation.draw() % 40) { simulation.step() }
                guard uploaded.withLock({ $0 }) > 0 else { continue }
                call {
                    let pending = try await engine.pendingChanges().map(\.model)
                    let model = try await engine.model(named: "a")
                    if model == nil || pending.contains(nil) { lost.withLock { $0 += 1 } }
                }
            }
            simulation.drain()
            XCTAssertEqual(uploaded.withLock { $0 }, 60)
            call { try await engine.close() }
            simulation.drain()
            return lost.withLock { $0 }
        }
    }
#endif
