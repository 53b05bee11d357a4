/// Lets a request notify its runner that a test is holding it.
///
/// Only the test can release the request, so a caller that waits for an idle engine must not wait for it.
package enum HeldWork {
    /// Called with `true` when a request is held, and with `false` when it is released.
    package typealias Tell = @Sendable (Bool) -> Void

    /// The value of the task-local.
    ///
    /// NB: A task-local whose value is a function crashes optimized builds (Swift 6.3.1, Linux).
    private struct Runner: Sendable {
        var tell: Tell
    }

    @TaskLocal private static var runner: Runner?

    /// The callback of the current request's runner.
    package static var tell: Tell? { runner?.tell }

    /// Runs a request with a callback.
    static func run(telling tell: @escaping Tell, _ work: @Sendable () async -> Void) async {
        await $runner.withValue(Runner(tell: tell), operation: work)
    }
}
