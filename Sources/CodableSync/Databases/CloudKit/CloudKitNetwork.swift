#if canImport(CloudKit)
    import Dispatch
    import Network

    /// Watches whether the device has a network while somebody listens, and reports when one is back.
    final class CloudKitNetwork: Sendable {
        private struct State {
            var listeners = 0
            /// The system retains it until it is cancelled.
            var monitor: NWPathMonitor?
        }

        private let state = Locked(State())
        private let tell: @Sendable () -> Void

        /// Creates a watch without starting it.
        ///
        /// - Parameter tell: Called on a queue of its own when there is a network after there was none.
        init(_ tell: @escaping @Sendable () -> Void) {
            self.tell = tell
        }

        deinit { end() }

        /// Starts watching, unless somebody listens already.
        func enter() {
            state.withLock { state in
                state.listeners += 1
                if state.monitor == nil { state.monitor = started() }
            }
        }

        /// Stops watching when the last listener has left.
        func leave() {
            state.withLock { state in
                state.listeners -= 1
                if state.listeners <= 0 { Self.end(&state) }
            }
        }

        /// Stops watching, even if there are listeners.
        func end() {
            state.withLock { Self.end(&$0) }
        }

        private static func end(_ state: inout State) {
            state.monitor?.cancel()
            state.monitor = nil
        }

        private func started() -> NWPathMonitor {
            let monitor = NWPathMonitor()
            let isMissing = Locked(false)
            monitor.pathUpdateHandler = { [tell] path in
                let isBack = isMissing.withLock { isMissing in
                    let wasMissing = isMissing
                    isMissing = path.status != .satisfied
                    return wasMissing && !isMissing
                }
                if isBack { tell() }
            }
            monitor.start(queue: DispatchQueue(label: "CodableSync.network"))
            return monitor
        }
    }
#endif
