/// What to do next where there is nothing to show.
enum EmptyList {
    /// How a device gets landmarks.
    static let remedy =
        "'landmarks add' and 'landmarks import' make some, 'landmarks sync' fetches those of other devices"

    /// For a list of landmarks.
    ///
    /// - Parameter count: How many landmarks the device has, those that were not asked for among them.
    /// - Returns: The line.
    static func landmarks(outOf count: Int) -> String {
        count == 0
            ? "this device has no landmarks; \(remedy)"
            : "no landmark fits; leave out --search and --favorites to see all \(count)"
    }

    static let pending = "nothing waits; 'landmarks sync' fetches what the others did"
    static let parked = "nothing is to be decided"
}
