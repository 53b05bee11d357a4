import Foundation

@_spi(Server) @testable import CodableSync

/// The services' tokens in memory: each answer has the next one, and what a request may use is checked.
final class StubTransport: WebTransport {
    /// Which tokens of a session the services accept.
    enum Strictness: Sendable {
        /// Each token once.
        case once
        /// The newest, and the one before.
        case previous
        /// Every one that was ever given out.
        case all
    }

    /// One request as it arrived.
    struct Seen: Equatable {
        var operation: String
        var token: String?
    }

    private struct State {
        var strictness = Strictness.once
        /// The tokens that were given out, in order, and to whom.
        var tokens: [(text: String, user: String)] = []
        var used: Set<String> = []
        var seen: [Seen] = []
        var running = 0
        var mostAtOnce = 0
        var reaction: (@Sendable (WebTransportRequest) async throws(CloudError) -> WebTransportResponse?)?
        /// By operation, what happens to the text of its next response.
        var changes: [String: @Sendable (String) -> String] = [:]
    }

    private let state = Locked(State())
    /// What answers the requests of users who are signed in; without one, each has the same empty answer.
    private let service: RecordService?

    init(_ strictness: Strictness = .once, service: RecordService? = nil) {
        self.service = service
        state.withLock { $0.strictness = strictness }
    }

    var seen: [Seen] { state.withLock { $0.seen } }
    var operations: [String] { seen.map(\.operation) }
    /// The largest number of requests that overlapped.
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }
    var newest: String? { state.withLock { $0.tokens.last?.text } }

    /// Signs a user in, as the page in the browser does.
    func signIn(_ user: String = "_alice") -> String {
        state.withLock { state in
            let token = "secret+\(state.tokens.count)/\(user)=="
            state.tokens.append((token, user))
            return token
        }
    }

    /// Ends all sessions.
    func expire() {
        state.withLock { $0.tokens = $0.tokens.map { ("expired " + $0.text, $0.user) } }
    }

    /// Answers instead; `nil` leaves a request to the services.
    func answer(
        instead reaction: (@Sendable (WebTransportRequest) async throws(CloudError) -> WebTransportResponse?)?
    ) {
        state.withLock { $0.reaction = reaction }
    }

    /// Changes the text of the next response to an operation, which is carried out.
    func changeResponse(to operation: String, _ change: @escaping @Sendable (String) -> String) {
        state.withLock { $0.changes[operation] = change }
    }

    func response(to request: WebTransportRequest) async throws(CloudError) -> WebTransportResponse {
        let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let token = items.first { $0.name == "ckWebAuthToken" }?.value
        let path = request.url.path
        let operation = path.range(of: "/private/").map { String(path[$0.upperBound...]) } ?? path
        let reaction = state.withLock { state in
            state.seen.append(Seen(operation: operation, token: token))
            state.running += 1
            state.mostAtOnce = max(state.mostAtOnce, state.running)
            return state.reaction
        }
        defer { state.withLock { $0.running -= 1 } }
        // Lets others in, so that requests could overlap.
        await Task.yield()
        if let answer = try await reaction?(request) { return answer }
        guard token != nil else { return Self.question }
        guard let (user, next) = rotate(token) else { return Self.refusal }
        let headers = ["X-Apple-CloudKit-Web-Auth-Token": next]
        guard let service else {
            let text = "{\"userRecordName\":\"\(user)\",\"zones\":[],\"records\":[]}"
            return WebTransportResponse(status: 200, headers: headers, body: Data(text.utf8))
        }
        let call = RecordService.Request(operation, Array(request.body), user: user)
        let answer = try await service.answer(to: call, at: Date())
        var body = Data(answer.body)
        if let change = state.withLock({ $0.changes.removeValue(forKey: operation) }) {
            body = Data(change(String(decoding: body, as: UTF8.self)).utf8)
        }
        return WebTransportResponse(status: answer.status, headers: headers, body: body)
    }

    /// The user of a token, and the token for the next request; `nil` if the services refuse it.
    private func rotate(_ token: String?) -> (user: String, next: String)? {
        state.withLock { state in
            guard let token, let index = state.tokens.lastIndex(where: { $0.text == token }) else {
                return nil
            }
            let user = state.tokens[index].user
            switch state.strictness {
            case .once where !state.used.insert(token).inserted: return nil
            case .previous where index < state.tokens.count - 2: return nil
            case .once, .previous, .all: break
            }
            let next = "secret+\(state.tokens.count)/\(user)=="
            state.tokens.append((next, user))
            return (user, next)
        }
    }

    /// A token that is no longer good.
    static var refusal: WebTransportResponse {
        json(401, #"{"serverErrorCode":"AUTHENTICATION_FAILED","reason":"no such session"}"#)
    }

    /// The answer without a token.
    static var question: WebTransportResponse {
        json(
            421,
            #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","redirectURL":"https://idmsa.apple.com/signin"}"#
        )
    }

    static func json(_ status: Int, _ text: String) -> WebTransportResponse {
        WebTransportResponse(status: status, body: Data(text.utf8))
    }
}

extension RecordService {
    /// A service whose records are in memory.
    static var inMemory: RecordService {
        RecordService(
            storage: LedgerMemory(CloudLedger(identifier: "web", options: .webServices), epoch: 1)
        )
    }
}
