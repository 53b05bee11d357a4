import CodableSync
import LandmarkModel

/// A sync with a progress line on the terminal.
struct SyncProgress {
    let engine: SyncEngine<Landmark>
    var output = Output.standardError

    func sync() async throws -> SyncSummary {
        guard output.isTerminal else { return try await engine.sync() }
        let bar = ProgressBar("sending", total: try await engine.diagnostics().pendingCount, on: output)
        let events = engine.events
        let watching = Task { [output] in
            var sent = 0
            for await event in events {
                switch event {
                case .sendBegan: bar.show(sent)
                case .sendEnded(let saved, let deleted, _):
                    sent += saved + deleted
                    bar.show(sent)
                case .fetchBegan: output.show("\r\u{1B}[2Kfetching")
                default: continue
                }
            }
        }
        defer { bar.remove() }
        do {
            let summary = try await engine.sync()
            await Self.end(watching)
            return summary
        } catch {
            await Self.end(watching)
            throw error
        }
    }

    /// The line is removed at the end.
    private static func end(_ watching: Task<Void, Never>) async {
        watching.cancel()
        await watching.value
    }
}
