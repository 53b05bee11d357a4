extension NotificationOutcome: CustomStringConvertible {
    /// The outcome in a few words.
    public var description: String {
        switch self {
        case .newData: "new data"
        case .noData: "no data"
        case .failed: "the fetch failed"
        case .notOurs: "not for this engine"
        }
    }
}
