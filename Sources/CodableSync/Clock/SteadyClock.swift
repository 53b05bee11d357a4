/// A clock whose monotonic time never goes back, whatever the clock below it says.
///
/// Where that one goes back, this one stands still for an instant and goes on from there, so that a wait is neither
/// cut short nor made longer by the jump.
struct SteadyClock: SyncClock {
    private struct State {
        var last = Duration.zero
        /// What the clock below has lost by going back.
        var lost = Duration.zero
    }

    private let base: any SyncClock
    private let state = Locked(State())

    init(_ base: any SyncClock) {
        self.base = base
    }

    var now: Moment {
        // Read under the lock: of two readers none may take the other's later time for a jump.
        state.withLock { state in
            var moment = base.now
            let time = moment.monotonic + state.lost
            if time < state.last { state.lost += state.last - time }
            state.last = max(state.last, time)
            moment.monotonic = state.last
            return moment
        }
    }

    func sleep(until instant: Duration) async throws {
        try await base.sleep(until: instant - state.withLock { $0.lost })
    }
}
