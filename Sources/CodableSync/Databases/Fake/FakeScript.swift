import RecordCoding

import struct Foundation.Date

/// The faults that wait for their requests on one device, and what is known of its requests.
struct FakeScript: Sendable {
    /// What happens to one request.
    enum Effect: Sendable {
        /// It fails, and the server does not know of it.
        case fail(CloudError)
        /// It is done, and the answer is this error.
        case lose(CloudError)
        /// It waits.
        case hold(FakeHold, FakeStage)
        /// It is refused, and so is every other until the time has passed.
        case throttle(CloudError.Code, Duration)
        /// It is done, and the answer is another one.
        case edit(@Sendable (inout LedgerResponse) -> Void)
    }

    struct Fault: Sendable {
        var operation: FakeOperation
        /// `nil` is every request until it is over.
        var remaining: Int?
        var effect: Effect

        /// Whether it was for every request, and the test has released it.
        var isOver: Bool {
            guard remaining == nil, case .hold(let hold, _) = effect else { return false }
            return hold.isReleased
        }
    }

    /// What one record is refused with.
    enum Refusal: Sendable {
        case error(CloudError)
        case conflict(carriesServerRecord: Bool)
    }

    struct ItemFault: Sendable {
        var recordName: String
        var operation: FakeOperation
        /// `nil` is always.
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

    /// Takes the first fault that waits for a request of this kind.
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

    /// How many faults no request has met yet.
    var pendingCount: Int {
        faults.reduce(0) { $0 + ($1.isOver ? 0 : $1.remaining ?? 1) }
    }

    /// Takes the first fault that waits for a record in a request of this kind.
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

    /// How long a client has to wait that comes too early; that it came is counted.
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
