import Dispatch
import Foundation

/// A signal that has ended a command; the exit code is 128 and the signal's number, as in a shell.
struct Interrupted: Error, Equatable {
    var signal: Int32

    var status: Int32 { 128 + signal }
}

/// Waits for Ctrl-C, or for the signal of `kill`.
struct Interruption: Sendable {
    private let signals: AsyncStream<Int32>

    /// From now on, the first signal of each kind doesn't end the process; a second one does, without closing
    /// anything.
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

    /// Throws when a signal arrives, or has arrived before the call; returns when the task is cancelled.
    ///
    /// - Throws: ``Interrupted``.
    func wait() async throws {
        for await number in signals { throw Interrupted(signal: number) }
    }
}

/// A source that is only cancelled from elsewhere, which Dispatch allows from any thread.
private struct SignalSource: @unchecked Sendable {
    let source: any DispatchSourceSignal
}
