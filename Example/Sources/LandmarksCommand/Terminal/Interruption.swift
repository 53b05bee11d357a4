import Dispatch
import Foundation

/// Ctrl-C, and the polite signal of `kill`, as something to wait for.
struct Interruption: Sendable {
    private let signals: AsyncStream<Void>

    /// From now on neither signal ends the process by itself.
    init() {
        signals = AsyncStream { continuation in
            let sources = [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.yield() }
                source.resume()
                return SignalSource(source: source)
            }
            continuation.onTermination = { _ in
                for source in sources { source.source.cancel() }
            }
        }
    }

    /// Returns when a signal came, also before the call, or when the task is cancelled.
    func wait() async {
        for await _ in signals { return }
    }
}

/// A source that is only ever cancelled from elsewhere, which Dispatch allows from any thread.
private struct SignalSource: @unchecked Sendable {
    let source: any DispatchSourceSignal
}
