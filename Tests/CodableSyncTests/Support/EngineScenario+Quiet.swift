import Foundation
import XCTest

@testable import CodableSync

/// Engines that sync by themselves, observed until they are idle.
extension EngineScenario {
    /// A device that syncs automatically and has become idle.
    func makeRestingDevice(
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) async throws -> Device<Note> {
        let phone = try makeDevice(Note.self) {
            $0.automaticallySyncs = true
            configure(&$0)
        }
        try await phone.engine.sync()
        try await quiet(phone)
        return phone
    }

    /// Opens a directory that a released engine used, which may take a moment to become free.
    func whenFree<Value>(
        file: StaticString = #filePath,
        line: UInt = #line,
        _ open: () async throws -> Value
    ) async throws -> Value {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            do {
                return try await open()
            } catch let error as SyncError where error.saysThatStateIsInUse && ContinuousClock.now < deadline
            {
                await Task.yield()
            }
        }
    }

    /// Waits until an engine is idle; held requests don't count.
    func quiet<Model>(_ device: Device<Model>, file: StaticString = #filePath, line: UInt = #line)
        async throws
    {
        if case .new = await device.engine.core.phase { _ = try await device.engine.diagnostics() }
        await device.engine.rest(file: file, line: line)
    }

    /// The time until the engine's next timer.
    func nextWait<Model>(of device: Device<Model>) throws -> Duration {
        try XCTUnwrap(device.engine.core.resources.nextInstant) - clock.now.monotonic
    }

    /// Advances the clock, and waits until the engine is idle.
    func pass<Model>(
        _ duration: Duration,
        _ device: Device<Model>,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        clock.advance(by: duration)
        try await quiet(device, file: file, line: line)
    }

    /// Advances the clock from timer to timer until a condition is true; fails after a day.
    func passUntil<Model>(
        _ what: String,
        _ device: Device<Model>,
        file: StaticString = #filePath,
        line: UInt = #line,
        _ condition: () async throws -> Bool
    ) async throws {
        let end = clock.now.monotonic + .seconds(86400)
        try await quiet(device, file: file, line: line)
        while try await !condition() {
            guard let next = device.engine.core.resources.nextInstant, next < end else {
                return XCTFail("never: \(what)", file: file, line: line)
            }
            try await pass(max(.zero, next - clock.now.monotonic), device, file: file, line: line)
        }
    }
}

extension SyncError {
    fileprivate var saysThatStateIsInUse: Bool {
        switch code {
        case .stateInUse, .configuration: true
        default: false
        }
    }
}

/// Values of a core that tests wait for.
extension SyncCore {
    /// The number of records left to deliver, even before the first request.
    var undeliveredCount: Int {
        guard let machine else { return 0 }
        let state = machine.state
        if state.summary.isFollowed { return machine.undeliveredCount }
        return state.records.sortedKeys.count { state[$0]?.isReplayed(afterReset: false, above: 0) == true }
    }

    /// The number of calls that wait for the cloud.
    var waiterCount: Int { machine?.calls.waiters.count ?? 0 }
}

extension SyncEngine {
    /// The pending changes that are parked, in the order in which they were parked.
    func parkedChanges() async throws -> [PendingChange<Model>] {
        try await pendingChanges().filter { $0.parkReason != nil }
    }
}

extension ScriptedDatabase {
    /// All requests so far.
    var totalCount: Int { Operation.allCases.reduce(0) { $0 + count($1) } }

    /// The largest number of concurrent requests of one kind.
    var highestPeak: Int { Operation.allCases.map { peak($0) }.max() ?? 0 }
}

/// The number of open files of this process, if the system provides it.
func openFiles() throws -> Int {
    guard FileManager.default.fileExists(atPath: "/proc/self/fd") else { return 0 }
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

/// Asserts that a call throws an engine's error.
func assertThrows<Value>(
    _ expected: SyncError,
    _ message: String = "",
    file: StaticString = #filePath,
    line: UInt = #line,
    _ call: () async throws -> Value
) async {
    do {
        _ = try await call()
        XCTFail("nothing was thrown: \(message)", file: file, line: line)
    } catch {
        XCTAssertEqual(error as? SyncError, expected, message, file: file, line: line)
    }
}
