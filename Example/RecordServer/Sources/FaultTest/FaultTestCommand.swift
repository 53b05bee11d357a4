import ArgumentParser
import FaultTestKit
import Foundation

/// Runs clients against a server under faults, and says what was lost.
@main
struct FaultTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault-test",
        abstract: "Four clients, a server, half a minute of faults; then everything must be there.",
        subcommands: [Run.self, Picture.self, Client.self, Read.self, Forward.self],
        defaultSubcommand: Run.self
    )
}

/// Makes runs, some at once.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes runs, and ends with 1 if one has an error."
    )

    @Option(help: "How many runs.")
    var runs = 1
    @Option(help: "The seed of the first run; each later one has the next.")
    var seed: UInt64 = .random(in: 1...1_000_000)
    @Option(help: "How many runs at once.")
    var jobs = 1
    @Option(help: "How many seconds of faults.")
    var seconds = 30
    @Option(help: "Where the runs' files are kept; those of runs without an error are removed.")
    var directory = "fault-test-runs"
    @Option(help: "namespaces (each host has its own, by ip netns), proxies (on loopback), or auto.")
    var network = "auto"
    @Flag(help: "Keep the files of all runs.")
    var keep = false
    @Flag(help: "Start no more runs behind the first that has an error.")
    var untilError = false

    func run() async throws {
        let directory = URL(filePath: directory, directoryHint: .isDirectory)
        guard ["auto", "namespaces", "proxies"].contains(network) else {
            throw ValidationError("--network is namespaces, proxies or auto.")
        }
        let isNamespaced = network == "namespaces" || (network == "auto" && FaultRun.canUseNamespaces)
        say("network: \(isNamespaced ? "a namespace for each host" : "a proxy for each client")")
        var (failed, next) = (0, seed)
        let end = seed + UInt64(max(runs, 0))
        await withTaskGroup(of: Bool.self) { group in
            var isFull = 0
            while true {
                while next < end, isFull < max(jobs, 1), failed == 0 || !untilError {
                    let seed = next
                    group.addTask {
                        await run(seed, in: directory.appending(path: "run-\(seed)"), isNamespaced)
                    }
                    next += 1
                    isFull += 1
                }
                if isFull == 0 { break }
                if await group.next() == false { failed += 1 }
                isFull -= 1
            }
        }
        say("\(next - seed) runs, \(failed) with errors")
        if failed > 0 { throw ExitCode(1) }
    }

    /// Prints a line at once, also into a file.
    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Makes a run, and says how it has ended.
    private func run(_ seed: UInt64, in directory: URL, _ isNamespaced: Bool) async -> Bool {
        do {
            var options = FaultRun.Options(seed: seed, directory: directory)
            options.duration = .seconds(seconds)
            options.usesNamespaces = isNamespaced
            let outcome = try await FaultRun(options).run()
            let agreement = outcome.agreement.map {
                "agreed after \($0.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1))))"
            }
            var lines = [
                "run \(seed): \(outcome.acknowledged) changes, \(outcome.faults) faults, \(agreement ?? "no agreement"), "
                    + "\(outcome.violations.count) errors"
            ]
            lines += outcome.violations.prefix(20).map { "  \($0)" }
            if !outcome.violations.isEmpty {
                lines.append("  files: \(directory.path)")
            } else if !keep {
                try FileManager.default.removeItem(at: directory)
            }
            // At once, since other runs may end at the same time.
            say(lines.joined(separator: "\n"))
            return outcome.violations.isEmpty
        } catch {
            say("run \(seed): \(error); files: \(directory.path)")
            return false
        }
    }
}

/// Draws a run that was kept.
struct Picture: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draws a run as SVG: who was cut off when, and how far each client was behind."
    )

    @Argument(help: "The directory of a run.")
    var directory: String

    func run() throws {
        print(try RunPicture(of: URL(filePath: directory, directoryHint: .isDirectory)).svg, terminator: "")
    }
}

/// One client, which a run starts.
struct Client: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "One client of a run, which starts it.",
        discussion: "Tokens come from FAULT_TEST_API_TOKEN and FAULT_TEST_WEB_TOKEN.",
        shouldDisplay: false
    )

    @Option var place: Int
    @Option var directory: String
    @Option var server: String
    @Option var records: Int
    @Option var clockError: Double

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let server = URL(string: server) else { throw ValidationError("--server is no URL.") }
        let client = FaultClient(
            place: place,
            directory: URL(filePath: directory, directoryHint: .isDirectory),
            server: server,
            apiToken: environment["FAULT_TEST_API_TOKEN"] ?? "",
            webToken: environment["FAULT_TEST_WEB_TOKEN"] ?? "",
            clockError: clockError,
            recordCount: records
        )
        do {
            try await client.run()
        } catch {
            FileHandle.standardError.write(Data("\(String(reflecting: error))\n".utf8))
            throw ExitCode(1)
        }
    }
}

/// Reads a server's records, for a run.
struct Read: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads a server's records.",
        shouldDisplay: false
    )

    @Option var server: String
    @Option var file: String

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let server = URL(string: server) else { throw ValidationError("--server is no URL.") }
        try await ServerReader(
            server: server,
            apiToken: environment["FAULT_TEST_API_TOKEN"] ?? "",
            webToken: environment["FAULT_TEST_WEB_TOKEN"] ?? ""
        ).read(to: URL(filePath: file))
    }
}

/// Passes connections on, for a run.
struct Forward: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Passes connections on.", shouldDisplay: false)

    @Option var from: String
    @Option var to: String

    func run() async throws {
        try await FaultProxy.forward(from: from, to: to)
    }
}
