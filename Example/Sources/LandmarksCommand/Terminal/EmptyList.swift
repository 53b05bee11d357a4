/// What to do next if there is nothing to show.
enum EmptyList {
    /// How to get landmarks.
    static let remedy =
        "run 'landmarks add' or 'landmarks import' to create some, or 'landmarks sync' to fetch those of other devices"

    /// The line for a list of landmarks.
    ///
    /// - Parameter count: The number of all landmarks on the device.
    /// - Returns: The line.
    static func landmarks(outOf count: Int) -> String {
        count == 0
            ? "this device has no landmarks; \(remedy)"
            : "no landmark matches; leave out --search and --favorites to see all \(count)"
    }

    static let pending = "nothing to send; 'landmarks sync' fetches other devices' changes"
    static let parked = "nothing to decide"
}
