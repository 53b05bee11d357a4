/// The time that a request waits on this device, for others of its session or for the user to sign in again.
///
/// The engine gives the response that much longer, since a request that was not sent has lost none.
final class RequestWait: Sendable {
    private struct State {
        var began: Duration?
        var unread = Duration.zero
    }

    private let state = Locked(State())
    private let clock: any SyncClock

    init(clock: any SyncClock) {
        self.clock = clock
    }

    var isWaiting: Bool { state.withLock { $0.began != nil } }

    /// Notes whether the request waits from now on.
    func note(isWaiting: Bool) {
        let now = clock.now.monotonic
        state.withLock { state in
            if let began = state.began { state.unread += now - began }
            state.began = isWaiting ? now : nil
        }
    }

    /// The time that it has waited since this was last asked.
    func takeTime() -> Duration {
        let now = clock.now.monotonic
        return state.withLock { state in
            defer {
                state.unread = .zero
                if state.began != nil { state.began = now }
            }
            return state.unread + (state.began.map { now - $0 } ?? .zero)
        }
    }
}
