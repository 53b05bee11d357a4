import Foundation
import XCTest

@testable import CodableSync

/// Engines that work by themselves, watched until they rest.
extension EngineScenario {
    /// A device that syncs by itself, and has come to rest.
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

    /// Opens what an engine that is gone has let go of: it counts as gone a moment before its end is done.
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

    /// Waits until an engine has nothing left to do at this time; what a test holds is not waited for.
    func quiet<Model>(_ device: Device<Model>, file: StaticString = #filePath, line: UInt = #line)
        async throws
    {
        if case .new = await device.engine.phase { _ = try await device.engine.diagnostics() }
        await device.engine.rest(file: file, line: line)
    }

    /// How long it is until the engine's next timer.
    func nextWait<Model>(of device: Device<Model>) throws -> Duration {
        try XCTUnwrap(device.engine.resources.nextInstant) - clock.now.monotonic
    }

    /// Lets time pass, and the engine do what it does then.
    func pass<Model>(
        _ duration: Duration,
        _ device: Device<Model>,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        clock.advance(by: duration)
        try await quiet(device, file: file, line: line)
    }

    /// Lets time pass, wait by wait, until something is true; fails if that takes a day.
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
            guard let next = device.engine.resources.nextInstant, next < end else {
                return XCTFail("never: \(what)", file: file, line: line)
            }
            try await pass(max(.zero, next - clock.now.monotonic), device, file: file, line: line)
        }
    }
}

extension SyncError {
    fileprivate var saysThatStateIsInUse: Bool {
        switch self {
        case .stateInUse, .configuration: true
        default: false
        }
    }
}

/// What tests wait for in an engine.
extension SyncEngine {
    /// How many records are left to be told of.
    var undeliveredCount: Int { machine?.state.deliveryQueue.count ?? 0 }
    /// How many calls wait for the cloud.
    var waiterCount: Int { machine?.waiters.count ?? 0 }
}

extension ScriptedDatabase {
    /// All requests until now.
    var totalCount: Int { Operation.allCases.reduce(0) { $0 + count($1) } }

    /// The most requests of one kind that were under way at once.
    var highestPeak: Int { Operation.allCases.map { peak($0) }.max() ?? 0 }
}

/// How many files this process has open, where the system tells.
func openFiles() throws -> Int {
    guard FileManager.default.fileExists(atPath: "/proc/self/fd") else { return 0 }
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

/// Asserts that a call fails with an error of the engine.
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
