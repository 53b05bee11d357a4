import Foundation
import XCTest

/// Runs the built command as a process, with a separate home directory for each test.
class CommandTestCase: XCTestCase {
    /// The result of running the command.
    struct Run {
        var status: Int32
        var output: String
        var errors: String
    }

    private(set) var home = URL(filePath: "/")

    override func setUpWithError() throws {
        home = FileManager.default.temporaryDirectory
            .appending(path: "landmarks-tests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws {
        try FileManager.default.removeItem(at: home)
    }

    /// The command, next to the test bundle.
    static var executable: URL {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let tests = bundles.first ?? URL(filePath: CommandLine.arguments[0]).absoluteURL
        return tests.deletingLastPathComponent().appending(path: "landmarks")
    }

    /// A process that has not started yet.
    func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = arguments
        process.environment = ["HOME": home.path, "PATH": "/usr/bin:/bin"]
        process.currentDirectoryURL = home
        return process
    }

    /// Arguments for a device with its home in this test's directory.
    func device(_ name: String, _ arguments: [String]) -> [String] {
        ["--home", home.appending(path: "state").path, "--device", name] + arguments
    }

    /// Runs the command until it exits.
    func run(_ arguments: [String]) throws -> Run {
        try run(process(arguments))
    }

    func run(_ process: Process) throws -> Run {
        let id = UUID().uuidString
        let files = try ["out", "err"].map { kind in
            let url = home.appending(path: "\(id).\(kind)")
            try Data().write(to: url)
            return (url: url, handle: try FileHandle(forWritingTo: url))
        }
        process.standardOutput = files[0].handle
        process.standardError = files[1].handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let texts = try files.map { file in
            try file.handle.close()
            return String(decoding: try Data(contentsOf: file.url), as: UTF8.self)
        }
        return Run(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }

    /// Runs the command on a device, and expects it to succeed, with this on standard error.
    @discardableResult
    func runs(
        _ device: String,
        _ arguments: String...,
        errors: String = "",
        file: StaticString = #filePath,
        line: UInt = #line
    ) throws -> String {
        let run = try run(self.device(device, arguments))
        XCTAssertEqual(run.status, 0, run.errors, file: file, line: line)
        XCTAssertEqual(run.errors, errors, file: file, line: line)
        return run.output
    }

    /// Parses JSON printed by a run.
    func json<Value>(_ text: String, as type: Value.Type, line: UInt = #line) throws -> Value {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try XCTUnwrap(value as? Value, text, line: line)
    }

    /// Writes a file to the test's directory.
    func write(_ text: String, to name: String) throws -> String {
        let url = home.appending(path: name)
        try Data(text.utf8).write(to: url)
        return url.path
    }
}
