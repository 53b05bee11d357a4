import Foundation

// Reflection shows private properties, too. So nothing here has children in a mirror, and no dump of something that
// has such a value inside, such as a database or an engine, shows a token.

extension Mirror {
    /// A mirror of a value that shows its description, and nothing inside.
    fileprivate init(hiding value: some Any) {
        self.init(value, children: [])
    }
}

extension WebTransportRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the address without its query, which has the tokens: `POST https://example.org/database`.
    public var description: String { "\(method) \(url.withoutQuery)" }

    /// A mirror without children, since they have the tokens.
    public var customMirror: Mirror { Mirror(hiding: self) }
}

extension WebTransportResponse: CustomStringConvertible, CustomReflectable {
    /// The status and the size: `HTTP status 200, 17 bytes`.
    public var description: String { "HTTP status \(status), \(body.count.counted("byte"))" }

    /// A mirror without children, since they have the token for the next request.
    public var customMirror: Mirror { Mirror(hiding: self) }
}

extension URLSessionTransport: CustomReflectable {
    /// A mirror without children, since the requests have the tokens.
    public var customMirror: Mirror { Mirror(hiding: self) }
}

extension CloudKitWebSession: CustomStringConvertible, CustomReflectable {
    /// Server, container and environment.
    public nonisolated var description: String { "web session of \(identifier.quoted)" }

    /// A mirror without children, since they have the tokens.
    public nonisolated var customMirror: Mirror { Mirror(hiding: self) }
}

extension WebService: CustomStringConvertible, CustomReflectable {
    var description: String { identifier }
    var customMirror: Mirror { Mirror(hiding: self) }
}

extension WebTokens: CustomStringConvertible, CustomReflectable {
    var description: String { "tokens of \(user?.quoted ?? "nobody")" }
    var customMirror: Mirror { Mirror(hiding: self) }
}

extension URL {
    /// The address without what may be secret in it.
    var withoutQuery: String { String(absoluteString.prefix { $0 != "?" && $0 != "#" }) }
}
