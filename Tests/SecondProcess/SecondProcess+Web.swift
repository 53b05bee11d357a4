import CodableSync
import Foundation
import RecordCoding

extension SecondProcess {
    /// A client of web services; it does what each line of standard input says, and prints `= …` at the end of each.
    ///
    /// It also prints, in every way that there is, whatever it gets into its hands: the output must have no token in it.
    ///
    /// - Parameters:
    ///   - server: The address of the services. The first line of standard input is the API token.
    ///   - file: The session's file.
    ///   - seconds: How long a request may take.
    /// - Throws: An error of the session's file.
    static func web(_ server: String, file: String, seconds: String) async throws {
        guard let url = URL(string: server), let seconds = Int(seconds), let apiToken = readLine() else {
            return say(usage)
        }
        let session = CloudKitWebSession(
            container: "iCloud.com.example",
            apiToken: apiToken,
            server: url,
            file: URL(filePath: file),
            transport: PrintingTransport(timeout: .seconds(seconds))
        )
        let client = WebClient(database: .cloudKitWeb(session))
        let needsSignIn = try await session.needsSignIn
        printAll(session, client.database)
        say("= needsSignIn \(needsSignIn)")
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "save": say(await client.run(words[1]) { try await client.save(words[1]) })
            case "find": say(await client.run(words[1]) { try await client.find(words[1]) })
            case "reach": say(await client.run(words[1]) { await client.reach(words[1]) })
            case "saveAll":
                for number in 1... {
                    let name = "\(words[1])-\(number)"
                    say(await client.run(name) { try await client.save(name) })
                }
            case "usage": say("= usage \(try ProcessUsage.now)")
            default: say(usage)
            }
        }
        await session.close()
    }

    /// Prints values as apps, debuggers and loggers do.
    fileprivate static func printAll(_ values: Any...) {
        for value in values {
            print(value)
            debugPrint(value)
            dump(value)
            say("\(value) \(String(reflecting: value))")
            if let error = value as? any Error { say(error.localizedDescription) }
        }
        fflush(nil)
    }
}

/// Sends requests with another deadline.
private struct PrintingTransport: WebTransport {
    let timeout: Duration
    private let transport = URLSessionTransport()

    init(timeout: Duration) {
        self.timeout = timeout
    }

    func response(to request: WebTransportRequest) async throws(CloudError) -> WebTransportResponse {
        var request = request
        request.timeout = timeout
        SecondProcess.printAll(request, transport)
        do throws(CloudError) {
            let response = try await transport.response(to: request)
            SecondProcess.printAll(response, transport)
            return response
        } catch {
            SecondProcess.printAll(error, transport)
            throw error
        }
    }
}

/// What is asked of the services.
private struct WebClient {
    let database: CloudKitWebDatabase
    private let clock = ContinuousClock()

    init(database: CloudKitWebDatabase) {
        self.database = database
    }

    /// Does something, and says what came of it and after how many milliseconds.
    func run(_ name: String, _ body: () async throws -> Void) async -> String {
        let begin = clock.now
        var outcome = "done"
        do {
            try await body()
        } catch {
            SecondProcess.printAll(error)
            switch (error as? CloudError)?.code {
            case .unknown: outcome = "unknown"
            case let code?: outcome = code.name
            case nil: outcome = "\(type(of: error))"
            }
        }
        let time = begin.duration(to: clock.now)
        return "= \(name) \(outcome) \(Int(time / .milliseconds(1)))"
    }

    func save(_ name: String) async throws {
        let recordID = RecordID(recordName: name, zoneID: .default)
        let result = try await database.modifyRecords(
            saving: [Record(recordType: "Note", recordID: recordID, fields: ["text": .string("x")])],
            deleting: [],
            savePolicy: .allKeys,
            atomically: false
        )
        SecondProcess.printAll(result)
        _ = try result.saveResults[recordID]?.get()
    }

    /// Finds a record, however often it takes to ask.
    func reach(_ name: String) async {
        while true {
            do {
                return try await find(name)
            } catch {
                SecondProcess.printAll(error)
            }
        }
    }

    func find(_ name: String) async throws {
        let recordID = RecordID(recordName: name, zoneID: .default)
        let found = try await database.records(for: [recordID], desiredKeys: [])
        SecondProcess.printAll(found)
        _ = try found[recordID]?.get()
    }
}

/// What the process has used so far: milliseconds of processors and of a clock, and the most memory at once, in bytes.
private struct ProcessUsage: CustomStringConvertible {
    private var processors: Int
    private var clock: Int
    private var memory: Int

    static var now: ProcessUsage {
        get throws {
            var usage = rusage()
            #if canImport(Glibc)
                getrusage(RUSAGE_SELF.rawValue, &usage)
                // The system's `ru_maxrss` has the memory of the parent process in it.
                let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
                let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
                let memory = (line?.split(whereSeparator: \.isWhitespace)).flatMap { Int($0[1]) } ?? 1 << 40
                let bytes = memory << 10
            #else
                getrusage(RUSAGE_SELF, &usage)
                let bytes = usage.ru_maxrss
            #endif
            let times = [usage.ru_utime, usage.ru_stime]
            return ProcessUsage(
                processors: times.reduce(0) { $0 + Int($1.tv_sec) * 1000 + Int($1.tv_usec) / 1000 },
                clock: Int(ProcessInfo.processInfo.systemUptime * 1000),
                memory: bytes
            )
        }
    }

    var description: String { "\(processors) \(clock) \(memory)" }
}
