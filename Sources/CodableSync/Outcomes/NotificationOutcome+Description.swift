extension NotificationOutcome: CustomStringConvertible {
    /// The outcome in a few words.
    public var description: String {
        switch self {
        case .newData: "new data"
        case .noData: "no data"
        case .notOurs: "not for this engine"
        }
    }
}
