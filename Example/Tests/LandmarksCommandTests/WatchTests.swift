import Foundation
import XCTest

@testable import LandmarksCommand

final class WatchTests: CommandTestCase {
    /// A running `watch` after its first sync, and its output.
    private struct Watcher {
        let process: Process
        let output: Pipe
        let errors: Pipe

        /// The next line; `nil` at the end of the output.
        func line() -> String? { Self.line(of: output) }

        static func line(of pipe: Pipe) -> String? {
            var bytes: [UInt8] = []
            while let byte = pipe.fileHandleForReading.readData(ofLength: 1).first {
                if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
                bytes.append(byte)
            }
            return nil
        }

        /// Sends a signal and waits until the process exits.
        func end(_ signal: Int32) -> Int32 {
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            return process.terminationStatus
        }
    }

    private func watch(_ name: String) throws -> Watcher {
        let process = process(device(name, ["watch"]))
        let watcher = Watcher(process: process, output: Pipe(), errors: Pipe())
        process.standardOutput = watcher.output
        process.standardError = watcher.errors
        try process.run()
        // A `watch` that prints nothing must not block the tests forever.
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        XCTAssertEqual(
            Watcher.line(of: watcher.errors),
            "synced: 0 sent, 0 deleted, 0 fetched, 0 conflicts resolved; Ctrl-C ends"
        )
        return watcher
    }

    private func add(_ name: String) throws -> String {
        try runs("phone", "add", name, "--latitude", "1", "--longitude", "2").trimmingCharacters(
            in: .newlines
        )
    }

    /// Three processes: one watches, one adds, one syncs.
    func testWatchPrintsEachChangeUntilCtrlC() throws {
        let watcher = try watch("tablet")
        for round in 0..<2 {
            let name = try add("Far away \(round)")
            try runs("phone", "sync")
            XCTAssertEqual(watcher.line()?.hasPrefix("updated  \(name)     Far away \(round)"), true)
            try runs("phone", "edit", name, "--name", "Near \(round)")
            try runs("phone", "sync")
            XCTAssertEqual(watcher.line()?.hasPrefix("updated  \(name)     Near \(round)"), true)
            try runs("phone", "remove", name)
            try runs("phone", "sync")
            XCTAssertEqual(watcher.line(), "deleted  \(name)")
        }
        XCTAssertEqual(watcher.end(SIGINT), 130)
        XCTAssertEqual(watcher.process.terminationReason, .exit)
        XCTAssertNil(watcher.line())
        XCTAssertNil(Watcher.line(of: watcher.errors), "a signal needs no explanation")
        XCTAssertEqual(
            try runs("tablet", "list", errors: "landmarks: \(EmptyList.landmarks(outOf: 0))\n"),
            ""
        )
    }

    func testSIGTERMEndsWatch() throws {
        let watcher = try watch("tablet")
        XCTAssertEqual(watcher.end(SIGTERM), 143)
        XCTAssertEqual(watcher.process.terminationReason, .exit)
        XCTAssertNil(Watcher.line(of: watcher.errors))
        XCTAssertEqual(
            try runs("tablet", "list", errors: "landmarks: \(EmptyList.landmarks(outOf: 0))\n"),
            "",
            "the state is unlocked and intact"
        )
    }

    // F11: the process exits even if it has nothing more to print, which unlocks the state at once.
    func testWatchExitsQuietlyWhenItsOutputIsClosed() throws {
        let watcher = try watch("tablet")
        let name = try add("Far away")
        try runs("phone", "sync")
        XCTAssertEqual(watcher.line()?.hasPrefix("updated  \(name)"), true)
        try watcher.output.fileHandleForReading.close()
        watcher.process.waitUntilExit()
        XCTAssertEqual(watcher.process.terminationReason, .exit)
        XCTAssertEqual(watcher.process.terminationStatus, 0)
        XCTAssertNil(Watcher.line(of: watcher.errors))
        XCTAssertTrue(try runs("tablet", "list").contains("Far away"))
    }

    func testTwoWatchersPrintTheSame() throws {
        let watchers = try ["tablet", "laptop"].map(watch)
        let name = try add("Far away")
        try runs("phone", "sync")
        for watcher in watchers {
            XCTAssertEqual(watcher.line()?.hasPrefix("updated  \(name)     Far away"), true)
        }
        for watcher in watchers { XCTAssertEqual(watcher.end(SIGINT), 130) }
    }

    func testADeviceInUseIsExitCode75AndNamesTheProcess() throws {
        let watcher = try watch("phone")
        let run = try run(device("phone", ["list", "--json"]))
        XCTAssertEqual(run.status, 75)
        let message =
            "this device is in use; wait for the other command, or use another --device "
            + "(The state is in use by process \(watcher.process.processIdentifier). "
            + "Close that engine first, or give this one another directory.)"
        XCTAssertEqual(run.errors, "landmarks: \(message)\n")
        XCTAssertEqual(
            run.output,
            #"{"error":{"code":"stateInUse","exit":75,"message":"\#(message)"}}"# + "\n"
        )
        XCTAssertEqual(watcher.end(SIGINT), 130)
        try runs("phone", "list", "--json")
    }

    func testAStateThatWasMovedAwayEndsWatch() throws {
        let watcher = try watch("tablet")
        let devices = home.appending(path: "state/devices")
        try FileManager.default.moveItem(
            at: devices.appending(path: "tablet"),
            to: devices.appending(path: "moved")
        )
        watcher.process.waitUntilExit()
        XCTAssertEqual(watcher.process.terminationStatus, 74)
        // The engine may have noticed it, too.
        var errors: [String] = []
        while let line = Watcher.line(of: watcher.errors) { errors.append(line) }
        let last = errors.last ?? ""
        XCTAssertTrue(last.hasPrefix("landmarks: the state of this device was moved away from '"), last)
    }

    // Only its files have the identity to which the state belongs.
    func testTheFirstCommandMakesTheCloud() throws {
        _ = try add("X")
        let state = home.appending(path: "state").path
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: state).sorted(),
            ["cloud", "devices"]
        )
    }
}
