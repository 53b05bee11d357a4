// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

extension WKApplication {
    /// How often the app has registered for remote notifications.
    public var standInRegistrations: Int { registrations }
}
