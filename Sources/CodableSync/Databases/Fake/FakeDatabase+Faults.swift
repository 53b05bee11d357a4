public import RecordCoding

// Faults, in the order in which requests will meet them.
extension FakeDatabase {
    /// Lets requests fail before the server knows of them.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - error: The error with which they fail.
    ///   - times: How many.
    public func fail(_ operation: FakeOperation = .any, with error: CloudError, times: Int = 1) {
        state.withLock { $0.script.add(operation, times: times, .fail(error)) }
    }

    /// Lets requests be done and their responses be lost.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - error: What the client sees.
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
    ///   - stage: Whether they are held before or after the server has done them.
    ///   - times: How many; `nil` holds every one until the hold is released.
    /// - Returns: The hold, which the test waits for and releases.
    public func hold(
        _ operation: FakeOperation,
        _ stage: FakeStage = .beforeApplying,
        times: Int? = 1
    ) -> FakeHold {
        let hold = FakeHold()
        state.withLock { $0.script.add(operation, times: times, .hold(hold, stage)) }
        return hold
    }

    /// Leaves requests without an answer until their task is cancelled.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - stage: Whether the server has done it.
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

    /// Orders the client to wait: a request is refused, and so is every other before the time has passed.
    ///
    /// The time is that of the cloud's clock. An engine waits an hour at most: after a longer order, its requests
    /// count as ``throttleViolations``.
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

    /// How many requests came although the client had been told to wait.
    public var throttleViolations: Int { state.withLock { $0.script.throttleViolations } }

    /// Refuses one record, whatever the rules say; the rest of an atomic request fails with it.
    ///
    /// - Parameters:
    ///   - recordName: The record's name, in any zone.
    ///   - operation: The kind of request in which it is refused: a save or deletion, a look-up, or a fetch of changes.
    ///   - error: What it is refused with.
    ///   - times: How often; `nil` is always.
    public func failItem(
        _ recordName: String,
        in operation: FakeOperation = .modifyRecords,
        with error: CloudError,
        times: Int? = 1
    ) {
        add(.error(error), recordName, operation, times)
    }

    /// Answers the save of one record with a conflict, although its change tag is right.
    ///
    /// - Parameters:
    ///   - recordName: The record's name, in any zone.
    ///   - carriesServerRecord: Whether the conflict carries the server's record, if there is one.
    ///   - times: How often; `nil` is always.
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

    /// The most items in a page of changes, on this device; `nil` leaves it to client and cloud.
    public var pageSize: Int? {
        get { state.withLock { $0.pageSize } }
        set { state.withLock { $0.pageSize = newValue } }
    }

    /// Changes the answers to saves and deletions after they were done: leaves an ID out, adds a foreign one.
    ///
    /// - Parameters:
    ///   - times: How many answers.
    ///   - edit: What is done to them.
    public func editSaves(times: Int = 1, _ edit: @escaping @Sendable (inout ModifyRecordsResult) -> Void) {
        editResponses(of: .modifyRecords, times: times) { response in
            guard case .modifyRecords(var result) = response else { return }
            edit(&result)
            response = .modifyRecords(result)
        }
    }

    /// Changes what look-ups of records bring.
    ///
    /// - Parameters:
    ///   - times: How many answers.
    ///   - edit: What is done to them.
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

    /// Changes pages of zones' change feeds: makes one empty, repeats a record, says that more is coming.
    ///
    /// - Parameters:
    ///   - times: How many pages.
    ///   - edit: What is done to them.
    public func editZoneChanges(times: Int = 1, _ edit: @escaping @Sendable (inout ZoneChanges) -> Void) {
        editResponses(of: .recordZoneChanges, times: times) { response in
            guard case .recordZoneChanges(var changes) = response else { return }
            edit(&changes)
            response = .recordZoneChanges(changes)
        }
    }

    /// Changes pages of the database's change feed.
    ///
    /// - Parameters:
    ///   - times: How many pages.
    ///   - edit: What is done to them.
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

    /// Changes answers of any kind after the request was done.
    ///
    /// - Parameters:
    ///   - operation: The kind of request.
    ///   - times: How many answers.
    ///   - edit: What is done to them; an answer of another kind counts as a failure of the service.
    public func editResponses(
        of operation: FakeOperation,
        times: Int = 1,
        _ edit: @escaping @Sendable (inout LedgerResponse) -> Void
    ) {
        state.withLock { $0.script.add(operation, times: times, .edit(edit)) }
    }

    /// Takes back every fault that no request has met yet; requests that are held stay so.
    public func clearFaults() {
        state.withLock { $0.script.removeAll() }
    }

    /// How many planted faults no request has met yet; a hold without a number counts as one until it is released.
    public var pendingFaultCount: Int { state.withLock { $0.script.pendingCount } }
}
