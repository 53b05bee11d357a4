import Foundation

extension DispatchGroup {
    /// Blocks until everything in the group is done, by the machine's clock, or until the time is over.
    ///
    /// - Parameter timeout: How long to block at most.
    /// - Returns: Whether everything is done.
    func wait(atMost timeout: DispatchTimeInterval) -> Bool { wait(timeout: .now() + timeout) == .success }
}
