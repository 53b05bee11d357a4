import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends the requests of a ``CloudKitWebSession`` by `URLSession`.
///
/// It keeps its connections open. It sends no request twice, follows no redirect, answers no request for a password, keeps
/// no cookies and no cache, and takes no compressed response, whose size is unknown before it is unpacked. Responses that
/// only wait for news have connections of their own.
public final class URLSessionTransport: WebTransport {
    private let requests: WebExchanges
    private let polls: WebExchanges
    /// To this computer itself, where no proxy may see the tokens, which are not encrypted.
    private let localRequests: WebExchanges
    private let localPolls: WebExchanges

    /// Creates a transport.
    public convenience init() {
        self.init(clock: SystemClock())
    }

    package init(clock: any SyncClock) {
        requests = WebExchanges(clock: clock, usesProxies: true)
        polls = WebExchanges(clock: clock, usesProxies: true)
        localRequests = WebExchanges(clock: clock, usesProxies: false)
        localPolls = WebExchanges(clock: clock, usesProxies: false)
    }

    deinit {
        for exchanges in [requests, polls, localRequests, localPolls] { exchanges.close() }
    }

    /// Sends one request.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response, whatever its status; that of a redirect or of a request for a password has no body.
    /// - Throws: ``CloudError``, as ``WebTransport/response(to:)`` says.
    public func response(
        to request: WebTransportRequest
    ) async throws(CloudError) -> WebTransportResponse {
        guard request.url.isSafeForTokens else {
            throw CloudError(
                .badContainer,
                message: "Only https is allowed, and http to this computer itself."
            )
        }
        #if canImport(FoundationNetworking)
            if request.url.host(percentEncoded: false)?.contains("::") == true {
                throw CloudError(
                    .badContainer,
                    message:
                        "Foundation can't reach an IPv6 address in brackets here. Use 127.0.0.1 instead of [::1]."
                )
            }
        #endif
        if let proxy = WebProxy.inUse(for: request.url) {
            throw CloudError(
                .badContainer,
                message: "The environment sends requests to this computer through a proxy. Add "
                    + "\(request.url.host(percentEncoded: false) ?? "") to no_proxy, or unset \(proxy)."
            )
        }
        let (polls, requests) =
            request.url.isPlain ? (localPolls, localRequests) : (polls, requests)
        if request.needsNewConnection { requests.renew() }
        guard request.isLongPoll else { return try await requests.response(to: request) }
        #if canImport(FoundationNetworking)
            await connect(to: request.url, by: polls)
        #endif
        return try await polls.response(to: request)
    }

    #if canImport(FoundationNetworking)
        /// Makes a connection by a request that is answered at once, for one that is not to use.
        ///
        /// On Linux, a request that waits for its response on a connection that it has made itself uses a core all that
        /// time, since nobody there stops watching whether more could be written.
        private func connect(to url: URL, by exchanges: WebExchanges) async {
            var parts = URLComponents()
            (parts.scheme, parts.host, parts.port) = (url.scheme, url.host(percentEncoded: false), url.port)
            parts.path = "/"
            guard let root = parts.url else { return }
            let request = WebTransportRequest(
                method: "GET",
                url: root,
                timeout: .seconds(10),
                maximumResponseSize: 1 << 20
            )
            do throws(CloudError) {
                _ = try await exchanges.response(to: request)
            } catch {
                // The next request says what is wrong.
            }
        }
    #endif
}

/// Proxies that the environment names, which would see the tokens of requests that are not encrypted.
enum WebProxy {
    /// The variable that names a proxy for a request by plain http; `nil` if there is none.
    static func inUse(
        for url: URL,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        #if canImport(FoundationNetworking)
            guard url.isPlain, let host = url.host(percentEncoded: false) else {
                return nil
            }
            let excepted = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
                .split { $0 == "," || $0 == " " }
            if excepted == ["*"] || excepted.contains(where: { $0.lowercased() == host.lowercased() }) {
                return nil
            }
            return ["http_proxy", "all_proxy", "ALL_PROXY"].first { environment[$0]?.isEmpty == false }
        #else
            // The configuration of the session allows none.
            return nil
        #endif
    }
}

/// A session of `URLSession`, and what it has to answer.
private final class WebExchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // `@unchecked Sendable` holds because `exchanges` is locked, and `opened` is used on the queue `calls` only.
    private let exchanges = Locked<[ObjectIdentifier: WebExchange]>([:])
    private var opened: (session: URLSession, reading: DispatchQueue?)?
    /// Where the session is called: on Linux, most calls wait until it has read what there is to read.
    private let calls = DispatchQueue(label: "CodableSync.URLSessionTransport")
    private let clock: any SyncClock
    private let usesProxies: Bool

    init(clock: any SyncClock, usesProxies: Bool) {
        self.clock = clock
        self.usesProxies = usesProxies
    }

    private func open() -> (session: URLSession, reading: DispatchQueue?) {
        if let opened { return opened }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        #if canImport(Darwin)
            configuration.waitsForConnectivity = false
            if !usesProxies { configuration.connectionProxyDictionary = [:] }
        #endif
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let new = (session, session.readingQueue)
        opened = new
        return new
    }

    /// Leaves the open connections to what goes on over them.
    func renew() {
        calls.async { [self] in
            opened?.session.finishTasksAndInvalidate()
            opened = nil
        }
    }

    /// Ends the session, which would otherwise keep its delegate for ever.
    ///
    /// Nobody waits for a response any more, but the session may wait for a decision: on Linux, to cancel the task then
    /// ends the process. So does a task that is made behind this call.
    func close() {
        calls.async { [self] in opened?.session.finishTasksAndInvalidate() }
    }

    func response(to request: WebTransportRequest) async throws(CloudError) -> WebTransportResponse {
        var outgoing = URLRequest(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData)
        outgoing.httpMethod = request.method
        // The deadline is the exchange's; this one only ends what is silent.
        outgoing.timeoutInterval = Double(request.timeout.components.seconds) + 5
        for (name, value) in request.headers { outgoing.setValue(value, forHTTPHeaderField: name) }
        outgoing.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        if request.method != "GET" { outgoing.httpBody = request.body }
        let exchange = WebExchange(limit: request.maximumResponseSize, clock: clock)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.begin(within: request.timeout, continuation)
                calls.async { [self, outgoing] in send(outgoing, for: exchange) }
            }
        } onCancel: {
            exchange.fail("The request was cancelled.")
        }
        return try result.get()
    }

    /// Sends a request, unless its exchange has ended meanwhile.
    private func send(_ request: URLRequest, for exchange: WebExchange) {
        guard !exchange.isEnded else { return }
        let (session, reading) = open()
        let task = session.dataTask(with: request)
        // One that was sent is known until the session has told its end.
        exchanges.withLock { $0[ObjectIdentifier(task)] = exchange }
        if !exchange.send(task, readOn: reading) {
            exchanges.withLock { $0[ObjectIdentifier(task)] = nil }
            task.cancel()
        }
    }

    private func exchange(of task: URLSessionTask) -> WebExchange? {
        exchanges.withLock { $0[ObjectIdentifier(task)] }
    }

    // MARK: What the session tells

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let exchange = exchange(of: dataTask) else { return }
        let isWanted = exchange.take(response)
        exchange.decide { completionHandler(isWanted ? .allow : .cancel) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.take(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let exchange = exchange(of: task) else { return }
        exchange.end(with: response)
        exchange.decide { completionHandler(nil) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let response = challenge.failureResponse as? HTTPURLResponse else {
            // The system checks the server's certificate.
            return completionHandler(.performDefaultHandling, nil)
        }
        #if canImport(FoundationNetworking)
            guard let exchange = exchange(of: task) else { return }
            exchange.end(with: response)
            exchange.decide { completionHandler(.cancelAuthenticationChallenge, nil) }
        #else
            // The response arrives as any other.
            completionHandler(.rejectProtectionSpace, nil)
        #endif
    }

    /// Asked for when a request would be sent a second time, on a new connection.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(nil)
        exchange(of: task)?.fail("The connection was closed before the response.")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        exchanges.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }?
            .complete(error, sentBytes: task.countOfBytesSent)
    }
}

extension URLSession {
    /// The queue on which the session reads all its responses; `nil` on other systems than Linux.
    ///
    /// NB: It isn't public, so it is looked up by its name. Where Foundation has none of that name, a response without an
    /// end can keep all sessions of the process from the end of their tasks and from new ones.
    fileprivate var readingQueue: DispatchQueue? {
        #if canImport(FoundationNetworking)
            func member(_ name: String, of value: Any) -> Any? {
                Mirror(reflecting: value).children.first { $0.label == name }?.value
            }
            return member("multiHandle", of: self).flatMap { member("queue", of: $0) } as? DispatchQueue
        #else
            return nil
        #endif
    }
}
