import XCTest

@testable import CodableSync

extension LiveModels where Model: Equatable {
    /// Waits until every call has ended and the stream has delivered everything, and compares the models with what
    /// reads return.
    func settle(file: StaticString = #filePath, line: UInt = #line) async throws {
        _ = models
        let engine = engine
        await engine.reach("the stream is live", file: file, line: line) {
            $0.machine?.delivering.streams.isEmpty == false
        }
        repeat {
            for _ in 0..<200_000 where !calls.isEmpty { await Task.yield() }
            guard calls.isEmpty else { return XCTFail("the calls never end", file: file, line: line) }
            await engine.reach("the stream has told everything", file: file, line: line) { engine in
                guard let streams = engine.machine?.delivering.streams, engine.isIdle else { return false }
                return streams.allSatisfy {
                    $0.stage == .asking && $0.waitingCount == 0 && $0.replay == .none
                }
            }
        } while !calls.isEmpty
        let shown = try await engine.allModels().reduce(into: [:]) { $0[$1.recordName] = $1 }
        XCTAssertEqual(models, shown, file: file, line: line)
        XCTAssertTrue(isLoaded, file: file, line: line)
    }
}
