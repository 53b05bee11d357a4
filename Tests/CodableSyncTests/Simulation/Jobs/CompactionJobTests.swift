#if os(Linux)
    import Foundation
    import XCTest

    @_spi(Server) @testable import CodableSync

    /// Compactions that run alongside other jobs of the engine.
    final class CompactionJobTests: XCTestCase {
        /// I-01: a compaction removes entries that were replaced; a read that started from a replaced entry
        /// finds the newer one.
        func testAReadDuringACompactionFindsTheRecord() throws {
            for seed in UInt64(0)..<10 {
                let lost = try JobSimulation.run(seed: seed) { try readBesideCompactions($0, seed) }
                XCTAssertEqual(lost, 0, "seed \(seed)")
            }
        }

        /// Edits one record repeatedly, and reads it in between.
        ///
        /// - Returns: The number of reads that found no record.
        private func readBesideCompactions(_ simulation: JobSimulation, _ seed: UInt64) throws -> Int {
            var configuration = SyncConfiguration()
            configuration.storage = .directory(URL(fileURLWithPath: "/device"))
            configuration.fileSystem = MemoryFileSystem()
            configuration.compactionSize = 0
            configuration.seed = seed
            configuration.automaticallySyncs = false
            let cloud = FakeCloud(identifier: "story", options: LedgerOptions())
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
                    let pending = try await engine.pendingChanges().map(\.client)
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
