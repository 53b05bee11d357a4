import Dispatch
import Foundation

/// A signal that has ended a command; the exit code is what a shell says of a program that the signal has ended.
struct Interrupted: Error, Equatable {
    var signal: Int32

    var status: Int32 { 128 + signal }
}

/// Ctrl-C, and the polite signal of `kill`, as something to wait for.
struct Interruption: Sendable {
    private let signals: AsyncStream<Int32>

    /// From now on the first signal of each kind does not end the process by itself; a second one does, for whoever
    /// does not want to wait until everything is closed.
    init() {
        signals = AsyncStream { continuation in
            let sources = [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler {
                    signal(number, SIG_DFL)
                    continuation.yield(number)
                }
                source.resume()
                return SignalSource(source: source)
            }
            continuation.onTermination = { _ in
                for source in sources { source.source.cancel() }
            }
        }
    }

    /// Throws when a signal came, also before the call; returns when the task is cancelled.
    ///
    /// - Throws: ``Interrupted``.
    func wait() async throws {
        for await number in signals { throw Interrupted(signal: number) }
    }
}

/// A source that is only ever cancelled from elsewhere, which Dispatch allows from any thread.
private struct SignalSource: @unchecked Sendable {
    let source: any DispatchSourceSignal
}
