/// How a request that a test holds tells its runner.
///
/// Only the test can release it, so a caller that waits for an idle engine must not wait for it.
package enum HeldWork {
    /// Set by the runner of a request: called with `true` when it is held, and with `false` when it is released.
    @TaskLocal package static var tell: (@Sendable (Bool) -> Void)?
}
