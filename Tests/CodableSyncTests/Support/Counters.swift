@_spi(Server) @testable import CodableSync

// What tests count in the library.

extension CoreResources {
    /// The numbers of running tasks and timers.
    var counts: (tasks: Int, timers: Int) {
        state.withLock { ($0.tasks.count + $0.firing, $0.timers.count) }
    }

    /// When the next timer fires.
    var nextInstant: Duration? { state.withLock { $0.timers.values.map(\.instant).min() } }
}

extension ManualClock {
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }
}

extension RecordQueue {
    /// The number of places in memory.
    var placeCount: Int { places.count }
}

extension LedgerDirectory {
    /// The number of requests that wait for their turn.
    var waitingCount: Int { line.withLock { $0.count } }
}

extension LocalListeners {
    /// Returns once there are no listeners.
    func waitUntilLeft() async { await hub.wait { $0.count == 0 } }
}
