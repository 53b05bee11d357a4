/// Why a text is not the expected JSON, and at which byte.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position of the byte at which reading stopped, counted from the start of the buffer.
    package let offset: Int
    /// What was expected or is wrong.
    package let reason: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - offset: The position of the byte at which reading stopped.
    ///   - reason: What was expected or is wrong.
    package init(offset: Int, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    package var description: String { "\(reason) at byte \(offset)" }
}
