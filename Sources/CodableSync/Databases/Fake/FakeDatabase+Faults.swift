public import RecordCoding

// Faults, which apply to requests in the order in which they were planned.
extension FakeDatabase {
    /// Makes requests fail before they reach the server.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - error: The error with which they fail.
    ///   - times: How many.
    public func fail(_ operation: FakeOperation = .any, with error: CloudError, times: Int = 1) {
        state.withLock { $0.script.add(operation, times: times, .fail(error)) }
    }

    /// Lets the server perform requests, but loses their responses.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - error: The error that the client gets.
    ///   - times: How many.
    public func loseResponse(
        of operation: FakeOperation,
        with error: CloudError = CloudError(.serverResponseLost),
        times: Int = 1
    ) {
        state.withLock { $0.script.add(operation, times: times, .lose(error)) }
    }

    /// Holds requests until the test releases them.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - stage: Whether they are held before or after the server has performed them.
    ///   - times: How many; `nil` holds all requests until the hold is released.
    /// - Returns: The hold, with which the test waits for requests and releases them.
    public func hold(
        _ operation: FakeOperation,
        _ stage: FakeStage = .beforeApplying,
        times: Int? = 1
    ) -> FakeHold {
        let hold = FakeHold()
        state.withLock { $0.script.add(operation, times: times, .hold(hold, stage)) }
        return hold
    }

    /// Leaves requests without a response until their task is cancelled.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - stage: Whether the server performs the requests.
    ///   - times: How many.
    public func neverAnswer(
        _ operation: FakeOperation,
        _ stage: FakeStage = .beforeApplying,
        times: Int = 1
    ) {
        state.withLock { state in
            for _ in 0..<max(0, times) { state.script.add(operation, times: 1, .hold(FakeHold(), stage)) }
        }
    }

    /// Tells the client to wait: refuses a request, and all others until the time has passed.
    ///
    /// The cloud's clock measures the time. An engine waits at most an hour; with a longer time, its next
    /// requests count as ``throttleViolations``.
    ///
    /// - Parameters:
    ///   - operation: The kind of request that is refused first.
    ///   - retryAfter: How long the client has to wait after it.
    ///   - code: The code of the refusal.
    public func throttle(
        _ operation: FakeOperation = .any,
        retryAfter: Duration,
        code: CloudError.Code = .requestRateLimited
    ) {
        state.withLock { $0.script.add(operation, times: 1, .throttle(code, retryAfter)) }
    }

    /// How many requests arrived before the time to wait had passed.
    public var throttleViolations: Int { state.withLock { $0.script.throttleViolations } }

    /// Refuses one record of a valid request; the rest of an atomic request fails with it.
    ///
    /// - Parameters:
    ///   - recordName: The record's name, in any zone.
    ///   - operation: The kind of request in which it is refused: a save or deletion, a look-up, or a fetch
    ///     of changes.
    ///   - error: The error for the record.
    ///   - times: How often; `nil` means always.
    public func failItem(
        _ recordName: String,
        in operation: FakeOperation = .modifyRecords,
        with error: CloudError,
        times: Int? = 1
    ) {
        add(.error(error), recordName, operation, times)
    }

    /// Reports a conflict for the save of a record although its change tag is valid.
    ///
    /// - Parameters:
    ///   - recordName: The record's name, in any zone.
    ///   - carriesServerRecord: Whether the conflict carries the server's record, if there is one.
    ///   - times: How often; `nil` means always.
    public func conflict(
        on recordName: String,
        carryingServerRecord carriesServerRecord: Bool = true,
        times: Int? = 1
    ) {
        add(.conflict(carriesServerRecord: carriesServerRecord), recordName, .modifyRecords, times)
    }

    private func add(
        _ refusal: FakeScript.Refusal,
        _ recordName: String,
        _ operation: FakeOperation,
        _ times: Int?
    ) {
        let fault = FakeScript.ItemFault(
            recordName: recordName,
            operation: operation,
            remaining: times,
            refusal: refusal
        )
        state.withLock { $0.script.add(fault) }
    }

    /// Whether conflicts carry the server's record, on this device; over CloudKit's web services they do not.
    public var conflictsCarryServerRecord: Bool {
        get { state.withLock { $0.carriesServerRecords } }
        set { state.withLock { $0.carriesServerRecords = newValue } }
    }

    /// The maximum number of items in a page of changes on this device; `nil` leaves it to the client and the
    /// cloud.
    public var pageSize: Int? {
        get { state.withLock { $0.pageSize } }
        set { state.withLock { $0.pageSize = newValue } }
    }

    /// Edits the responses to saves and deletions, for example to omit an ID or add a foreign one.
    ///
    /// - Parameters:
    ///   - times: How many responses.
    ///   - edit: Edits a response.
    public func editSaves(times: Int = 1, _ edit: @escaping @Sendable (inout ModifyRecordsResult) -> Void) {
        editResponses(of: .modifyRecords, times: times) { response in
            guard case .modifyRecords(var result) = response else { return }
            edit(&result)
            response = .modifyRecords(result)
        }
    }

    /// Edits the responses to look-ups of records.
    ///
    /// - Parameters:
    ///   - times: How many responses.
    ///   - edit: Edits a response.
    public func editRecords(
        times: Int = 1,
        _ edit: @escaping @Sendable (inout [RecordID: Result<Record, CloudError>]) -> Void
    ) {
        editResponses(of: .records, times: times) { response in
            guard case .records(var results) = response else { return }
            edit(&results)
            response = .records(results)
        }
    }

    /// Edits pages of zones' change feeds, for example to empty a page or to report that more is coming.
    ///
    /// - Parameters:
    ///   - times: How many pages.
    ///   - edit: Edits a page.
    public func editZoneChanges(times: Int = 1, _ edit: @escaping @Sendable (inout ZoneChanges) -> Void) {
        editResponses(of: .recordZoneChanges, times: times) { response in
            guard case .recordZoneChanges(var changes) = response else { return }
            edit(&changes)
            response = .recordZoneChanges(changes)
        }
    }

    /// Edits pages of the database's change feed.
    ///
    /// - Parameters:
    ///   - times: How many pages.
    ///   - edit: Edits a page.
    public func editDatabaseChanges(
        times: Int = 1,
        _ edit: @escaping @Sendable (inout DatabaseChanges) -> Void
    ) {
        editResponses(of: .databaseChanges, times: times) { response in
            guard case .databaseChanges(var changes) = response else { return }
            edit(&changes)
            response = .databaseChanges(changes)
        }
    }

    /// Edits responses of any kind after the server has performed the requests.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - times: How many responses.
    ///   - edit: Edits a response; a response of another kind counts as a failure of the service.
    public func editResponses(
        of operation: FakeOperation,
        times: Int = 1,
        _ edit: @escaping @Sendable (inout LedgerResponse) -> Void
    ) {
        state.withLock { $0.script.add(operation, times: times, .edit(edit)) }
    }

    /// Removes all faults that have not applied to a request yet; held requests stay held.
    public func clearFaults() {
        state.withLock { $0.script.removeAll() }
    }

    /// How many faults have not applied to a request yet; a hold without a number counts as one until it is
    /// released.
    public var pendingFaultCount: Int { state.withLock { $0.script.pendingCount } }
}
