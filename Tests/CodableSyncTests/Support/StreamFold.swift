import XCTest

@testable import CodableSync

/// An app that keeps what a stream gives it: the fold of the elements, each accepted before the next.
final class StreamFold<Model: RecordCodable & Equatable>: Sendable {
    private struct State {
        var models: [String: Model] = [:]
        var elements: [ModelChange<Model>] = []
        var loop: Task<Void, Never>?
    }

    private let state = Locked(State())
    private let engine: SyncEngine<Model>

    /// Begins to follow a stream; `models` are those that the app has stored before.
    init(
        _ stream: any KeyPath<SyncEngine<Model>, AsyncStream<ModelChange<Model>>> & Sendable,
        of engine: SyncEngine<Model>,
        from models: [String: Model] = [:]
    ) {
        self.engine = engine
        state.withLock { $0.models = models }
        let changes = engine[keyPath: stream]
        let loop = Task { [state] in
            for await change in changes {
                state.withLock {
                    $0.models.apply(change)
                    $0.elements.append(change)
                }
            }
        }
        state.withLock { $0.loop = loop }
    }

    /// Returns once the stream has nothing left to give.
    func rest(file: StaticString = #filePath, line: UInt = #line) async {
        await engine.reach("the loop has everything", file: file, line: line) { engine in
            guard engine.isIdle, let streams = engine.machine?.delivering.streams else { return false }
            return !streams.isEmpty
                && streams.allSatisfy { $0.stage == .asking && $0.waitingCount == 0 && $0.replay == .none }
        }
    }

    var models: [String: Model] { state.withLock { $0.models } }
    var elements: [ModelChange<Model>] { state.withLock { $0.elements } }

    func end() async {
        let loop = state.withLock { $0.loop }
        loop?.cancel()
        await loop?.value
    }

    /// Asserts that the app shows what reads show.
    func assertShowsWhatReadsShow(
        _ what: String = "",
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        await rest(file: file, line: line)
        let shown = try await engine.allModels().reduce(into: [:]) { $0[$1.recordName] = $1 }
        XCTAssertEqual(models, shown, what, file: file, line: line)
    }
}
