import Foundation

/// Round trips: each with the token of the response before.
extension CloudKitWebSession {
    /// Runs work when all earlier work is done.
    func inTurn<Value: Sendable>(
        isChange: Bool = false,
        _ work: @escaping @Sendable (isolated CloudKitWebSession) async throws(CloudError) -> Value
    ) async throws(CloudError) -> Value {
        if isClosed { throw .closed }
        let turn = WebTurn<Value>(isChange: isChange)
        turns += 1
        let noteWaiting = RequestTerms.current?.noteWaiting
        noteWaiting?(true)
        last = Task { [last] in
            await last?.value
            noteWaiting?(false)
            defer { turns -= 1 }
            guard turn.begin() else { return }
            do throws(CloudError) {
                if isClosed { throw .closed }
                turn.end(.success(try await work(self)))
            } catch {
                turn.end(.failure(error))
            }
        }
        return try await turn.value()
    }

    /// Sends a request with the user's token, and asks for a new one if it is refused.
    func roundTrip(_ request: WebRequest) async throws(CloudError) -> WebAnswer {
        let tokens = try open()
        guard let current = tokens.current else { throw CloudError(.notAuthenticated) }
        if isUnstored { try storeAgain() }
        var answer = try await rotating(request, with: current)
        if answer.isRefused, let previous = tokens.previous, previous != current {
            // The response with the current one may have been of a request that the services don't remember.
            answer = try await rotating(request, with: previous)
        }
        guard answer.isRefused else {
            if answer.status == 200 { isExpired = false }
            return answer
        }
        let refusal = CloudError(web: answer.json, status: answer.status, retryAfter: answer.retryAfter)
        let page = refusal.redirectURL.flatMap { service.isSignInPage($0) ? $0 : nil }
        let wasExpired = isExpired
        isExpired = true
        guard let renewal, !wasExpired else { throw .expired(page, "The user must sign in again.") }
        do throws(CloudError) {
            try await renew(by: renewal, at: page)
        } catch {
            // Only the user's answer counts; after a failure of the network, the app is asked again.
            if error.code != .accountTemporarilyUnavailable { isExpired = false }
            throw error
        }
        guard let renewed = try open().current else { throw CloudError(.notAuthenticated) }
        answer = try await rotating(request, with: renewed)
        guard !answer.isRefused else {
            isExpired = true
            throw .expired(nil, "The new token was refused.")
        }
        return answer
    }

    /// Asks the app for a new token of the same user.
    private func renew(by renewal: @escaping SignIn, at known: URL?) async throws(CloudError) {
        // A token that is merely no longer good is refused without a page.
        let page: URL
        do throws(CloudError) {
            if let known { page = known } else { page = try await signInPage() }
        } catch {
            throw error.code == .notAuthenticated ? .expired(nil, error.message) : error
        }
        let token = try await ask(renewal, page)
        do throws(CloudError) {
            try await accept(token, fromAnyUser: false)
        } catch {
            throw error.code == .notAuthenticated ? .expired(page, "The new token was refused.") : error
        }
    }

    /// Asks the app for a new token; nothing waits for ever for a user who has left.
    private func ask(_ renewal: @escaping SignIn, _ page: URL) async throws(CloudError) -> String {
        let asked = WebTurn<String>(isChange: false)
        renewing = asked
        // The user may take longer than a request.
        let noteWaiting = RequestTerms.current?.noteWaiting
        noteWaiting?(true)
        let work = Task {
            do {
                asked.end(.success(try Self.token(in: try await renewal(page))))
            } catch {
                asked.end(.failure(.expired(page, "The user has not signed in again.")))
            }
        }
        let end = clock.now.monotonic + Self.longestRenewal
        let timer = Task { [clock] in
            do {
                try await clock.sleep(until: end)
                asked.end(.failure(.expired(page, "The user has not signed in again in time.")))
            } catch {
                // The answer came first.
            }
        }
        defer {
            noteWaiting?(false)
            renewing = nil
            work.cancel()
            timer.cancel()
        }
        return try await asked.value()
    }

    private static var longestRenewal: Duration { .seconds(300) }

    /// Ends the wait for a new token, since the app does something else about the user.
    func endRenewal() {
        renewing?.end(.failure(.expired(nil, "The app signs in or out, or closes the session.")))
    }

    /// Sends a request, and stores the token for the next one before the response is used.
    func rotating(_ request: WebRequest, with token: String) async throws(CloudError) -> WebAnswer {
        let (answer, next) = try await answer(to: request, with: token)
        if !answer.isRefused { try keep(next, after: token) }
        if request.isChange, answer.isTooLarge, answer.status == 200 {
            throw CloudError(.serverResponseLost, message: "The server's answer is too large.")
        }
        if request.isChange, answer.isOfUnknownEffect {
            throw CloudError(
                .serverResponseLost,
                message: "Something before the server answered with the status \(answer.status).",
                retryAfter: answer.retryAfter
            )
        }
        return answer
    }

    /// Stores the token that a response has for the next request, if it has one.
    func keep(_ next: String?, after token: String) throws(CloudError) {
        guard let next else { return }
        var tokens = try open()
        tokens.rotate(to: next, after: token)
        guard tokens != self.tokens else { return }
        self.tokens = tokens
        do throws(CloudError) {
            try file.store(tokens)
        } catch {
            // The response counts. The next request stores the token first, and says why if it cannot.
            isUnstored = true
        }
    }

    func storeAgain() throws(CloudError) {
        try file.store(try open())
        isUnstored = false
    }

    func open() throws(CloudError) -> WebTokens {
        if let tokens { return tokens }
        let read = try file.open(for: service.identifier)
        tokens = read
        return read
    }

    /// Sends a request to the private database.
    func answer(
        to request: WebRequest,
        with token: String?
    ) async throws(CloudError) -> (WebAnswer, next: String?) {
        let url = try service.url(of: request.operation, token: token)
        var outgoing = WebTransportRequest(url: url, request.body)
        (outgoing.needsNewConnection, isMisdirected) = (isMisdirected, false)
        let (answer, next): (WebAnswer, String?)
        do throws(CloudError) {
            (answer, next) = try await exchange(outgoing, with: token, ofOneRecord: request.isOfOneRecord)
        } catch {
            guard error.code == .serverResponseLost, !request.isChange else { throw error }
            throw CloudError(.networkFailure, message: error.message)
        }
        guard answer.isMisdirected else { return (answer, next) }
        isMisdirected = true
        if request.isChange || outgoing.needsNewConnection { return (answer, next) }
        return try await self.answer(to: request, with: token)
    }

    /// Sends a request, and keeps the tokens out of what the response or the transport says of an error.
    func exchange(
        _ request: WebTransportRequest,
        with token: String?,
        ofOneRecord isOfOneRecord: Bool = false
    ) async throws(CloudError) -> (WebAnswer, next: String?) {
        let response: WebTransportResponse
        do throws(CloudError) {
            response = try await transport.response(to: request)
        } catch {
            var told = error
            told.message = secrets(token).redacted(error.message)
            throw told
        }
        if response.headers["x-record-server"] != nil { signs.noteRecordServer() }
        let next = ["x-apple-cloudkit-web-auth-token", "x-apple-cloudkit-session"].lazy
            .compactMap { response.headers[$0] }.compactMap(WebCallback.token).first
        // One record is limited by its size alone.
        let limit = isOfOneRecord ? .max : JSONShape.maximumValues
        var answer = WebAnswer(response, at: clock.now.wall, maximumValues: limit)
        answer.json = answer.json?.redacted(secrets(token, next))
        return (answer, next)
    }

    /// The session's tokens, and those of a request and its response.
    private func secrets(_ others: String?...) -> WebSecrets {
        WebSecrets([service.apiToken, tokens?.current, tokens?.previous] + others)
    }

    // MARK: New tokens

    func signInPage() async throws(CloudError) -> URL {
        _ = try open()
        let (answer, _) = try await answer(to: WebRequest("users/current", WebRequestBody.nothing), with: nil)
        let error = CloudError(web: answer.json, status: answer.status, retryAfter: answer.retryAfter)
        guard let page = error.redirectURL else {
            if error.code != .notAuthenticated { throw error }
            throw CloudError(.notAuthenticated, message: "The services name no page for signing in.")
        }
        guard service.isSignInPage(page) else {
            let host = page.host(percentEncoded: false) ?? ""
            throw CloudError(
                .notAuthenticated,
                message: "The services name a page for signing in that is not theirs, of \(host.abbreviated)."
            )
        }
        return page
    }

    static func token(in text: String) throws(CloudError) -> String {
        guard let token = WebCallback.token(in: text) else {
            throw CloudError(
                .notAuthenticated,
                message: "There is no token in what came back. Paste the whole address, or the token in it."
            )
        }
        return token
    }

    /// Takes a new token if the services say whose it is.
    func accept(_ token: String, fromAnyUser: Bool) async throws(CloudError) {
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
        self.tokens = tokens
        do throws(CloudError) {
            try file.store(tokens)
        } catch {
            // The next request stores them first, and says why if it cannot.
            isUnstored = true
        }
        isExpired = false
        if !isSame { signs.noteNewUser() }
    }
}

extension WebTransportRequest {
    /// A request of a database.
    init(url: URL, _ body: [UInt8]) {
        self.init(url: url, headers: ["Content-Type": "application/json"], body: Data(body))
    }
}

extension CloudError {
    /// What a request to a closed session throws.
    static var closed: CloudError {
        CloudError(.badDatabase, message: "The web session is closed. Create a new one.")
    }

    /// The session is over, which is no sign-out: the same user may sign in again.
    static func expired(_ page: URL?, _ message: String) -> CloudError {
        CloudError(.accountTemporarilyUnavailable, message: message, redirectURL: page)
    }
}
