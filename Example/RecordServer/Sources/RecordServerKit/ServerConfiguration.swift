@_spi(Server) public import CodableSync

/// What a record server serves, to whom, and within which limits.
public struct ServerConfiguration: Sendable {
    /// What becomes of a session's web-auth tokens.
    public enum Rotation: String, Sendable, CaseIterable {
        /// Each answer carries the next token, and earlier ones stay good, as the live service was seen to do.
        case lenient
        /// Each answer carries the next token, and a token is good for one request.
        case strict
        /// A token stays the same.
        case none
    }

    /// The limits of connections and requests.
    public struct Limits: Sendable {
        /// The most connections at the same time.
        public var connections = 256
        /// The most seconds from the begin of a connection to the end of a request's headers.
        public var headerSeconds = 10.0
        /// The most seconds from the headers to the end of a request's body.
        public var bodySeconds = 30.0
        /// The most seconds that a connection waits for its next request.
        public var idleSeconds = 75.0
        /// The most bytes in a body.
        public var bodyBytes = 16 << 20
        /// How long a poll for notifications is held.
        public var pollSeconds = 50.0

        /// Creates the default limits.
        public init() {}
    }

    /// The container, such as `iCloud.com.example.notes`.
    public var container: String
    /// The environment, `development` or `production`.
    public var environment: String
    /// The user record names of the users.
    public var users: [String]
    /// The address to listen on; other computers can reach the server only if it is none of loopback.
    public var address = "127.0.0.1"
    /// The port to listen on; 0 leaves it to the system.
    public var port = 8080
    /// The names of the server in URLs, besides those of loopback.
    public var hostNames: [String] = []
    /// Where a proxy makes the server reachable for others; `nil` without a proxy.
    public var publicURL: PublicURL?
    /// The URLs to which a sign-in may return.
    public var callbacks: [String] = []
    /// What becomes of a session's web-auth tokens.
    public var rotation = Rotation.lenient
    /// The API token; `nil` makes one of the server's key.
    public var apiToken: String?
    /// The token of the administrator; `nil` makes one of the server's key.
    public var adminToken: String?
    /// Whether the administrator may change something on the dashboard.
    public var allowsChangesOnDashboard = false
    /// Web-auth tokens of users that never change, by user.
    public var fixedTokens: [String: String] = [:]
    /// The server-to-server keys, which reach the public database only: public P-256 keys as PEM, by their IDs.
    public var serverKeys: [String: String] = [:]
    /// What the server does where the behaviour of Apple's is uncertain.
    @_spi(Server) public var answers = RecordServiceOptions()
    /// The limits of connections and requests.
    public var limits = Limits()

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - environment: The environment, `development` or `production`.
    ///   - users: The user record names of the users.
    public init(container: String, environment: String = "development", users: [String]) {
        self.container = container
        self.environment = environment
        self.users = users
    }

    /// Whether only this computer can reach the server.
    public var isLoopback: Bool {
        if publicURL != nil { return false }
        let parts = address.split(separator: ".", omittingEmptySubsequences: false)
        // A name may begin with the same characters.
        let isIPv4 = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        return address == "localhost" || address == "::1" || (isIPv4 && parts[0] == "127")
    }

    /// The configuration for those who need no tokens, or only their digests.
    var withoutTokens: ServerConfiguration {
        var copy = self
        (copy.apiToken, copy.adminToken, copy.fixedTokens) = (nil, nil, [:])
        return copy
    }

    private static let minimumTokenLength = 32

    /// Checks what would make the server unsafe or unusable.
    ///
    /// - Throws: ``ServerError`` with what to change.
    public func check() throws(ServerError) {
        guard !users.isEmpty else { throw ServerError("Name at least one user with --user.") }
        guard Set(users).count == users.count else { throw ServerError("A user is named twice.") }
        for user in users where user.isEmpty || user.utf8.count > 255 || user.contains(where: \.isNewline) {
            throw ServerError("A user's name has 1 to 255 bytes in one line.")
        }
        guard !users.contains(RecordService.developer) else {
            throw ServerError(
                "\(RecordService.developer) is the user of server-to-server keys. Name another."
            )
        }
        guard environment == "development" || environment == "production" else {
            throw ServerError("The environment is development or production.")
        }
        for user in fixedTokens.keys where !users.contains(user) {
            throw ServerError("There is a fixed token of a user who is not named with --user.")
        }
        if isLoopback { return }
        for token in [apiToken, adminToken].compactMap({ $0 }) + fixedTokens.values
        where token.utf8.count < Self.minimumTokenLength {
            throw ServerError(
                "Others can reach the server, so tokens need at least \(Self.minimumTokenLength) characters."
            )
        }
        guard !hostNames.isEmpty || publicURL != nil else {
            throw ServerError(
                "Others can reach \(address): say with --host-name or --public-url which names the server has."
            )
        }
    }
}

/// Why a server can't start, with what to do about it.
public struct ServerError: Error, CustomStringConvertible, Sendable {
    /// What is wrong, and what to do.
    public let description: String

    /// Creates an error.
    ///
    /// - Parameter description: What is wrong, and what to do.
    public init(_ description: String) { self.description = description }
}
