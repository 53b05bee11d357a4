/// What a session tells its databases, and the number of its users so far.
final class WebSigns: Sendable {
    private struct State {
        var users = 0
        var isRecordServer = false
        var listeners = 0
        var isFinished = false
        var poll: Task<Void, Never>?
        var begin: (@Sendable () -> Task<Void, Never>)?
    }

    private let state = Locked(State())
    /// Who has missed some signals fetches everything, and learns of another account by its first request.
    private let hub = Broadcaster<CloudSignal>(limit: 16, replaysLatest: false) { _ in .changes(in: nil) }

    /// How often the user has changed.
    var userCount: Int { state.withLock { $0.users } }

    /// Whether the server has said that it is one of this project.
    var isRecordServer: Bool { state.withLock { $0.isRecordServer } }

    func noteRecordServer() { state.withLock { $0.isRecordServer = true } }

    /// Notes that another user has signed in, or nobody is; the news are those of the new user from now on.
    func noteNewUser() {
        state.withLock { state -> Task<Void, Never>? in
            state.users += 1
            defer { state.poll = state.listeners > 0 ? state.begin?() : nil }
            return state.poll
        }?.cancel()
    }

    func send(_ signal: CloudSignal) { hub.send(signal) }

    /// Says who asks the services for news while somebody listens.
    func poll(with courier: WebCourier, _ service: @escaping @Sendable () -> (any WebCourierService)?) {
        let tell: @Sendable (CloudSignal) -> Void = { [weak self] in self?.send($0) }
        state.withLock { $0.begin = { Task { await courier.run(service, tell) } } }
    }

    /// Makes a stream for a listener; it ends at once if the session is closed.
    func stream() -> AsyncStream<CloudSignal> {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.listeners += 1
            if state.poll == nil { state.poll = state.begin?() }
        }
        return hub.stream(leave: { [weak self] in self?.leave() }, wake: {})
    }

    private func leave() {
        state.withLock { state -> Task<Void, Never>? in
            guard state.listeners > 0 else { return nil }
            state.listeners -= 1
            guard state.listeners == 0 else { return nil }
            defer { state.poll = nil }
            return state.poll
        }?.cancel()
    }

    func finish() {
        state.withLock { state -> Task<Void, Never>? in
            state.isFinished = true
            state.begin = nil
            defer { state.poll = nil }
            return state.poll
        }?.cancel()
        hub.finish()
    }
}
