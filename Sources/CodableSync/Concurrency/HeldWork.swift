/// How a request that a test holds says so to whoever runs it.
///
/// What is held can go on only when the test lets it, so whoever waits for rest must not wait for it.
package enum HeldWork {
    /// Set by whoever runs a request: told `true` when it is held, and `false` when it is let go.
    @TaskLocal package static var tell: (@Sendable (Bool) -> Void)?
}
