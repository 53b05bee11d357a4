import Foundation
import XCTest

/// The command `record-server` as a process, which a test can kill.
final class ServerProcess {
    /// The server has ended before it listened.
    struct Ended: Error {}

    private let process = Process()
    private let output = Pipe()
    /// What it has printed at its start, by the words before the colon.
    private(set) var printed: [String: String] = [:]

    /// The path of the command, next to the tests.
    private static var executable: URL {
        #if canImport(Darwin)
            let tests = Bundle(for: ServerProcess.self).bundleURL
        #else
            let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        #endif
        return tests.deletingLastPathComponent().appending(path: "record-server")
    }

    /// Starts a server, and returns once it has said where it listens.
    ///
    /// - Parameters:
    ///   - directory: Where it keeps everything; `nil` for memory.
    ///   - port: The port; 0 leaves it to the system.
    ///   - users: The users.
    ///   - more: More arguments.
    /// - Throws: An error if it ends before it listens.
    init(directory: URL?, port: Int = 0, users: [String], _ more: [String] = []) throws {
        process.executableURL = Self.executable
        let place = directory.map { ["--directory", $0.path] } ?? []
        process.arguments = place + ["--port", "\(port)"] + users.flatMap { ["--user", $0] } + more
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let last = "web-auth token of \(users.last ?? "")"
        while printed[last] == nil {
            guard let line = readLine() else { throw Ended() }
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { printed[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
    }

    deinit { kill() }

    var processID: Int32 { process.processIdentifier }

    var url: URL {
        get throws { try XCTUnwrap(printed["URL"].flatMap { URL(string: $0) }) }
    }

    /// Kills it without warning.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Asks it to end, and returns its exit code; `nil` if a signal ended it.
    func terminate(by signal: Int32 = SIGTERM) -> Int32? {
        Foundation.kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }

    private func readLine() -> String? {
        var line: [UInt8] = []
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
}
