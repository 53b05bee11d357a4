import Foundation

/// A client of a run as a process, which is stopped, continued, killed and started again.
final class ClientProcess {
    let place: Int
    let directory: URL
    private let arguments: [String]
    private let environment: [String: String]
    private var process: Process?
    private var input: Pipe?
    /// Unexpected exits.
    private(set) var surprises: [String] = []

    init(place: Int, directory: URL, arguments: [String], environment: [String: String]) {
        self.place = place
        self.directory = directory
        self.arguments = arguments
        self.environment = environment
    }

    deinit { kill() }

    func url(_ file: FaultClient.File) -> URL { directory.appending(path: file.rawValue) }

    func start(clockError: Double) throws {
        let process = Process()
        let input = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments + ["--clock-error=\(clockError)"]
        process.environment = environment
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try errorFile()
        try process.run()
        self.process = process
        self.input = input
    }

    private var errors: URL { directory.appending(path: "stderr.log") }

    private func errorFile() throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: errors.path) { try Data().write(to: errors) }
        let file = try FileHandle(forWritingTo: errors)
        try file.seekToEnd()
        return file
    }

    func tell(_ command: String) throws {
        noteEnd()
        guard process != nil else { return }
        try input?.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
    }

    /// Whether the shared records are there.
    var isReady: Bool { FileManager.default.fileExists(atPath: url(.ready).path) }

    func stop() { signal(SIGSTOP) }
    func resume() { signal(SIGCONT) }

    /// Kills it without warning.
    func kill() {
        noteEnd()
        guard let process else { return }
        self.process = nil
        signal(SIGKILL, process)
        process.waitUntilExit()
    }

    private func signal(_ signal: Int32, _ other: Process? = nil) {
        guard let running = other ?? process, running.isRunning else { return }
        Foundation.kill(running.processIdentifier, signal)
    }

    /// Notes that the process has ended by itself.
    private func noteEnd() {
        guard let process, !process.isRunning else { return }
        self.process = nil
        let how = process.terminationReason == .exit ? "exit code" : "signal"
        surprises.append("client \(place) has ended with the \(how) \(process.terminationStatus)")
    }

    /// Ends it, and returns what was unexpected.
    func finish() throws -> [String] {
        try tell("quit")
        process?.waitUntilExit()
        if process?.terminationStatus == 0 { process = nil }
        noteEnd()
        for (name, file) in [("event", url(.surprises)), ("standard error", errors)] {
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            surprises += lines.map { "client \(place), \(name): \($0)" }
        }
        return surprises
    }

    /// What it shows now; `nil` if it has shown nothing yet.
    func dump() throws -> ClientDump? {
        guard FileManager.default.fileExists(atPath: url(.dump).path) else { return nil }
        return try JSONDecoder().decode(ClientDump.self, from: Data(contentsOf: url(.dump)))
    }

    /// Forgets what it has shown.
    func removeDump() throws {
        guard FileManager.default.fileExists(atPath: url(.dump).path) else { return }
        try FileManager.default.removeItem(at: url(.dump))
    }

    /// How many of its calls have returned.
    func acknowledgedCount() throws -> Int { try log().attempts.count { $0.done != nil } }

    func log() throws -> ClientLog { ClientLog(try String(contentsOf: url(.log), encoding: .utf8)) }
}
