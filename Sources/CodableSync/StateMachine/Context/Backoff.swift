/// The waits after failures: exponential from 1 s up to 5 min, with full jitter.
package struct Backoff: Equatable, Sendable {
    package private(set) var attempts = 0

    package init() {}

    /// The next wait.
    ///
    /// - Parameter random: The source of the jitter.
    /// - Returns: How long to wait.
    mutating func next(using random: inout SplitMix64) -> Duration {
        let ceiling = min(300, 1 << min(attempts, 9)) * 1000
        attempts = min(attempts + 1, 64)
        return .milliseconds(Int64(random.next() % UInt64(ceiling)) + 1)
    }

    mutating func reset() {
        attempts = 0
    }

    /// A wait ordered by the server, clamped to between 1 s and 1 h.
    static func clamped(_ wait: Duration) -> Duration {
        min(max(wait, .seconds(1)), .seconds(3600))
    }
}

/// A small random number generator with a seed, so that runs are reproducible.
package struct SplitMix64: RandomNumberGenerator, Equatable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
