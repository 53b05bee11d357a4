/// The contents that a read returned to the app for one record.
package struct GivenContents: Equatable, Sendable {
    package var name: String
    /// The contents; `nil` if the record didn't exist.
    package var handle: ContentHandle?
    /// The cloud's version at the time; the contents are that version or an edit on top of it.
    package var known: ContentHandle?
    /// The version whose system fields the model carried: the cloud's version, or the one below the edit.
    package var version: ContentHandle?
    /// The change tag if the contents are the cloud's version.
    package var changeTag: String?

    package init(
        name: String,
        handle: ContentHandle?,
        known: ContentHandle? = nil,
        version: ContentHandle? = nil,
        changeTag: String? = nil
    ) {
        self.name = name
        self.handle = handle
        self.known = known
        self.version = version
        self.changeTag = changeTag
    }
}

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
