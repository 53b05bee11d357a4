import RecordCoding

import struct Foundation.Date

/// The faults planned for a device's requests.
struct FakeScript: Sendable {
    /// What happens to one request.
    enum Effect: Sendable {
        /// The request fails before it reaches the server.
        case fail(CloudError)
        /// The server performs the request, and the client gets this error.
        case lose(CloudError)
        /// The request waits.
        case hold(FakeHold, afterApplying: Bool)
        /// The request is refused, and all others until the time has passed.
        case throttle(CloudError.Code, Duration)
        /// The server performs the request, and the response is edited.
        case edit(@Sendable (inout LedgerResponse) -> Void)
    }

    struct Fault: Sendable {
        var operation: FakeOperation
        /// The number of requests left; `nil` means all until the fault is over.
        var remaining: Int?
        var effect: Effect

        /// Whether the fault is a hold for all requests that the test has released.
        var isOver: Bool {
            guard remaining == nil, case .hold(let hold, _) = effect else { return false }
            return hold.isReleased
        }
    }

    /// How one record is refused.
    enum Refusal: Sendable {
        case error(CloudError)
        case conflict(carriesServerRecord: Bool)

        /// The only kind of request that can be refused in this way; `nil` if each can be.
        var operation: FakeOperation? {
            switch self {
            case .error: nil
            case .conflict: .modifyRecords
            }
        }
    }

    struct ItemFault: Sendable {
        var recordName: String
        var operation: FakeOperation
        /// The number of refusals left; `nil` means always.
        var remaining: Int?
        var refusal: Refusal
    }

    private(set) var faults: [Fault] = []
    private(set) var itemFaults: [ItemFault] = []
    private(set) var throttledUntil: Date?
    private(set) var throttleViolations = 0

    mutating func add(_ operation: FakeOperation, times: Int?, _ effect: Effect) {
        if let times, times <= 0 { return }
        faults.append(Fault(operation: operation, remaining: times, effect: effect))
    }

    mutating func add(_ fault: ItemFault) {
        if let remaining = fault.remaining, remaining <= 0 { return }
        itemFaults.append(fault)
    }

    mutating func removeAll() {
        faults = []
        itemFaults = []
        throttledUntil = nil
    }

    /// Takes the first fault for a request of this kind.
    mutating func next(_ operation: FakeOperation) -> Effect? {
        faults.removeAll(where: \.isOver)
        guard let index = faults.firstIndex(where: { $0.operation.matches(operation) }) else { return nil }
        let fault = faults[index]
        if let remaining = fault.remaining {
            faults[index].remaining = remaining - 1
            if remaining == 1 { faults.remove(at: index) }
        }
        return fault.effect
    }

    /// The number of faults that have not applied to a request yet.
    var pendingCount: Int {
        faults.reduce(0) { $0 + ($1.isOver ? 0 : $1.remaining ?? 1) }
    }

    /// Takes the first fault for a record in a request of this kind.
    mutating func nextRefusal(of recordName: String, _ operation: FakeOperation) -> Refusal? {
        let index = itemFaults.firstIndex {
            $0.recordName.isIdentical(to: recordName) && $0.operation.matches(operation)
        }
        guard let index else { return nil }
        let refusal = itemFaults[index].refusal
        if let remaining = itemFaults[index].remaining {
            itemFaults[index].remaining = remaining - 1
            if remaining == 1 { itemFaults.remove(at: index) }
        }
        return refusal
    }

    mutating func throttle(until date: Date) {
        throttledUntil = max(throttledUntil ?? date, date)
    }

    /// Counts a request that comes too early, and returns how long the client must still wait.
    mutating func violation(at date: Date) -> Duration? {
        guard let until = throttledUntil else { return nil }
        guard date < until else {
            throttledUntil = nil
            return nil
        }
        throttleViolations += 1
        return .seconds(until.timeIntervalSince(date))
    }
}
