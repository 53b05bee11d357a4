@testable import CodableSync

/// The subscription, which most tests of a machine are not about.
extension MachineHarness {
    /// Whether nothing waits, except for the next day.
    var isWithoutTimers: Bool { timers.keys.allSatisfy { $0 == .subscriptionCheck } }

    /// Reports that the server still has the subscription, unless the test does so.
    mutating func answerCheck(_ actions: [SyncAction]) -> [SyncAction] {
        guard answersChecks else { return actions }
        for (index, action) in actions.enumerated() {
            guard case .request(let request, .subscribe(isMade: true)) = action else { continue }
            var others = actions
            others.remove(at: index)
            return others + run(.response(request, .success(.subscriptionModified)))
        }
        return actions
    }
}
