import Foundation

extension DispatchGroup {
    /// Blocks until everything in the group is done, or until the timeout by the system's clock.
    ///
    /// - Parameter timeout: How long to block at most.
    /// - Returns: Whether everything is done.
    func wait(atMost timeout: DispatchTimeInterval) -> Bool { wait(timeout: .now() + timeout) == .success }
}
