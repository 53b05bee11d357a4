import Foundation
import XCTest

/// A run of the helper program, which is built next to the tests.
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// The helper's path, next to the tests.
    private static var executable: URL {
        #if canImport(Darwin)
            let tests = Bundle(for: ChildProcess.self).bundleURL
        #else
            let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        #endif
        return tests.deletingLastPathComponent().appending(path: "SecondProcess")
    }

    /// - Parameters:
    ///   - arguments: What it should do.
    ///   - mergesErrors: Whether what it prints as errors is in its output, too.
    /// - Throws: An error if it can't be started.
    init(_ arguments: String..., mergesErrors: Bool = false) throws {
        process.executableURL = Self.executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        if mergesErrors { process.standardError = output }
        try process.run()
        // A helper that prints nothing must not block the tests forever: once it is killed, readers get the
        // end of the output.
        let process = process
        DispatchQueue.global().asyncAfter(deadline: .now() + 300) {
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        }
    }

    var processID: Int32 { process.processIdentifier }

    /// Writes a line to its input.
    func writeLine(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// The next line of its output; `nil` when the output has ended.
    func readLine() -> String? {
        var line: [UInt8] = []
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// The rest of its output.
    func readLines() -> [String] {
        var lines: [String] = []
        while let line = readLine() { lines.append(line) }
        return lines
    }

    /// Kills the process without warning.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Lets the process exit by itself.
    func finish() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    var exitStatus: Int32 { process.terminationStatus }
}
