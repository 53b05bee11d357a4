import RecordCoding

import struct Foundation.Date

/// The faults planned for a device's requests.
struct FakeScript: Sendable {
    private struct Fault: Sendable {
        var operation: FakeOperation
        /// The number of requests or refusals left; `nil` means all until the fault is over.
        var remaining: Int?
        var effect: FakeEffect.Kind

        /// Whether the fault is a hold for all requests that the test has released.
        var isOver: Bool {
            switch effect {
            case .hold(let hold, _), .delay(let hold, _): remaining == nil && hold.isReleased
            case .fail, .lose, .throttle, .edit, .failItem, .conflict: false
            }
        }
    }

    private var faults: [Fault] = []
    private(set) var throttledUntil: Date?
    private(set) var throttleViolations = 0

    mutating func add(_ operation: FakeOperation, times: Int?, _ effect: FakeEffect.Kind) {
        if let times, times <= 0 { return }
        faults.append(Fault(operation: effect.operation ?? operation, remaining: times, effect: effect))
    }

    mutating func removeAll() {
        faults = []
        throttledUntil = nil
    }

    /// Takes the first fault for a request of this kind.
    mutating func next(_ operation: FakeOperation) -> FakeEffect.Kind? {
        take { $0.effect.recordName == nil && $0.operation.matches(operation) }
    }

    /// Takes the first fault for a record in a request of this kind.
    mutating func nextRefusal(of recordName: String, _ operation: FakeOperation) -> FakeEffect.Kind? {
        take { $0.effect.recordName?.isIdentical(to: recordName) == true && $0.operation.matches(operation) }
    }

    private mutating func take(_ isMeant: (Fault) -> Bool) -> FakeEffect.Kind? {
        faults.removeAll(where: \.isOver)
        guard let index = faults.firstIndex(where: isMeant) else { return nil }
        let fault = faults[index]
        if let remaining = fault.remaining {
            faults[index].remaining = remaining - 1
            if remaining == 1 { faults.remove(at: index) }
        }
        return fault.effect
    }

    /// The number of faults that have not applied to a request yet, without those for single records.
    var pendingCount: Int {
        faults.filter { !$0.isOver && $0.effect.recordName == nil }.reduce(0) { $0 + ($1.remaining ?? 1) }
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
