public import Foundation

/// A user's access to CloudKit Web Services: the tokens, in a file, and the requests, one after another.
///
/// It serves any number of engines of one process, on every platform.
///
/// ```swift
/// let session = CloudKitWebSession(container: "iCloud.com.example.notes", apiToken: token)
/// if try await session.needsSignIn {
///     try await session.signIn { url in try await askUser(url) }
/// }
/// let engine = SyncEngine<Note>(database: .cloudKitWeb(session))
/// ```
///
/// Each response has the token for the next request; it is stored before the response is used. If the services refuse the
/// token, the one before is tried, then the session asks for a new one by `renew`, once for all requests that wait. Until the
/// user has signed in again, the account counts as temporarily unavailable: edits are kept, and nothing is removed.
///
/// Messages of its errors have no token in them. The file is readable for its owner only.
///
/// [CloudKit Web Services Reference](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/)
public actor CloudKitWebSession {
    /// The environments of a container.
    public enum Environment: String, Sendable {
        /// For development; its data can be reset.
        case development
        /// For the users of a published app.
        case production
    }

    /// Asks a user to sign in.
    ///
    /// It opens the address in a browser, and returns the address to which the browser is sent at the end, or the token in
    /// it.
    public typealias SignIn = @Sendable (_ url: URL) async throws -> String

    let service: WebService
    let transport: any WebTransport
    let renewal: SignIn?
    let clock: any SyncClock
    let file: WebTokenFile
    /// The signals of all databases of the session.
    nonisolated let signs: WebSigns

    /// `nil` until the file is read.
    var tokens: WebTokens?
    /// Whether the file has older tokens, because they could not be stored.
    var isUnstored = false
    /// Whether the services have refused the tokens, and no new one was accepted since.
    var isExpired = false
    /// Whether the last answer came from a server for another name, so that the next request needs a new connection.
    var isMisdirected = false
    /// What waits for a new token from the app.
    var renewing: WebTurn<String>?
    var last: Task<Void, Never>?
    /// How many round trips wait or go on.
    var turns = 0
    var isClosed = false

    /// Creates a session; nothing is read or sent before its first use.
    ///
    /// - Parameters:
    ///   - container: The container's identifier.
    ///   - apiToken: The token that the CloudKit console makes for a container and an environment.
    ///   - environment: The container's environment.
    ///   - server: Apple's services by default; a server for development by `http` only on this computer itself.
    ///   - file: Where the tokens are kept; by default a file in the user's data directory.
    ///   - transport: Sends the requests; by `URLSession` by default.
    ///   - renew: Called when the services no longer accept the user's token.
    public init(
        container: String,
        apiToken: String,
        environment: Environment = .development,
        server: URL = CloudKitWebSession.appleServer,
        file: URL? = nil,
        transport: any WebTransport = URLSessionTransport(),
        renew: SignIn? = nil
    ) {
        self.init(
            WebService(server: server, container: container, environment: environment, apiToken: apiToken),
            path: file?.path(percentEncoded: false),
            fileSystem: LocalFileSystem(),
            transport: transport,
            clock: SystemClock(),
            renew: renew
        )
    }

    init(
        _ service: WebService,
        path: String?,
        fileSystem: any FileSystem,
        transport: any WebTransport,
        clock: any SyncClock,
        renew: SignIn?
    ) {
        self.service = service
        self.transport = transport
        renewal = renew
        self.clock = clock
        file = WebTokenFile(path: path ?? service.defaultPath, fileSystem: fileSystem)
        signs = WebSigns()
        signs.poll(with: WebCourier(clock: clock)) { [weak self] in self }
    }

    /// The address of Apple's services.
    public static var appleServer: URL {
        URL(string: "https://api.apple-cloudkit.com") ?? URL(filePath: "/")
    }

    // MARK: Signing in

    /// Whether nobody is signed in according to the file, or the services have refused the tokens since the session was
    /// created; no request is made.
    public var needsSignIn: Bool {
        get throws { try open().user == nil || isExpired }
    }

    /// The user record name of who is signed in; `nil` if nobody is.
    public var userRecordName: String? {
        get throws { try open().user }
    }

    /// Signs a user in.
    ///
    /// - Parameter ask: Asks the user.
    /// - Throws: What `ask` throws; ``CloudError``, with the code ``CloudError/Code-swift.enum/notAuthenticated`` if the
    ///   services refuse what the user brought back. Who was signed in before still is then.
    public func signIn(_ ask: SignIn) async throws {
        endRenewal()
        let page = try await inTurn { session throws(CloudError) in try await session.signInPage() }
        let token = try Self.token(in: try await ask(page))
        try await inTurn(isChange: true) { session throws(CloudError) in
            try await session.accept(token, fromAnyUser: true)
            // Here, since the user has changed even if the caller no longer waits.
            session.signs.send(.accountChanged)
        }
    }

    /// Signs the user out on this device; the services are not told.
    ///
    /// - Throws: ``CloudError`` if the file cannot be changed.
    public func signOut() async throws {
        endRenewal()
        try await inTurn(isChange: true) { session throws(CloudError) in
            var tokens = try session.open()
            tokens.signOut()
            try session.file.store(tokens)
            session.tokens = tokens
            session.signs.noteNewUser()
            session.signs.send(.accountChanged)
        }
    }

    /// Ends the session: later requests fail, and another session may use the file.
    public func close() async {
        isClosed = true
        signs.finish()
        endRenewal()
        await last?.value
        if isUnstored {
            do {
                try storeAgain()
            } catch {
                // The file keeps an earlier token, with which the services may go on.
            }
        }
        file.close()
    }
}

// MARK: What a database needs

extension CloudKitWebSession: WebConnection {
    package nonisolated var identifier: String { service.identifier }

    package nonisolated var accountGeneration: Int { signs.userCount }

    package nonisolated var takesKnownChangeTags: Bool { signs.isRecordServer }

    package nonisolated var signals: AsyncStream<CloudSignal> { signs.stream() }

    package func answer(to request: WebRequest) async throws(CloudError) -> WebAnswer {
        let user = request.accountGeneration ?? signs.userCount
        return try await inTurn(isChange: request.isChange) { session throws(CloudError) in
            // What was asked for one user must not reach the data of the next.
            guard session.signs.userCount == user else {
                throw CloudError(.operationCancelled, message: "Another user has signed in.")
            }
            return try await session.roundTrip(request)
        }
    }
}

extension WebService {
    /// The file of the tokens in the user's data directory.
    fileprivate var defaultPath: String {
        let digest = String(ExactName(identifier).digest, radix: 16)
        let name = container.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "_" }
        return DataDirectory.path.appending(path: "CodableSync/WebSessions")
            .appending(path: "\(String(name)).\(environment.rawValue).\(digest).json")
    }
}
