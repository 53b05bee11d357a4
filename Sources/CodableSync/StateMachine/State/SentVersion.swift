/// Contents that a request carried, and the version that they were based on.
package struct SentVersion: Equatable, Sendable {
    package var handle: ContentHandle
    package var base: ContentHandle?
    /// Whether the contents were sent after a deletion with an unknown outcome; confirming them settles that
    /// deletion.
    package var isBehindDeletion: Bool

    package init(handle: ContentHandle, base: ContentHandle?, isBehindDeletion: Bool = false) {
        self.handle = handle
        self.base = base
        self.isBehindDeletion = isBehindDeletion
    }
}
