/// The time for which the first unsent call waits for others, so that their changes share a request.
///
/// The delay starts with the first call; later calls don't restart it. Retries and resolved conflicts don't
/// wait, and take the waiting changes along.
struct SendDelay: Sendable {
    /// The records whose changes wait.
    var queue = RecordQueue()
    /// When they are sent.
    private(set) var until: Duration?

    /// The number of changes that wait.
    func count(at now: Moment) -> Int { now.isBefore(until) ? queue.count : 0 }

    /// Delays a call's change, unless it can't be sent anyway.
    mutating func wait(_ key: RecordKey, _ context: SyncContext) {
        guard context.configuration.sendDelay > .zero, context.state.sendQueue.contains(key) else { return }
        queue.append(key)
        guard until == nil else { return }
        until = context.now.monotonic + context.configuration.sendDelay
    }

    /// Sends the changes with the next request.
    mutating func end() {
        until = nil
        queue = RecordQueue()
    }
}
