import Foundation
import XCTest

final class WatchTests: CommandTestCase {
    /// A `watch` that has synced, and what it prints.
    private struct Watcher {
        let process: Process
        let output: Pipe

        /// Reads until a line has the text; the end of the output ends it, too.
        func line(with text: String) -> String? {
            var bytes: [UInt8] = []
            while let byte = output.fileHandleForReading.readData(ofLength: 1).first {
                if byte != UInt8(ascii: "\n") {
                    bytes.append(byte)
                    continue
                }
                let line = String(decoding: bytes, as: UTF8.self)
                if line.contains(text) { return line }
                bytes = []
            }
            return nil
        }
    }

    private func watch(_ name: String) throws -> Watcher {
        let watcher = Watcher(process: process(device(name, ["watch"])), output: Pipe())
        watcher.process.standardOutput = watcher.output
        watcher.process.standardError = watcher.output
        try watcher.process.run()
        // A watch that says nothing must not hold the tests for ever.
        let process = watcher.process
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) {
            if process.isRunning { process.terminate() }
        }
        XCTAssertNotNil(watcher.line(with: "synced:"))
        return watcher
    }

    func testPrintsEachChangeAsItArrivesUntilCtrlC() throws {
        let watcher = try watch("tablet")
        let name = try runs("phone", "add", "Far away", "--latitude", "1", "--longitude", "2")
            .trimmingCharacters(in: .newlines)
        try runs("phone", "sync")
        XCTAssertEqual(watcher.line(with: "Far away")?.hasPrefix("updated  \(name)"), true)
        try runs("phone", "remove", name)
        try runs("phone", "sync")
        XCTAssertEqual(watcher.line(with: name), "deleted  \(name)")
        watcher.process.interrupt()
        watcher.process.waitUntilExit()
        XCTAssertEqual(watcher.process.terminationReason, .exit)
        XCTAssertEqual(watcher.process.terminationStatus, 0)
        XCTAssertEqual(try runs("tablet", "list"), "")
    }

    func testADeviceInUseIsExitCode75AndNamesTheProcess() throws {
        let watcher = try watch("phone")
        defer {
            watcher.process.interrupt()
            watcher.process.waitUntilExit()
        }
        let run = try run(device("phone", ["list", "--json"]))
        XCTAssertEqual(run.status, 75)
        XCTAssertTrue(run.errors.contains("process \(watcher.process.processIdentifier)"), run.errors)
        let error = try json(run.output, as: [String: [String: Any]].self)["error"]
        XCTAssertEqual(error?["code"] as? String, "stateInUse")
    }
}
