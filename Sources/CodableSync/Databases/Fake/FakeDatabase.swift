/// A device's connection to a ``FakeCloud``, with fault injection.
///
/// A test queues faults in advance, and each request takes the first one for its kind:
///
/// ```swift
/// let database = FakeCloud().database(user: "alice")
/// database.on(.modifyRecords, .fail(CloudError(.networkFailure)), times: 2)
/// database.on(.modifyRecords, .loseResponse())
/// // The first two saves never reach the server, the third is stored but its response lost, the fourth succeeds.
/// ```
///
/// - ``on(_:_:times:)`` plans what a ``FakeEffect`` says: requests fail, wait or lose their responses, the client
///   must wait, one record is refused, or a response is edited.
/// - ``isReachable``: there is no network until the test restores it.
/// - ``account``, ``signIn(user:)``, ``signOut()``: the account changes.
///
/// ``requests`` lists the requests so far, and ``FakeCloud/records(user:in:)`` the stored records.
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

    /// `true`: the cloud is in memory.
    public var isInMemory: Bool { true }

    /// The limits that the database reports to engines; the cloud's own limits unless a test sets others.
    ///
    /// The server enforces ``FakeCloud/limits``, so a test can make the two differ. A change applies to an open
    /// engine's next request.
    public var limits: DatabaseLimits {
        get { state.withLock { $0.limits } ?? cloud.limits }
        set { state.withLock { $0.limits = newValue } }
    }

    /// Changes by other devices of the user, account changes, and the network's return; a new stream for each
    /// call.
    public var signals: AsyncStream<CloudSignal> { signalHub.stream {} }

    /// Sends a signal to all listeners on this device, for example to test a duplicate.
    ///
    /// - Parameter signal: The signal.
    public func emit(_ signal: CloudSignal) {
        signalHub.send(signal)
    }

    // MARK: - The account

    /// The user who is signed in on the device; `nil` if there is none.
    public var user: String? { state.withLock { $0.user } }

    /// Whether this user is signed in.
    func belongs(to user: String) -> Bool { self.user?.isIdentical(to: user) == true }

    /// The account's status; setting it sends ``CloudSignal/accountChanged``.
    public var account: AccountStatus {
        get { state.withLock { $0.account } }
        set {
            changeAccount { $0.account = newValue }
        }
    }

    /// Signs a user in on the device, replacing the previous user, and sends ``CloudSignal/accountChanged``.
    ///
    /// - Parameter user: The user record name.
    public func signIn(user: String) {
        changeAccount { state in
            state.user = user
            state.account = .available
        }
    }

    /// Signs the device's user out, and sends ``CloudSignal/accountChanged``.
    public func signOut() {
        changeAccount { state in
            state.user = nil
            state.account = .noAccount
        }
    }

    /// Whether account changes are signalled; if not, an engine notices them by ``accountGeneration`` before
    /// its next request.
    package var signalsAccountChanges: Bool {
        get { state.withLock { $0.signalsAccountChanges } }
        set { state.withLock { $0.signalsAccountChanges = newValue } }
    }

    /// A number that increases with every account change, signalled or not.
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
    /// Switching it on sends ``CloudSignal/reachable``. Held requests are not affected.
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

    // MARK: - Requests so far

    /// All requests since the last ``clearRequests()``, in the order of their arrival, including refused
    /// ones.
    public var requests: [FakeRequest] { state.withLock { $0.requests } }

    /// Returns the number of requests of a kind since the last ``clearRequests()``.
    ///
    /// - Parameter operation: The kind.
    /// - Returns: The number, including refused requests.
    public func requestCount(_ operation: FakeOperation = .any) -> Int {
        state.withLock { $0.requests.count { operation.matches($0.operation) } }
    }

    /// Clears ``requests``.
    public func clearRequests() {
        state.withLock { $0.requests = [] }
    }
}

extension FakeDatabase: SignalTracking {
    package var areSignalsTaken: Bool { signalHub.now.isTaken }

    package func waitUntilSignalsAreTaken() async { await signalHub.wait { $0.isTaken } }
}
