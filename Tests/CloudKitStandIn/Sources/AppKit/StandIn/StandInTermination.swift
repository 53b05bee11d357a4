// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

extension NSApplication {
    /// How often the app has registered for remote notifications.
    public var standInRegistrations: Int { registrations }
    /// The replies to the system, of which the app may give one.
    public var standInReplies: [Bool] { replies }

    /// Returns once the app has replied.
    public func standInReply() async {
        if replies.isEmpty { await withCheckedContinuation { repliesAreAwaited.append($0) } }
    }
}
