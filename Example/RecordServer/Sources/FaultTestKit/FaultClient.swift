import CodableSync
import Foundation
import RecordCoding

/// One client of a run, in a process of its own: edits as fast as it may until it is told to stop.
///
/// It reads commands from its standard input: `go` begins the edits, `heal` ends them, `clock SECONDS` moves the wall
/// clock, `quit` ends the process. Its directory has the log of its calls, a file of surprises, the engine's state, and at
/// the end a dump of what it shows.
public struct FaultClient: Sendable {
    /// The names of a client's files.
    enum File: String {
        case log = "calls.log"
        case surprises = "surprises.log"
        case progress = "progress.log"
        case dump = "dump.json"
        case ready
    }

    /// The client's place, from 0.
    public var place: Int
    /// The directory of its files.
    public var directory: URL
    /// Where it reaches the server.
    public var server: URL
    /// The container's API token.
    public var apiToken: String
    /// The user's token for the first sign-in.
    public var webToken: String
    /// How wrong the wall clock is at the beginning, in seconds.
    public var clockError: Double
    /// The number of shared records.
    public var recordCount: Int

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - place: The client's place, from 0.
    ///   - directory: The directory of its files.
    ///   - server: Where it reaches the server.
    ///   - apiToken: The container's API token.
    ///   - webToken: The user's token for the first sign-in.
    ///   - clockError: How wrong the wall clock is at the beginning, in seconds.
    ///   - recordCount: The number of shared records.
    public init(
        place: Int,
        directory: URL,
        server: URL,
        apiToken: String,
        webToken: String,
        clockError: Double,
        recordCount: Int
    ) {
        self.place = place
        self.directory = directory
        self.server = server
        self.apiToken = apiToken
        self.webToken = webToken
        self.clockError = clockError
        self.recordCount = recordCount
    }

    private func url(_ file: File) -> URL { directory.appending(path: file.rawValue) }

    /// Runs until it is told to quit.
    ///
    /// - Throws: An error if it can't begin.
    public func run() async throws {
        let commands = FaultCommands()
        let clock = FastClock(error: clockError)
        let surprises = try LineFile(url(.surprises))
        let session = CloudKitWebSession(
            container: "iCloud.local",
            apiToken: apiToken,
            server: server,
            file: directory.appending(path: "session.json"),
            transport: HastyTransport()
        )
        while try await session.needsSignIn {
            do {
                try await session.signIn { _ in webToken }
            } catch {
                // A slow start of all programs at once; a client that never gets ready fails the run.
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        var configuration = SyncConfiguration()
        configuration.storage = .directory(directory.appending(path: "state"))
        configuration.clock = clock
        configuration.requestDeadline = FastClock.time(.seconds(5))
        // A minute of the clock is a second: whatever is fetched is fetched because of a notification.
        configuration.pollInterval = .seconds(86_400)
        configuration.logHandler = { event in
            if Self.isSurprise(event) { surprises.write("\(event)") }
        }
        let engine = SyncEngine<Entry>(database: .cloudKitWeb(session), configuration: configuration)
        if !FileManager.default.fileExists(atPath: url(.ready).path) { try await prepare(engine) }
        commands.listen { clock.setError($0) }
        let progress = Task { try await tellProgress(of: engine) }
        var work = FaultWork(place: place, recordCount: recordCount, log: try ClientLogFile(url(.log)))
        while commands.phase != .quit {
            switch commands.phase {
            case .waiting, .quit: try await Task.sleep(for: .milliseconds(5))
            case .editing:
                try await work.step(engine)
                try await Task.sleep(for: .milliseconds(.random(in: 1...40)))
            case .healing:
                try await dump(engine)
                try await Task.sleep(for: .milliseconds(250))
            }
        }
        progress.cancel()
        try await engine.close()
        await session.close()
    }

    /// Makes the shared records, or waits until another client has made them.
    private func prepare(_ engine: SyncEngine<Entry>) async throws {
        let names = (0..<recordCount).map { "shared-\($0)" }
        if place == 0 { try await engine.upload(names.map(Entry.init)) }
        while try await engine.models(named: names).count < recordCount {
            do {
                _ = try await engine.sync()
            } catch {
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        try Data().write(to: url(.ready))
    }

    /// Writes how many changes the client has seen, four times a second.
    private func tellProgress(of engine: SyncEngine<Entry>) async throws {
        let file = try LineFile(url(.progress))
        while !Task.isCancelled {
            let progress = try await engine.allModels().reduce(0) { $0 + $1.progress }
            file.write("\(ClientLogFile.now) \(progress)")
            try await Task.sleep(for: .milliseconds(250))
        }
    }

    private func dump(_ engine: SyncEngine<Entry>) async throws {
        let dump = ClientDump(pending: try await engine.pendingChanges().count, try await engine.allModels())
        try JSONEncoder().encode(dump).write(to: url(.dump), options: .atomic)
    }

    /// Whether an event is unexpected, whatever the faults of the run.
    private static func isSurprise(_ event: SyncEvent) -> Bool {
        switch event {
        case .parked, .undecodable, .unknownValue, .storageFailed, .stateRecovered, .zoneLost, .editOfDeleted,
            .accountSwitchFailed, .callRefused, .ignoredRecords, .dropped, .quotaExceeded:
            true
        case .accountChanged(let from, _): from != nil
        // A client deletes only what it has made, of which the response may have been lost.
        case .discarded(_, _, let reason): reason != .deletion
        default: false
        }
    }
}

/// What a client does in one step.
struct FaultWork {
    let place: Int
    let recordCount: Int
    let log: ClientLogFile
    private var numbers: [String: Int] = [:]
    private var elements = 0
    private var created = 0
    /// The client's records that it may delete.
    private var own: [String] = []

    /// Goes on where the log ends.
    init(place: Int, recordCount: Int, log: ClientLogFile) {
        self.place = place
        self.recordCount = recordCount
        self.log = log
        for attempt in log.log.attempts {
            switch attempt.call {
            case .set(let record, let number): numbers[record] = number
            case .add: elements += 1
            case .create(let record):
                created += 1
                if attempt.done != nil { own.append(record) }
            case .delete(let record): own.removeAll { $0 == record }
            }
        }
    }

    /// Makes one call.
    mutating func step(_ engine: SyncEngine<Entry>) async throws {
        let record = "shared-\(Int.random(in: 0..<recordCount))"
        let place = place
        switch Int.random(in: 0..<100) {
        case 0..<45:
            let number = (numbers[record] ?? 0) + 1
            numbers[record] = number
            try await log.run(.set(record: record, number: number)) {
                try await engine.edit(named: record) { $0[place] = number }
            }
        case 45..<75:
            elements += 1
            let element = "\(place)-\(elements)"
            try await log.run(.add(record: record, element: element)) {
                try await engine.edit(named: record) { $0.list.append(element) }
            }
        case 75..<90:
            created += 1
            let name = "own-\(place)-\(created)"
            try await log.run(.create(record: name)) { try await engine.upload(Entry(id: name)) }
            own.append(name)
        default:
            guard !own.isEmpty else { return }
            let name = own.remove(at: .random(in: own.indices))
            try await log.run(.delete(record: name)) { try await engine.delete(named: [name]) }
        }
    }
}
