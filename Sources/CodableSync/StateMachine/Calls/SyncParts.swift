/// The parts of a sync that a call requests.
package struct SyncParts: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static let fetch = SyncParts(rawValue: 1)
    package static let send = SyncParts(rawValue: 2)
    /// A push triggered the call, so the engine does not retry what a push cannot fix.
    package static let hint = SyncParts(rawValue: 4)
}

/// The outcome of one of the app's calls.
package enum CallAnswer: Equatable, Sendable {
    case done
    case summary(SyncSummary)
    case failed(SyncError)
}
