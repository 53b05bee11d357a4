/// What happens to requests to a ``FakeDatabase``, and to their responses.
///
/// ```swift
/// database.on(.modifyRecords, .fail(CloudError(.networkFailure)), times: 2)
/// database.on(.recordZoneChanges, .edit(ZoneChanges.self) { $0.moreComing = true })
/// ```
public struct FakeEffect: Sendable {
    enum Kind: Sendable {
        /// The request fails before it reaches the server.
        case fail(CloudError)
        /// The server performs the request, and the client gets this error.
        case lose(CloudError)
        /// The request waits.
        case hold(FakeHold, afterApplying: Bool)
        /// The client gets this error, and the request reaches the server later.
        case delay(FakeHold, CloudError)
        /// The request is refused, and all others until the time has passed.
        case throttle(CloudError.Code, Duration)
        /// The server performs the request, and the response is edited.
        case edit(@Sendable (inout LedgerResponse) -> Void)
        /// One record is refused.
        case failItem(String, CloudError)
        /// One record is refused with a conflict.
        case conflict(String, carriesServerRecord: Bool)

        /// The only record that is affected; `nil` if it is the request.
        var recordName: String? {
            switch self {
            case .failItem(let name, _), .conflict(let name, _): name
            case .fail, .lose, .hold, .delay, .throttle, .edit: nil
            }
        }

        /// The only kind of request that can be affected; `nil` if each can be.
        var operation: FakeOperation? {
            if case .conflict = self { .modifyRecords } else { nil }
        }
    }

    let kind: Kind

    /// The request fails before it reaches the server.
    ///
    /// - Parameter error: The error with which it fails.
    /// - Returns: The effect.
    public static func fail(_ error: CloudError) -> FakeEffect {
        FakeEffect(kind: .fail(error))
    }

    /// The server performs the request, but its response is lost.
    ///
    /// - Parameter error: The error that the client gets.
    /// - Returns: The effect.
    public static func loseResponse(_ error: CloudError = CloudError(.serverResponseLost)) -> FakeEffect {
        FakeEffect(kind: .lose(error))
    }

    /// The request waits until the test releases it; with a hold that is never released, until its task is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - hold: The hold, with which the test waits for requests and releases them. Without a number of
    ///     `times`, it holds all requests until it is released.
    ///   - afterApplying: Whether it waits after the server has performed it, so that only the response is late.
    /// - Returns: The effect.
    public static func hold(_ hold: FakeHold, afterApplying: Bool = false) -> FakeEffect {
        FakeEffect(kind: .hold(hold, afterApplying: afterApplying))
    }

    /// The client gives the request up, as after its deadline, and the network delivers it later.
    ///
    /// The server performs it, whatever has happened since, when the test releases it. A hold that is released with an
    /// error loses it.
    ///
    /// - Parameters:
    ///   - hold: The hold that has the request. Without a number of `times`, it takes all requests until it is
    ///     released.
    ///   - error: The error that the client gets at once.
    /// - Returns: The effect.
    public static func deliverLate(
        _ hold: FakeHold,
        throwing error: CloudError = CloudError(.serverResponseLost)
    ) -> FakeEffect {
        FakeEffect(kind: .delay(hold, error))
    }

    /// The client must wait: the request is refused, and all others until the time has passed.
    ///
    /// The cloud's clock measures the time. An engine waits at most an hour; with a longer time, its next
    /// requests count as ``FakeDatabase/throttleViolations``.
    ///
    /// - Parameters:
    ///   - retryAfter: How long the client has to wait after the request.
    ///   - code: The code of the refusal.
    /// - Returns: The effect.
    public static func throttle(
        retryAfter: Duration,
        code: CloudError.Code = .requestRateLimited
    ) -> FakeEffect {
        FakeEffect(kind: .throttle(code, retryAfter))
    }

    /// One record of a valid request is refused; the rest of an atomic request fails with it.
    ///
    /// It applies to saves and deletions, look-ups, and fetches of changes.
    ///
    /// - Parameters:
    ///   - recordName: The record's name, in any zone.
    ///   - error: The error for the record.
    /// - Returns: The effect.
    public static func failItem(_ recordName: String, _ error: CloudError) -> FakeEffect {
        FakeEffect(kind: .failItem(recordName, error))
    }

    /// The save of a record is reported as a conflict although its change tag is valid.
    ///
    /// It applies to ``FakeOperation/modifyRecords``, whatever the kind of request, and to a deletion like a save.
    ///
    /// - Parameters:
    ///   - recordName: The record's name, in any zone.
    ///   - carriesServerRecord: Whether the conflict carries the server's record, if there is one.
    /// - Returns: The effect.
    public static func conflict(
        on recordName: String,
        carryingServerRecord carriesServerRecord: Bool = true
    ) -> FakeEffect {
        FakeEffect(kind: .conflict(recordName, carriesServerRecord: carriesServerRecord))
    }

    /// The server performs the request, and the response is edited, for example to omit an ID or add a foreign
    /// one.
    ///
    /// - Parameters:
    ///   - type: What the method of ``CloudDatabase`` returns, for example ``ModifyRecordsResult`` or
    ///     ``ZoneChanges``. A response of another type fails with
    ///     ``CloudError/Code-swift.enum/internalError``.
    ///   - edit: Edits a response.
    /// - Returns: The effect.
    public static func edit<Answer: Sendable>(
        _ type: Answer.Type = Answer.self,
        _ edit: @escaping @Sendable (inout Answer) -> Void
    ) -> FakeEffect {
        FakeEffect(kind: .edit { $0.edit(edit) })
    }
}

extension LedgerResponse {
    /// Edits what a client gets; a response without such a value becomes a failure.
    fileprivate mutating func edit<Answer>(_ edit: (inout Answer) -> Void) {
        switch self {
        case .modifyRecords(let result): self = edited(result, edit, Self.modifyRecords)
        case .records(let results): self = edited(results, edit, Self.records)
        case .modifyRecordZones(let result): self = edited(result, edit, Self.modifyRecordZones)
        case .recordZones(let results): self = edited(results, edit, Self.recordZones)
        case .allZones(let zones): self = edited(zones, edit, Self.allZones)
        case .databaseChanges(let changes): self = edited(changes, edit, Self.databaseChanges)
        case .recordZoneChanges(let changes): self = edited(changes, edit, Self.recordZoneChanges)
        case .modifySubscriptions(let result): self = edited(result, edit, Self.modifySubscriptions)
        case .allSubscriptions(let subscriptions): self = edited(subscriptions, edit, Self.allSubscriptions)
        case .done: self = Self.misfit(Answer.self)
        case .failure: break
        }
    }

    private func edited<Value, Answer>(
        _ value: Value,
        _ edit: (inout Answer) -> Void,
        _ response: (Value) -> LedgerResponse
    ) -> LedgerResponse {
        // The types are compared, since an empty collection can be cast to one of any other elements.
        guard Value.self == Answer.self, var answer = value as? Answer else {
            return Self.misfit(Answer.self)
        }
        edit(&answer)
        return (answer as? Value).map(response) ?? Self.misfit(Answer.self)
    }

    private static func misfit(_ type: Any.Type) -> LedgerResponse {
        .failure(CloudError(.internalError, message: "The test edits \(type), but the response is another."))
    }
}
