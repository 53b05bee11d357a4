// Faults, which apply to requests in the order in which they were planned.
extension FakeDatabase {
    /// Plans what happens to the next requests of a kind, once the effects planned before have applied.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - effect: What happens to them.
    ///   - times: How many requests, or how many refusals of a record; `nil` means all until
    ///     ``clearFaults()``, or until a hold is released.
    public func on(_ operation: FakeOperation, _ effect: FakeEffect, times: Int? = 1) {
        state.withLock { $0.script.add(operation, times: times, effect.kind) }
    }

    /// How many requests arrived before the time to wait had passed.
    public var throttleViolations: Int { state.withLock { $0.script.throttleViolations } }

    /// Whether conflicts carry the server's record, on this device; over CloudKit's web services they do not.
    package var conflictsCarryServerRecord: Bool {
        get { state.withLock { $0.carriesServerRecords } }
        set { state.withLock { $0.carriesServerRecords = newValue } }
    }

    /// The maximum number of items in a page of changes on this device; `nil` leaves it to the client and the
    /// cloud.
    package var pageSize: Int? {
        get { state.withLock { $0.pageSize } }
        set { state.withLock { $0.pageSize = newValue } }
    }

    /// Removes all faults that have not applied to a request yet; held requests stay held.
    public func clearFaults() {
        state.withLock { $0.script.removeAll() }
    }

    /// How many faults have not applied to a request yet; a hold without a number counts as one until it is
    /// released.
    public var pendingFaultCount: Int { state.withLock { $0.script.pendingCount } }
}
