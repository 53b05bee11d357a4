/// A version of a record that a read could not decode.
package struct ReadVersion: Hashable, Sendable {
    package var name: String
    package var handle: ContentHandle
    /// Why it could not be decoded, without its contents.
    package var reason: String
    /// Whether the stored contents are unreadable, so that the record must be fetched again.
    package var isLost: Bool

    package init(name: String, handle: ContentHandle, reason: String, isLost: Bool = false) {
        self.name = name
        self.handle = handle
        self.reason = reason
        self.isLost = isLost
    }
}
