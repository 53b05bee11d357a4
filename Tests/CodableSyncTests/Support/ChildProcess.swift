import Foundation
import XCTest

/// A run of the helper program that stands beside the tests.
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// The helper's path: the build puts it beside the tests.
    private static var executable: URL {
        #if canImport(Darwin)
            let tests = Bundle(for: ChildProcess.self).bundleURL
        #else
            let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        #endif
        return tests.deletingLastPathComponent().appending(path: "SecondProcess")
    }

    init(_ arguments: String...) throws {
        process.executableURL = Self.executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // A helper that says nothing must not hold the tests for ever: what waits for its words then reads the end.
        let process = process
        DispatchQueue.global().asyncAfter(deadline: .now() + 300) {
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        }
    }

    var processID: Int32 { process.processIdentifier }

    /// The next line of what it says; `nil` when it has ended.
    func readLine() -> String? {
        var line: [UInt8] = []
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// Everything that it has not said yet.
    func readLines() -> [String] {
        var lines: [String] = []
        while let line = readLine() { lines.append(line) }
        return lines
    }

    /// Ends it as the system does: it gets no chance to do anything.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Lets it end by itself.
    func finish() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    var exitStatus: Int32 { process.terminationStatus }
}
