@_spi(Server) @testable import CodableSync

// What tests count in the library.

extension CoreResources {
    /// The numbers of running tasks and sleeps.
    var counts: (tasks: Int, sleeps: Int) {
        state.withLock { state in
            let sleeps = state.works.values.filter { $0.instant != nil }.count
            return (state.works.count - sleeps, sleeps)
        }
    }

    /// When the sleep is over.
    var nextInstant: Duration? { state.withLock { $0.works.values.lazy.compactMap(\.instant).first } }
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
