extension AccountStatus: CustomStringConvertible {
    /// The status in a few words.
    public var description: String {
        switch self {
        case .couldNotDetermine: "could not be determined"
        case .available: "available"
        case .restricted: "restricted"
        case .noAccount: "no user is signed in"
        case .temporarilyUnavailable: "temporarily unavailable"
        }
    }
}
