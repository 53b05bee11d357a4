/// A clock whose monotonic time never goes back, even if its base clock does.
///
/// If the base clock goes back, this clock stands still for an instant and continues from there, so that the
/// jump neither shortens nor lengthens a wait.
struct SteadyClock: SyncClock {
    private struct State {
        var last = Duration.zero
        /// How far the base clock has gone back in total.
        var lost = Duration.zero
    }

    private let base: any SyncClock
    private let state = Locked(State())

    init(_ base: any SyncClock) {
        self.base = base
    }

    var now: Moment {
        // The base is read under the lock, so that no reader takes another reader's later time for a jump.
        state.withLock { state in
            var moment = base.now
            let time = moment.monotonic + state.lost
            if time < state.last { state.lost = (state.lost + state.last - time).clamped }
            state.last = max(state.last, time)
            moment.monotonic = state.last
            return moment
        }
    }

    func sleep(until instant: Duration) async throws {
        try await base.sleep(until: instant - state.withLock { $0.lost })
    }
}
