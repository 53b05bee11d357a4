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
    private let transport: any WebTransport
    private let renewal: SignIn?
    private let file: WebTokenFile
    /// The signals of all databases of the session.
    nonisolated let signs: WebSigns

    /// `nil` until the file is read.
    private var tokens: WebTokens?
    /// Whether the file has older tokens, because they could not be stored.
    private var isUnstored = false
    /// Whether a new token was asked for since the services accepted one.
    private var hasAskedAgain = false
    private var last: Task<Void, Never>?
    private var isClosed = false

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
        file = WebTokenFile(path: path ?? service.defaultPath, fileSystem: fileSystem)
        signs = WebSigns()
        signs.poll(with: WebCourier(clock: clock)) { [weak self] in self }
    }

    /// The address of Apple's services.
    public static var appleServer: URL {
        URL(string: "https://api.apple-cloudkit.com") ?? URL(filePath: "/")
    }

    // MARK: Signing in

    /// Whether nobody is signed in, as far as the file says; no request is made.
    public var needsSignIn: Bool {
        get throws { try open().user == nil }
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
        let page = try await inTurn { session throws(CloudError) in try await session.signInPage() }
        let token = try Self.token(in: try await ask(page))
        try await inTurn(isChange: true) { session throws(CloudError) in
            try await session.accept(token, fromAnyUser: true)
        }
        signs.send(.accountChanged)
    }

    /// Signs the user out on this device; the services are not told.
    ///
    /// - Throws: ``CloudError`` if the file cannot be changed.
    public func signOut() async throws {
        try await inTurn(isChange: true) { session throws(CloudError) in
            var tokens = try session.open()
            tokens.signOut()
            try session.file.store(tokens)
            session.tokens = tokens
            session.signs.noteNewUser()
        }
        signs.send(.accountChanged)
    }

    /// Ends the session: later requests fail, and another session may use the file.
    public func close() async {
        isClosed = true
        signs.finish()
        await last?.value
        file.close()
    }

    private func signInPage() async throws(CloudError) -> URL {
        _ = try open()
        let (answer, _) = try await answer(to: WebRequest("users/current", WebRequestBody.nothing), with: nil)
        let error = CloudError(web: answer.json, status: answer.status, retryAfter: answer.retryAfter)
        guard let page = error.redirectURL else {
            if error.code != .notAuthenticated { throw error }
            throw CloudError(.notAuthenticated, message: "The services name no page for signing in.")
        }
        return page
    }

    private static func token(in text: String) throws(CloudError) -> String {
        guard let token = WebCallback.token(in: text) else {
            throw CloudError(
                .notAuthenticated,
                message: "There is no token in what came back. Paste the whole address, or the token in it."
            )
        }
        return token
    }

    /// Takes a new token if the services say whose it is.
    private func accept(_ token: String, fromAnyUser: Bool) async throws(CloudError) {
        var tokens = try open()
        let (answer, next) = try await answer(
            to: WebRequest("users/current", WebRequestBody.nothing),
            with: token
        )
        guard let user = try answer.success()["userRecordName"]?.string, !user.isEmpty else {
            throw .malformed("userRecordName")
        }
        let isSame = tokens.user == user
        guard isSame || fromAnyUser else {
            throw CloudError(
                .accountTemporarilyUnavailable,
                message: "Another user has signed in. Only signIn(_:) changes the user."
            )
        }
        tokens.signIn(user, token)
        if let next { tokens.rotate(to: next, after: token) }
        try file.store(tokens)
        self.tokens = tokens
        hasAskedAgain = false
        if !isSame { signs.noteNewUser() }
    }

    // MARK: Round trips

    /// Runs work when all earlier work is done.
    private func inTurn<Value: Sendable>(
        isChange: Bool = false,
        _ work: @escaping @Sendable (isolated CloudKitWebSession) async throws(CloudError) -> Value
    ) async throws(CloudError) -> Value {
        if isClosed {
            throw CloudError(.badDatabase, message: "The web session is closed. Create a new one.")
        }
        let turn = WebTurn<Value>(isChange: isChange)
        last = Task { [last] in
            await last?.value
            guard turn.begin() else { return }
            do throws(CloudError) {
                turn.end(.success(try await work(self)))
            } catch {
                turn.end(.failure(error))
            }
        }
        return try await turn.value()
    }

    /// Sends a request with the user's token, and asks for a new one if it is refused.
    private func roundTrip(_ request: WebRequest) async throws(CloudError) -> WebAnswer {
        let tokens = try open()
        guard let current = tokens.current else { throw CloudError(.notAuthenticated) }
        if isUnstored { try storeAgain() }
        var answer = try await rotating(request, with: current)
        if answer.isRefused, let previous = tokens.previous, previous != current {
            // The response with the current one may have been of a request that the services don't remember.
            answer = try await rotating(request, with: previous)
        }
        guard answer.isRefused else {
            hasAskedAgain = false
            return answer
        }
        let refusal = CloudError(web: answer.json, status: answer.status, retryAfter: answer.retryAfter)
        let page = refusal.redirectURL
        guard let renewal, let page, !hasAskedAgain else {
            throw .expired(page, "The user must sign in again.")
        }
        hasAskedAgain = true
        let token: String
        do {
            token = try Self.token(in: try await renewal(page))
        } catch {
            throw .expired(page, "The user has not signed in again.")
        }
        do throws(CloudError) {
            try await accept(token, fromAnyUser: false)
        } catch {
            throw error.code == .notAuthenticated ? .expired(page, "The new token was refused.") : error
        }
        signs.send(.accountChanged)
        answer = try await rotating(request, with: try open().current ?? token)
        guard !answer.isRefused else { throw .expired(page, "The new token was refused.") }
        return answer
    }

    /// Sends a request, and stores the token for the next one before the response is used.
    private func rotating(_ request: WebRequest, with token: String) async throws(CloudError) -> WebAnswer {
        let (answer, next) = try await answer(to: request, with: token)
        guard let next, !answer.isRefused else { return answer }
        var tokens = try open()
        tokens.rotate(to: next, after: token)
        guard tokens != self.tokens else { return answer }
        self.tokens = tokens
        do throws(CloudError) {
            try file.store(tokens)
        } catch {
            // The response counts. The next request stores the token first, and says why if it cannot.
            isUnstored = true
        }
        return answer
    }

    private func storeAgain() throws(CloudError) {
        try file.store(try open())
        isUnstored = false
    }

    private func open() throws(CloudError) -> WebTokens {
        if let tokens { return tokens }
        let read = try file.open(for: service.identifier)
        tokens = read
        return read
    }

    /// Sends a request to the private database.
    private func answer(
        to request: WebRequest,
        with token: String?
    ) async throws(CloudError) -> (WebAnswer, next: String?) {
        let url = try service.url(of: request.operation, token: token)
        do throws(CloudError) {
            return try await exchange(WebTransportRequest(url: url, request.body))
        } catch {
            guard error.code == .serverResponseLost, !request.isChange else { throw error }
            throw CloudError(.networkFailure, message: error.message)
        }
    }

    private func exchange(
        _ request: WebTransportRequest
    ) async throws(CloudError) -> (WebAnswer, next: String?) {
        let response = try await transport.response(to: request)
        let next = ["x-apple-cloudkit-web-auth-token", "x-apple-cloudkit-session"].lazy
            .compactMap { response.headers[$0] }.compactMap(WebCallback.token).first
        return (WebAnswer(response), next)
    }
}

// MARK: What a database needs

extension CloudKitWebSession: WebConnection {
    package nonisolated var identifier: String { service.identifier }

    package nonisolated var accountGeneration: Int { signs.userCount }

    package nonisolated var signals: AsyncStream<CloudSignal> { signs.stream() }

    package func answer(to request: WebRequest) async throws(CloudError) -> WebAnswer {
        try await inTurn(isChange: request.isChange) { session throws(CloudError) in
            try await session.roundTrip(request)
        }
    }
}

// MARK: News

extension CloudKitWebSession: WebCourierService {
    func newCourier() async throws(CloudError) -> URL? {
        try await inTurn { session throws(CloudError) in try await session.makeCourier() }
    }

    /// Asks for an address at which the services tell what has changed; `nil` if they have none.
    private func makeCourier() async throws(CloudError) -> URL? {
        guard let token = try open().current else { throw CloudError(.notAuthenticated) }
        let body = WebRequestBody.newToken(service.environment)
        // Uncertain: which of the paths it is.
        for root in ["device", "database"] {
            let url = try service.url(root, "tokens/create", token: token)
            let (answer, next) = try await exchange(WebTransportRequest(url: url, body))
            if let next, !answer.isRefused {
                tokens?.rotate(to: next, after: token)
                isUnstored = true
                try storeAgain()
            }
            if [400, 404, 405].contains(answer.status) { continue }
            let json = try answer.success()
            let address = json["webcourierURL"]?.string.flatMap { URL(string: $0) }
            return address.flatMap { $0.isSafeForTokens ? $0 : nil }
        }
        return nil
    }

    nonisolated func poll(_ courier: URL) async throws(CloudError) -> WebAnswer {
        let request = WebTransportRequest(
            method: "GET",
            url: courier,
            timeout: .seconds(300),
            maximumResponseSize: 1 << 20,
            isLongPoll: true
        )
        return WebAnswer(try await transport.response(to: request))
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

extension WebTransportRequest {
    /// A request of a database.
    fileprivate init(url: URL, _ body: [UInt8]) {
        self.init(url: url, headers: ["Content-Type": "application/json"], body: Data(body))
    }
}

extension WebAnswer {
    init(_ response: WebTransportResponse) {
        let json: WebJSON?
        do {
            json = try WebJSON(Array(response.body))
        } catch {
            // The page of a proxy, say; the status tells the rest.
            json = nil
        }
        let wait = response.headers["retry-after"].flatMap { Double($0) }.map { Duration(webWait: $0) }
        self.init(status: response.status, json: json, retryAfter: wait)
    }

    /// Whether the services refuse the token. Without a code, a 401 or a 421 is that of something between.
    fileprivate var isRefused: Bool {
        guard status == 401 || status == 421, let code = json?["serverErrorCode"]?.string else {
            return false
        }
        return code == "AUTHENTICATION_REQUIRED" || code == "AUTHENTICATION_FAILED"
    }
}

extension CloudError {
    /// The session is over, which is no sign-out: the same user may sign in again.
    fileprivate static func expired(_ page: URL?, _ message: String) -> CloudError {
        CloudError(.accountTemporarilyUnavailable, message: message, redirectURL: page)
    }
}
