import Foundation

@testable import CodableSync

/// Holds a request until a test releases it, and lets the test wait until a request is held.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var failure: CloudError?
        var isReached = false
        var held: [(continuation: CheckedContinuation<Void, any Error>, tell: (@Sendable (Bool) -> Void)?)] =
            []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// A gate that is open.
    static var opened: Gate {
        let gate = Gate()
        gate.open()
        return gate
    }

    /// Holds the request that calls this.
    func pass() async throws {
        try await withCheckedThrowingContinuation { continuation in
            let (outcome, watchers) = state.withLock {
                state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
                state.isReached = true
                defer { state.watchers = [] }
                if state.isOpen {
                    return (state.failure.map { .failure($0) } ?? .success(()), state.watchers)
                }
                state.held.append((continuation, HeldWork.tell))
                HeldWork.tell?(true)
                return (nil, state.watchers)
            }
            for watcher in watchers { watcher.resume() }
            if let outcome { continuation.resume(with: outcome) }
        }
    }

    /// Returns once a request is held.
    func reached() async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state -> Bool in
                if !state.isReached { state.watchers.append(continuation) }
                return state.isReached
            }
            if isReached { continuation.resume() }
        }
    }

    /// Releases the request, or fails it.
    func open(throwing failure: CloudError? = nil) {
        let held = state.withLock { state in
            state.isOpen = true
            state.failure = failure
            defer { state.held = [] }
            return state.held
        }
        for (continuation, tell) in held {
            tell?(false)
            if let failure { continuation.resume(throwing: failure) } else { continuation.resume() }
        }
    }
}
