import Foundation

/// One run: a server, four clients with a proxy each, half a minute of edits and faults, and then a minute at most until
/// all agree.
public final class FaultRun {
    /// How a run is made.
    public struct Options: Sendable {
        /// The seed of the faults' order.
        public var seed: UInt64
        /// The directory of the run's files.
        public var directory: URL
        /// How long there are edits and faults.
        public var duration = Duration.seconds(30)
        /// How long the clients may take to agree behind it.
        public var patience = Duration.seconds(60)
        /// The number of shared records.
        public var recordCount = 5
        /// Whether each host has a network namespace of its own, which needs the right to make them; else each client
        /// has a proxy.
        public var usesNamespaces = false

        /// Creates options.
        ///
        /// - Parameters:
        ///   - seed: The seed of the faults' order.
        ///   - directory: The directory of the run's files.
        public init(seed: UInt64, directory: URL) {
            self.seed = seed
            self.directory = directory
        }
    }

    /// How a run has ended.
    public struct Outcome: Sendable {
        /// What is wrong; empty if every promise was kept.
        public var violations: [String]
        /// How many calls were acknowledged.
        public var acknowledged: Int
        /// How many faults there were.
        public var faults: Int
        /// How long it took behind the faults until all agreed; `nil` if they did not.
        public var agreement: Duration?
    }

    private let options: Options
    private let network: any FaultNetwork
    private var server: ServerProcess
    private let port: Int
    private var clients: [ClientProcess] = []
    private var plan: FaultPlan
    private let timeline: LineFile
    private var clockErrors = [Double](repeating: 0, count: Entry.clientCount)

    /// Starts the server.
    ///
    /// - Parameter options: How the run is made.
    /// - Throws: An error if the server can't be started.
    public init(_ options: Options) throws {
        self.options = options
        plan = FaultPlan(seed: options.seed)
        if FileManager.default.fileExists(atPath: options.directory.path) {
            try FileManager.default.removeItem(at: options.directory)
        }
        try FileManager.default.createDirectory(at: options.directory, withIntermediateDirectories: true)
        timeline = try LineFile(options.directory.appending(path: "timeline.log"))
        network =
            options.usesNamespaces
            ? try NamespaceNetwork() : ProxyNetwork()
        server = try Self.startServer(options, 0, on: network)
        port = try server.url.port ?? 0
    }

    private static func startServer(
        _ options: Options,
        _ port: Int,
        on network: any FaultNetwork
    ) throws -> ServerProcess {
        try ServerProcess(
            prefix: network.serverPrefix,
            directory: serverDirectory(options),
            port: port,
            users: ["user"]
        )
    }

    private static func serverDirectory(_ options: Options) -> URL {
        options.directory.appending(path: "server")
    }

    /// Runs everything, and ends all processes.
    ///
    /// - Returns: How it has ended.
    /// - Throws: An error if the run can't be made.
    public func run() async throws -> Outcome {
        try await startClients()
        for client in clients { try client.tell("go") }
        let faults = try await act()
        let healed = ContinuousClock.now
        note("healed")
        let agreed = try await waitForAgreement(from: healed)
        let quiet = if agreed == nil { nil as String? } else { try await editInQuiet() }
        var evidence = RunEvidence(
            logs: try clients.map { try $0.log() },
            dumps: try clients.map { try $0.dump() },
            server: try await serverItems()
        )
        for client in clients { evidence.surprises += try client.finish() }
        if server.terminate() != 0 { evidence.surprises.append("the server did not end by itself") }
        try await network.close()
        var violations = evidence.violations()
        if agreed == nil { violations.insert("no agreement within \(options.patience)", at: 0) }
        if let quiet { violations.insert(quiet, at: 0) }
        return Outcome(
            violations: violations,
            acknowledged: evidence.logs.flatMap(\.attempts).filter { $0.done != nil }.count,
            faults: faults,
            agreement: agreed.map { healed.duration(to: $0) }
        )
    }

    /// Whether this process may make network namespaces.
    public static var canUseNamespaces: Bool { NamespaceNetwork.isAvailable }

    private func note(_ text: String) { timeline.write("\(ClientLogFile.now) \(text)") }

    // MARK: Clients

    private var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["FAULT_TEST_API_TOKEN"] = server.printed["API token"]
        environment["FAULT_TEST_WEB_TOKEN"] = server.printed["web-auth token of user"]
        return environment
    }

    private func startClients() async throws {
        let program = ServerProcess.programs.appending(path: "fault-test").path
        for place in 0..<Entry.clientCount {
            let address = try await network.connect(place, toPort: port)
            let directory = options.directory.appending(path: "client-\(place)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let client = ClientProcess(
                place: place,
                directory: directory,
                arguments: network.clientPrefix(place) + [
                    program, "client", "--place", "\(place)", "--directory", directory.path,
                    "--server", address.absoluteString, "--records", "\(options.recordCount)",
                ],
                environment: environment
            )
            clients.append(client)
            try client.start(clockError: 0)
        }
        let end = ContinuousClock.now + options.patience
        while !clients.allSatisfy(\.isReady) {
            if ContinuousClock.now > end { throw FaultRunError("The clients did not get ready.") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    // MARK: Faults

    /// Makes faults until the time is over, and mends them all.
    private func act() async throws -> Int {
        let begin = ContinuousClock.now
        var (ends, count): ([(at: ContinuousClock.Instant, act: FaultPlan.Fault)], Int) = ([], 0)
        var next = begin
        while true {
            let now = ContinuousClock.now
            for end in ends where end.at <= now { try mend(end.act) }
            ends.removeAll { $0.at <= now }
            if now >= begin + options.duration { break }
            if now >= next {
                let (fault, duration, pause) = plan.next()
                try make(fault)
                count += 1
                ends.append((now + duration, fault))
                next = now + pause
            }
            let wake = min(ends.map(\.at).min() ?? next, next, begin + options.duration)
            try await Task.sleep(until: wake, clock: .continuous)
        }
        for end in ends { try mend(end.act) }
        return count
    }

    private func make(_ fault: FaultPlan.Fault) throws {
        note("begin \(fault)")
        switch fault {
        case .cut(let place, let directions):
            for direction in directions { try network.set(place, direction, isCut: true) }
        case .stop(let place): clients[place].stop()
        case .killClient(let place):
            clients[place].kill()
        case .killServer: server.kill()
        case .wrongClock(let place, let seconds):
            clockErrors[place] = seconds
            try clients[place].tell("clock \(seconds)")
        }
    }

    private func mend(_ fault: FaultPlan.Fault) throws {
        note("end \(fault)")
        switch fault {
        case .cut(let place, let directions):
            for direction in directions { try network.set(place, direction, isCut: false) }
        case .stop(let place): clients[place].resume()
        case .killClient(let place):
            try clients[place].start(clockError: clockErrors[place])
            try clients[place].tell("go")
        case .killServer:
            server = try Self.startServer(options, port, on: network)
        case .wrongClock: break
        }
        plan.end(fault)
    }

    // MARK: The end

    /// Waits until all clients have sent everything and show what the server has.
    private func waitForAgreement(
        from begin: ContinuousClock.Instant
    ) async throws -> ContinuousClock.Instant? {
        for client in clients { try client.tell("heal") }
        while true {
            let dumps = try clients.map { try $0.dump() }
            if let first = dumps[0], first.pending == 0, dumps.allSatisfy({ $0 == first }),
                try await serverItems() == first.items
            {
                return .now
            }
            if ContinuousClock.now > begin + options.patience { return nil }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Restarts the server once all agree, and lets one client edit: most of its edits come before the others have asked
    /// for news again, so that only their failed polls tell them of it.
    ///
    /// - Returns: What is wrong; `nil` if all have heard of it.
    private func editInQuiet() async throws -> String? {
        let client = clients[plan.client()]
        let before = try client.acknowledgedCount()
        try make(.killServer)
        try mend(.killServer)
        try client.tell("go")
        let end = ContinuousClock.now + options.patience
        while try client.acknowledgedCount() == before {
            if ContinuousClock.now > end { return "client \(client.place) does not edit in quiet" }
            try await Task.sleep(for: .milliseconds(20))
        }
        try await Task.sleep(for: .seconds(1))
        // It shows nothing else until it has ended its last edit.
        try client.removeDump()
        if try await waitForAgreement(from: .now) != nil { return nil }
        return "no agreement on edits behind a restart of the server"
    }

    /// What the server has, read as a device that has just signed in, by a process where the server is.
    private func serverItems() async throws -> [ClientDump.Item] {
        let file = options.directory.appending(path: "server.json")
        let program = ServerProcess.programs.appending(path: "fault-test").path
        let reader = Process()
        reader.executableURL = URL(filePath: "/usr/bin/env")
        reader.arguments =
            network.serverPrefix + [
                program, "read", "--server", try server.url.absoluteString, "--file", file.path,
            ]
        reader.environment = environment
        try reader.run()
        reader.waitUntilExit()
        guard reader.terminationStatus == 0 else {
            throw FaultRunError("The server's records can't be read.")
        }
        return try JSONDecoder().decode([ClientDump.Item].self, from: Data(contentsOf: file))
    }
}

/// A run that could not be made.
public struct FaultRunError: Error, CustomStringConvertible {
    /// Why.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
