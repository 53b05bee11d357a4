/// One device's connection to a ``FakeCloud``, on which a test lets things go wrong.
///
/// Faults wait in line. A request takes the first one that is meant for its kind; the others pass by it. So a test
/// says in advance, and exactly, what happens:
///
/// ```swift
/// let database = FakeCloud().database(user: "alice")
/// database.fail(.modifyRecords, with: CloudError(.networkFailure), times: 2)
/// database.loseResponse(of: .modifyRecords)
/// // The first two saves never reach the server, the third is stored and its answer lost, the fourth succeeds.
/// ```
///
/// - ``fail(_:with:times:)``: requests fail and the server does not know of them.
/// - ``loseResponse(of:with:times:)``: requests are done, and the client is not told.
/// - ``hold(_:_:times:)``: requests wait until the test releases them.
/// - ``neverAnswer(_:_:)``: a request is not answered.
/// - ``throttle(_:retryAfter:code:)``: the client has to wait; ``throttleViolations`` counts when it does not.
/// - ``failItem(_:in:with:times:)``, ``conflict(on:carryingServerRecord:times:)``: one record is refused.
/// - ``editSaves(times:_:)`` and the like: the answer is another one.
/// - ``isReachable``: there is no network until it is there again.
/// - ``account``, ``signIn(user:)``, ``signOut()``: the account changes.
///
/// To change what another database does or answers, put a ``ForwardingDatabase`` in front of it.
///
/// What it was asked is in ``requests``; what is stored, in ``FakeCloud/records(user:in:)``.
public final class FakeDatabase: CloudDatabase {
    struct State: Sendable {
        var user: String?
        var account = AccountStatus.available
        var accountGeneration = 0
        var signalsAccountChanges = true
        var isReachable = true
        var script = FakeScript()
        var requests: [FakeRequest] = []
        var limits: DatabaseLimits?
        var pageSize: Int?
        var carriesServerRecords = true
    }

    /// The cloud that the device is connected to.
    public let cloud: FakeCloud
    let state: Locked<State>
    private let signalHub = Broadcaster<CloudSignal>(limit: 100, replaysLatest: false)

    init(cloud: FakeCloud, user: String) {
        self.cloud = cloud
        state = Locked(State(user: user))
    }

    deinit {
        signalHub.finish()
    }

    /// The cloud's identifier, the same for all its devices.
    public var identifier: String { cloud.identifier }

    /// The private database.
    public var scope: DatabaseScope { .private }

    /// Kept in memory.
    public var isInMemory: Bool { true }

    /// What the database claims that one request may carry; the cloud's own limits unless a test sets others.
    ///
    /// ``FakeCloud/limits`` says what the server accepts, so a test can let the two differ. An open engine applies a
    /// change to its next request.
    public var limits: DatabaseLimits {
        get { state.withLock { $0.limits } ?? cloud.limits.database }
        set { state.withLock { $0.limits = newValue } }
    }

    /// Changes by other devices of the user, account changes, and the network's return; a new stream for each call.
    public var signals: AsyncStream<CloudSignal> { signalHub.stream {} }

    /// Sends a signal to everybody who listens on this device; also for a test that wants one doubled.
    ///
    /// - Parameter signal: The signal.
    public func emit(_ signal: CloudSignal) {
        signalHub.send(signal)
    }

    // MARK: - The account

    /// Who is signed in on the device; `nil` if nobody is.
    public var user: String? { state.withLock { $0.user } }

    /// Whether this user is signed in.
    func belongs(to user: String) -> Bool { self.user?.isIdentical(to: user) == true }

    /// The state of the account; setting it sends ``CloudSignal/accountChanged``.
    public var account: AccountStatus {
        get { state.withLock { $0.account } }
        set {
            changeAccount { $0.account = newValue }
        }
    }

    /// Signs a user in on the device, in place of whoever was; sends ``CloudSignal/accountChanged``.
    ///
    /// - Parameter user: The user record name.
    public func signIn(user: String) {
        changeAccount { state in
            state.user = user
            state.account = .available
        }
    }

    /// Signs the user of the device out; sends ``CloudSignal/accountChanged``.
    public func signOut() {
        changeAccount { state in
            state.user = nil
            state.account = .noAccount
        }
    }

    /// Whether a change of the account is signalled; switched off, the signal is lost, and an engine finds out by
    /// ``accountGeneration`` when it is about to make its next request.
    public var signalsAccountChanges: Bool {
        get { state.withLock { $0.signalsAccountChanges } }
        set { state.withLock { $0.signalsAccountChanges = newValue } }
    }

    /// Grows with every change of the account, signalled or not.
    public var accountGeneration: Int { state.withLock { $0.accountGeneration } }

    private func changeAccount(_ change: (inout State) -> Void) {
        let isSignalled = state.withLock { state in
            change(&state)
            state.accountGeneration += 1
            return state.signalsAccountChanges
        }
        if isSignalled { emit(.accountChanged) }
    }

    // MARK: - The network

    /// Whether there is a network; without one every request fails with `networkUnavailable`.
    ///
    /// Switching it on sends ``CloudSignal/reachable``. Requests that are held go on as they would.
    public var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set {
            let wasReachable = state.withLock { state in
                defer { state.isReachable = newValue }
                return state.isReachable
            }
            if newValue, !wasReachable { emit(.reachable) }
        }
    }

    // MARK: - What was asked

    /// Every request since the last ``clearRequests()``, in the order in which they came, refused ones included.
    public var requests: [FakeRequest] { state.withLock { $0.requests } }

    /// How many requests of a kind came since the last ``clearRequests()``.
    ///
    /// - Parameter operation: The kind.
    /// - Returns: Their number, refused ones included.
    public func requestCount(_ operation: FakeOperation = .any) -> Int {
        state.withLock { $0.requests.count { operation.matches($0.operation) } }
    }

    /// Forgets the requests.
    public func clearRequests() {
        state.withLock { $0.requests = [] }
    }
}

extension FakeDatabase: SignalTelling {
    package var areSignalsTaken: Bool { signalHub.now.isTaken }

    package func waitUntilSignalsAreTaken() async { await signalHub.wait { $0.isTaken } }
}
