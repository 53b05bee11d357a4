import Foundation

/// The command `record-server` as a process, which a test can kill.
public final class ServerProcess {
    /// The server has ended before it listened.
    public struct Ended: Error {}

    private let process = Process()
    private let output = Pipe()
    /// What it has printed at its start, by the words before the colon.
    public private(set) var printed: [String: String] = [:]

    /// The directory of the programs that were built with this one.
    public static var programs: URL {
        #if canImport(Darwin)
            let own = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
            return (bundle ?? own).deletingLastPathComponent()
        #else
            return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        #endif
    }

    /// Starts a server, and returns once it has said where it listens.
    ///
    /// - Parameters:
    ///   - prefix: The command that runs it, if it does not run by itself.
    ///   - directory: Where it keeps everything; `nil` for memory.
    ///   - port: The port; 0 leaves it to the system.
    ///   - users: The users.
    ///   - more: More arguments.
    /// - Throws: An error if it ends before it listens.
    public init(
        prefix: [String] = [],
        directory: URL?,
        port: Int = 0,
        users: [String],
        _ more: [String] = []
    ) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        let program = Self.programs.appending(path: "record-server").path
        let place = directory.map { ["--directory", $0.path] } ?? []
        process.arguments =
            prefix + [program] + place + ["--port", "\(port)"] + users.flatMap { ["--user", $0] } + more
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

    /// Where it listens.
    public var url: URL {
        get throws {
            guard let url = printed["URL"].flatMap({ URL(string: $0) }) else { throw Ended() }
            return url
        }
    }

    /// Its process identifier.
    public var processID: Int32 { process.processIdentifier }

    /// Kills it without warning.
    public func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Asks it to end.
    ///
    /// - Parameter signal: The signal that asks.
    /// - Returns: Its exit code; `nil` if a signal ended it.
    public func terminate(by signal: Int32 = SIGTERM) -> Int32? {
        Foundation.kill(process.processIdentifier, signal)
        return waitUntilExit()
    }

    /// Waits until it has ended by itself, or because of a signal.
    ///
    /// - Returns: Its exit code; `nil` if a signal ended it.
    public func waitUntilExit() -> Int32? {
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
