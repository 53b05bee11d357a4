import Foundation

extension DispatchGroup {
    /// Blocks until everything in the group is done, or until the timeout by the system's clock.
    ///
    /// - Parameter timeout: The maximum time to block.
    /// - Returns: Whether everything is done.
    func wait(atMost timeout: DispatchTimeInterval) -> Bool { wait(timeout: .now() + timeout) == .success }
}
