import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request of a `URLSession` and what has arrived of its response; it ends once.
final class WebExchange: Sendable {
    typealias Answer = Result<WebTransportResponse, CloudError>

    private struct State {
        var task: URLSessionTask?
        /// Where the response is read until the task is complete, if that can be suspended.
        var reading: DispatchQueue?
        /// What suspends it if the task is not complete soon after its end.
        var pause: Task<Void, Never>?
        var isPaused = false
        var continuation: CheckedContinuation<Answer, Never>?
        var deadline: Task<Void, Never>?
        var response: WebTransportResponse?
        /// The answer if it came before somebody waited for it.
        var early: Answer?
        var isEnded = false
        var isCancelled = false
    }

    private let state = Locked(State())
    private let limit: Int
    private let clock: any SyncClock

    /// - Parameters:
    ///   - limit: The largest usable body, in bytes.
    ///   - clock: The clock of the deadline.
    init(limit: Int, clock: any SyncClock) {
        self.limit = limit
        self.clock = clock
    }

    /// Waits for the answer, at most until a deadline.
    ///
    /// The time that a `URLSession` allows for a whole request is ignored on Linux, so the deadline is kept here. It
    /// counts from now on, since the request may have to wait for the `URLSession`.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait.
    ///   - continuation: Who waits.
    func begin(within timeout: Duration, _ continuation: CheckedContinuation<Answer, Never>) {
        let early = state.withLock { state -> Answer? in
            if state.isEnded { return state.early }
            state.continuation = continuation
            state.deadline = deadline(after: timeout)
            return nil
        }
        if let early { continuation.resume(returning: early) }
    }

    /// Sends the request.
    ///
    /// - Parameters:
    ///   - task: The task, whose end the `URLSession` tells if it was sent.
    ///   - reading: The queue on which the response is read, if it may be suspended.
    /// - Returns: Whether it was sent; it is not if the exchange has ended already.
    func send(_ task: URLSessionTask, readOn reading: DispatchQueue?) -> Bool {
        let isWanted = state.withLock { state -> Bool in
            guard !state.isEnded else { return false }
            (state.task, state.reading) = (task, reading)
            return true
        }
        if isWanted { task.resume() }
        return isWanted
    }

    /// Suspends the queue that reads if the task is not complete soon.
    ///
    /// On Linux, to cancel a task waits for that queue, which is never done while a response has always more to read.
    private func pause() -> Task<Void, Never> {
        // Foundation's queue keeps real time, whatever clock a test sets.
        let clock = SystemClock()
        let end = clock.now.monotonic + .milliseconds(250)
        return Task { [weak self] in
            do { try await clock.sleep(until: end) } catch { return }
            self?.state.withLock { state in
                guard let reading = state.reading, !state.isPaused else { return }
                reading.suspend()
                state.isPaused = true
            }
        }
    }

    /// Whether there is an answer.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    private func deadline(after timeout: Duration) -> Task<Void, Never> {
        let end = clock.now.monotonic + timeout
        return Task { [weak self, clock] in
            do {
                try await clock.sleep(until: end)
            } catch {
                // The response came first.
                return
            }
            self?.fail("There was no response within \(timeout.components.seconds) seconds.")
        }
    }

    /// Takes the head of the response.
    ///
    /// - Returns: Whether the body is wanted; otherwise the caller ends the task.
    func take(_ response: URLResponse) -> Bool {
        func refuse(_ answer: Answer) -> Bool {
            #if canImport(FoundationNetworking)
                // The decision is ignored there, and the body would arrive to its end.
                end(answer)
            #else
                end(answer, cancelling: false)
            #endif
            return false
        }
        func refuse(_ message: String) -> Bool {
            refuse(.failure(CloudError(.serverResponseLost, message: message)))
        }
        guard let head = WebTransportResponse(head: response) else {
            return refuse("The response is not HTTP.")
        }
        let encoding = head.headers["content-encoding"]?.lowercased() ?? "identity"
        if encoding != "identity" { return refuse("The response is compressed, which was not asked for.") }
        let announced = head.headers["content-length"].flatMap { Int($0) } ?? 0
        if announced > limit { return refuse(.success(head.tooLarge)) }
        return state.withLock { state in
            state.response = head
            return !state.isEnded
        }
    }

    /// Takes a part of the body.
    func take(_ data: Data) {
        let tooLarge = state.withLock { state -> WebTransportResponse? in
            guard !state.isEnded, let response = state.response else { return nil }
            if response.body.count + data.count > limit { return response.tooLarge }
            state.response?.body.append(data)
            return nil
        }
        if let tooLarge { end(.success(tooLarge)) }
    }

    /// Ends with the head of a response whose body does not count; the caller ends the task.
    func end(with response: HTTPURLResponse) {
        // On Linux, a request for a password is told behind the whole response.
        let whole = state.withLock { $0.response.flatMap { $0.status == response.statusCode ? $0 : nil } }
        guard let answer = whole ?? WebTransportResponse(head: response) else { return }
        end(.success(answer), cancelling: false)
    }

    /// Ends as the `URLSession` says.
    ///
    /// - Parameters:
    ///   - error: Why it failed, if it did.
    ///   - sentBytes: How much of the request's body was sent.
    func complete(_ error: (any Error)?, sentBytes: Int64) {
        state.withLock { state in
            state.pause?.cancel()
            if state.isPaused { state.reading?.resume() }
            (state.reading, state.pause, state.isPaused) = (nil, nil, false)
        }
        if let error { return end(.failure(CloudError(ofNetwork: error, hasLeft: sentBytes > 0))) }
        let response = state.withLock { $0.response }
        guard let response else { return fail("There was no response.") }
        if let announced = response.headers["content-length"].flatMap({ Int($0) }),
            response.body.count < announced
        {
            return fail("The response ended after \(response.body.count) of \(announced) bytes.")
        }
        end(.success(response))
    }

    /// Ends without a usable response, although the request may have arrived.
    func fail(_ message: String) {
        end(.failure(CloudError(.serverResponseLost, message: message)))
    }

    /// Tells the `URLSession` what was decided, unless the task is cancelled.
    ///
    /// On Linux, a decision about a task that was cancelled ends the process, so the two exclude each other.
    func decide(_ tell: () -> Void) {
        #if canImport(FoundationNetworking)
            state.withLock { if !$0.isCancelled { tell() } }
        #else
            tell()
        #endif
    }

    /// - Parameters:
    ///   - answer: The answer; only the first counts.
    ///   - cancels: Whether to end the task; not where the `URLSession` waits for a decision, which ends it.
    private func end(_ answer: Answer, cancelling cancels: Bool = true) {
        let ended = state.withLock { state -> State? in
            if state.isEnded { return nil }
            state.isEnded = true
            if state.continuation == nil { state.early = answer }
            state.isCancelled = cancels
            if cancels, state.reading != nil { state.pause = pause() }
            defer { (state.task, state.continuation, state.deadline, state.response) = (nil, nil, nil, nil) }
            return state
        }
        guard let ended else { return }
        ended.deadline?.cancel()
        ended.continuation?.resume(returning: answer)
        if cancels, let task = ended.task { DispatchQueue.global().async { task.cancel() } }
    }
}

extension WebTransportResponse {
    /// A response without its body; `nil` if it is not HTTP.
    fileprivate init?(head: URLResponse) {
        guard let head = head as? HTTPURLResponse else { return nil }
        var headers: [String: String] = [:]
        for (name, value) in head.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name] = value }
        }
        self.init(status: head.statusCode, headers: headers)
    }

    /// The response without its body, which is not wanted.
    fileprivate var tooLarge: WebTransportResponse {
        var response = WebTransportResponse(status: status, headers: headers)
        response.isTooLarge = true
        return response
    }
}

extension CloudError {
    /// An error of `URLSession`, which names the URL and with it the user's token: neither gets into the message.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - hasLeft: Whether a part of the request has left, so that the server may have got the whole.
    init(ofNetwork error: any Error, hasLeft: Bool) {
        guard let error = error as? URLError, !hasLeft else {
            let code = (error as? URLError).map { " (\($0.code.rawValue))" } ?? ""
            self.init(.serverResponseLost, message: "The connection failed before the response\(code).")
            return
        }
        switch error.code {
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
            self.init(.networkUnavailable)
        case .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost:
            self.init(.networkFailure, message: "The server can't be reached (\(error.code.rawValue)).")
        case .appTransportSecurityRequiresSecureConnection:
            self.init(
                .badContainer,
                message: "The server's address can't be used (\(error.code.rawValue))."
            )
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            self.init(
                .networkFailure,
                message: "There is no secure connection to the server (\(error.code.rawValue))."
            )
        // On Linux, it has no code of its own.
        case _ where ["SSL", "TLS"].contains(where: error.localizedDescription.contains):
            self.init(
                .networkFailure,
                message: "There is no secure connection to the server (\(error.code.rawValue))."
            )
        default:
            self.init(
                .serverResponseLost,
                message: "The connection failed before the response (\(error.code.rawValue))."
            )
        }
    }
}
