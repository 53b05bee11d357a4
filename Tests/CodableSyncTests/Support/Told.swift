import Dispatch
import XCTest

@testable import CodableSync

/// Waits for a value from another task; `nil` if it does not arrive within two minutes.
///
/// The limit only ends a test that would otherwise hang; no machine is that slow.
func inTime<Value: Sendable>(_ wait: @escaping @Sendable () async -> Value) async -> Value? {
    let waiter = Locked<CheckedContinuation<Value?, Never>?>(nil)
    let end = { @Sendable (value: Value?) in
        let waiter = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        waiter?.resume(returning: value)
    }
    let alarm = DispatchSource.makeTimerSource()
    alarm.setEventHandler { end(nil) }
    alarm.schedule(deadline: .now() + 120)
    defer { alarm.cancel() }
    return await withCheckedContinuation { continuation in
        waiter.withLock { $0 = continuation }
        alarm.activate()
        Task { end(await wait()) }
    }
}

/// Waits for a value from another task, and fails if it does not arrive.
func waiting<Value: Sendable>(
    for what: String,
    else late: Value,
    file: StaticString = #filePath,
    line: UInt = #line,
    _ wait: @escaping @Sendable () async -> Value
) async -> Value {
    if let value = await inTime(wait) { return value }
    XCTFail("never: \(what)", file: file, line: line)
    return late
}

/// A value behind a lock that notifies waiting tasks of its changes.
final class Told<Value>: Sendable {
    private struct Watcher {
        let id: UInt64
        let condition: (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var watchers: [Watcher] = []
        var lastID: UInt64 = 0
    }

    private let state: Locked<State>

    init(_ value: sending Value) { state = Locked(State(value: value)) }

    /// Reads or changes the value, and resumes tasks whose condition is now true.
    @discardableResult
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        let (result, told) = try state.withLock { state in
            let result = try body(&state.value)
            if state.watchers.isEmpty { return (result, [CheckedContinuation<Void, Never>]()) }
            let told = state.watchers.filter { $0.condition(state.value) }
            state.watchers.removeAll { watcher in told.contains { $0.id == watcher.id } }
            return (result, told.map(\.continuation))
        }
        for continuation in told { continuation.resume() }
        return result
    }

    /// Returns once a condition on the value is true.
    func reach(
        _ what: String,
        file: StaticString = #filePath,
        line: UInt = #line,
        _ condition: @escaping @Sendable (Value) -> Bool
    ) async {
        await waiting(for: what, else: (), file: file, line: line) { [self] in
            await withCheckedContinuation { continuation in
                let isTrue = state.withLock { state in
                    if condition(state.value) { return true }
                    state.lastID += 1
                    state.watchers.append(
                        Watcher(id: state.lastID, condition: condition, continuation: continuation)
                    )
                    return false
                }
                if isTrue { continuation.resume() }
            }
        }
    }
}

extension SyncEngine {
    /// Returns once a condition on the core is true between two turns, or within one.
    func reach(
        _ what: String,
        withinTurns: Bool = false,
        file: StaticString = #filePath,
        line: UInt = #line,
        _ condition: @escaping @Sendable (isolated SyncCore) -> Bool
    ) async {
        let isTrue = await waiting(for: what, else: true, file: file, line: line) {
            await core.wait { core in
                let isBetweenTurns = core.turn.inputs.isEmpty && core.storing.view == nil
                return (withinTurns || isBetweenTurns) && condition(core)
            }
        }
        XCTAssertTrue(isTrue, "the engine was closed before: \(what)", file: file, line: line)
    }

    /// A task that ends when the engine is closed or released.
    func watchEnd() -> Task<Void, Never> {
        let events = core.eventHub.stream {}
        return Task { for await _ in events {} }
    }

    /// Returns once the engine is idle.
    func rest(file: StaticString = #filePath, line: UInt = #line) async {
        await waiting(for: "the engine is idle", else: (), file: file, line: line) {
            await self.waitUntilIdle()
        }
    }
}

extension ManualClock {
    /// Returns once a condition on the clock's pending sleeps is true.
    func reach(
        _ what: String,
        file: StaticString = #filePath,
        line: UInt = #line,
        _ condition: @escaping @Sendable ([Duration]) -> Bool
    ) async {
        await waiting(for: what, else: (), file: file, line: line) { await self.wait(until: condition) }
    }
}
