#if canImport(CloudKit)
    import CloudKit
    import Foundation

    /// What the system reports about the account and the network.
    final class CloudKitAccount: Sendable {
        private struct State {
            var generation = 0
            var user: String?
        }

        private let state: Locked<State>
        private let hub: Broadcaster<CloudSignal>
        private let observer: Locked<any NSObjectProtocol>
        private let network: CloudKitNetwork

        init() {
            let state = Locked(State())
            let hub = Broadcaster<CloudSignal>(limit: 100, replaysLatest: false)
            let observer = NotificationCenter.default.addObserver(
                forName: .CKAccountChanged,
                object: nil,
                queue: nil
            ) { _ in
                state.withLock { state in
                    state.generation += 1
                    state.user = nil
                }
                hub.send(.accountChanged)
            }
            (self.state, self.hub, self.observer) = (state, hub, Locked(observer))
            network = CloudKitNetwork { hub.send(.reachable) }
        }

        deinit {
            observer.withLock { NotificationCenter.default.removeObserver($0) }
            network.end()
            hub.finish()
        }

        /// The account changes, and each return of the network; a new stream for each call.
        var signals: AsyncStream<CloudSignal> {
            network.enter()
            return hub.stream(leave: { [network] in network.leave() }, wake: {})
        }

        /// The number of account changes.
        var generation: Int { state.withLock { $0.generation } }

        /// The user who was looked up since the last account change.
        var user: String? { state.withLock { $0.user } }

        /// Notes the user, unless the account has changed since the look-up began.
        func note(user: String, lookedUpIn generation: Int) {
            state.withLock { if $0.generation == generation { $0.user = user } }
        }
    }
#endif
