public import Foundation

/// Sends HTTP requests for a ``CloudKitWebSession``.
///
/// ``URLSessionTransport`` is the one that a session uses by default. A server may use another HTTP client, and a test
/// may answer by itself.
public protocol WebTransport: Sendable {
    /// Sends one request, once, and follows no redirect.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response, whatever its status; without its body if that is larger than the request allows.
    /// - Throws: ``CloudError``: with the code ``CloudError/Code-swift.enum/networkUnavailable`` or
    ///   ``CloudError/Code-swift.enum/networkFailure`` only if nothing of the request has left, else
    ///   ``CloudError/Code-swift.enum/serverResponseLost``. Its message must not contain the request's URL, which has
    ///   the user's token.
    func response(to request: WebTransportRequest) async throws(CloudError) -> WebTransportResponse
}

/// An HTTP request of a ``CloudKitWebSession``.
public struct WebTransportRequest: Sendable {
    /// The method, `POST` or `GET`.
    public var method: String
    /// Where to send it; its query has the user's token, so it belongs in no log.
    public var url: URL
    /// The headers.
    public var headers: [String: String]
    /// The body; empty for `GET`.
    public var body: Data
    /// When to give up, from the beginning to the last byte of the response.
    public var timeout: Duration
    /// The largest usable body of a response, in bytes.
    public var maximumResponseSize: Int
    /// Whether the server answers only when something has happened, so that the request must not take the place of
    /// others.
    public var isLongPoll: Bool
    /// Whether the connections that are open must not be used, because one of them led to a server for another name.
    public var needsNewConnection = false

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: Where to send it.
    ///   - headers: The headers.
    ///   - body: The body.
    ///   - timeout: When to give up.
    ///   - maximumResponseSize: The largest usable body of a response, in bytes.
    ///   - isLongPoll: Whether the server answers only when something has happened.
    public init(
        method: String = "POST",
        url: URL,
        headers: [String: String] = [:],
        body: Data = Data(),
        timeout: Duration = .seconds(60),
        maximumResponseSize: Int = 16 << 20,
        isLongPoll: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.maximumResponseSize = maximumResponseSize
        self.isLongPoll = isLongPoll
    }
}

/// An HTTP response for a ``CloudKitWebSession``.
public struct WebTransportResponse: Sendable {
    /// The status.
    public var status: Int
    /// The headers, with names in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: Data
    /// Whether the body is missing because it is larger than the request allows.
    public var isTooLarge = false

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The headers; the case of their names does not matter.
    ///   - body: The body.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        self.body = body
    }
}

extension URL {
    /// Whether requests may be sent to this address: by https, or to this computer itself.
    var isSafeForTokens: Bool {
        guard let host = host(percentEncoded: false)?.lowercased(), !host.isEmpty else { return false }
        switch scheme?.lowercased() {
        case "https": return true
        case "http": return Self.isLoopback(host)
        default: return false
        }
    }

    /// Whether what is sent to it is not encrypted.
    var isPlain: Bool { scheme?.lowercased() == "http" }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
