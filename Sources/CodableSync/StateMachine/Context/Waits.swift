/// The engine's own waits after failures, one for each subject; a call that needs a subject other than the streams ends
/// its wait early.
struct Waits: Equatable, Sendable {
    struct Wait: Equatable, Sendable {
        /// The end of the wait.
        var until: Duration?
        /// The error of the last failure.
        var failure: CloudError?
        /// How long the wait after the next failure is.
        var backoff = Backoff()

        /// Notes a success: the next failure is the first one.
        mutating func succeed() {
            backoff.reset()
            failure = nil
        }
    }

    private var waits = [Wait](repeating: Wait(), count: Subject.allCases.count)

    subscript(subject: Subject) -> Wait {
        get { waits[subject.rawValue] }
        set { waits[subject.rawValue] = newValue }
    }

    mutating func end(_ subjects: Subject...) {
        for subject in subjects { self[subject].until = nil }
    }

    /// Ends the waits that are over.
    ///
    /// - Returns: Their subjects.
    mutating func endOver(at now: Moment) -> [Subject] {
        let over = Subject.allCases.filter { now.hasReached(self[$0].until) }
        for subject in over { end(subject) }
        return over
    }
}

extension SyncContext {
    func isWaiting(_ subject: Subject) -> Bool { now.isBefore(waits[subject].until) }

    /// Waits before the next attempt: longer after every failure, and at least as long as the server orders.
    mutating func backOff(_ subject: Subject, after error: CloudError?) {
        if let error {
            waits[subject].failure = error
            applyRetryAfter(error.retryAfter)
        }
        var backoff = waits[subject].backoff
        let instant = nextTry(after: &backoff)
        waits[subject].backoff = backoff
        waits[subject].until = instant
    }
}
