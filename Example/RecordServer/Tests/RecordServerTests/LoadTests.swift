#if os(Linux)
    import CodableSync
    import FaultTestKit
    import Foundation
    import RecordCoding
    import XCTest

    /// Large records, many records and many devices, on a server that is a process.
    ///
    /// `LOAD=1` in the environment runs the full sizes, which need an optimized build, and prints the figures:
    /// `LOAD=1 swift test -c release -Xswiftc -enable-testing --package-path Example/RecordServer --filter LoadTests`.
    final class LoadTests: XCTestCase {
        private static let isFull = ProcessInfo.processInfo.environment["LOAD"] != nil

        private static func size(_ full: Int, _ sample: Int) -> Int { isFull ? full : sample }

        private var directory = URL(filePath: "/")

        override func setUpWithError() throws {
            directory = FileManager.default.temporaryDirectory
                .appending(path: "LoadTests-\(UUID().uuidString)", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        }

        override func tearDownWithError() throws { try FileManager.default.removeItem(at: directory) }

        private func makeServer(_ users: [String]) throws -> ServerProcess {
            try ServerProcess(directory: directory.appending(path: "server"), users: users)
        }

        private func report(_ what: String, _ figures: [(String, Int)], since start: Date) {
            guard Self.isFull else { return }
            let seconds = String(format: "%.1f s", Date().timeIntervalSince(start))
            print("load: \(what): \(seconds), \(figures.map { "\($0.0) \($0.1)" }.joined(separator: ", "))")
        }

        func testLargeRecordsAreFetchedInBoundedMemory() async throws {
            let count = Self.size(200, 8)
            let server = try makeServer(["alice"])
            let (client, served) = (Memory(getpid()), Memory(server.processID))
            let phone = try await ServerDevice("phone", of: "alice", on: server.printed, in: directory)
            var start = Date()
            try client.resetPeak()
            for number in 0..<count {
                let text = String(repeating: "\(number % 10)", count: 990_000)
                try await phone.engine.upload(Page(id: "\(number)", text: text))
            }
            _ = try await phone.engine.sync()
            report(
                "\(count) records of 1 MB sent",
                [("client MB", try client.peak()), ("server MB", try served.peak())],
                since: start
            )
            try await phone.close()
            let tablet = try await ServerDevice("tablet", of: "alice", on: server.printed, in: directory)
            start = Date()
            try client.resetPeak()
            try served.resetPeak()
            let (clientBefore, serverBefore) = (try client.current(), try served.current())
            let summary = try await tablet.engine.sync()
            XCTAssertEqual(summary.fetched, count)
            let (clientPeak, serverPeak) = (try client.peak(), try served.peak())
            report(
                "\(count) records of 1 MB fetched",
                [
                    ("client MB", clientPeak), ("of which before", clientBefore), ("server MB", serverPeak),
                    ("of which before", serverBefore),
                ],
                since: start
            )
            for number in [0, count - 1] {
                let page = try await tablet.engine.model(named: "\(number)")
                XCTAssertEqual(page?.text.utf8.count, 990_000)
            }
            try await tablet.close()
            XCTAssertEqual(server.terminate(), 0)
            XCTAssertLessThan(clientPeak - clientBefore, 250, "the client's memory in MB")
            XCTAssertLessThan(serverPeak - serverBefore, 250, "the server's memory in MB")
        }

        func testManySmallRecordsComeInPagesOf200AndMemoryStaysFlat() async throws {
            let count = Self.size(20_000, 800)
            let server = try makeServer(["alice"])
            let (client, served) = (Memory(getpid()), Memory(server.processID))
            let device = try await ServerDevice("phone", of: "alice", on: server.printed, in: directory)
            let database = CloudKitWebDatabase.cloudKitWeb(device.session)
            let zoneID = ZoneID(zoneName: "Notes")
            _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])
            var start = Date()
            for first in stride(from: 0, to: count, by: 200) {
                let records = (first..<first + 200).map { number in
                    let id = RecordID(recordName: "\(number)", zoneID: zoneID)
                    return Record(
                        recordType: "Note",
                        recordID: id,
                        fields: ["n": .int64(Int64(number)), "text": "tea"]
                    )
                }
                let result = try await database.modifyRecords(
                    saving: records,
                    deleting: [],
                    savePolicy: .ifServerRecordUnchanged,
                    atomically: true
                )
                for case .failure(let error) in result.saveResults.values { throw error }
            }
            report("\(count) small records sent", [("server MB", try served.peak())], since: start)
            start = Date()
            try client.resetPeak()
            try served.resetPeak()
            var sizes: [Int] = []
            var token: ChangeToken?
            var (clientEarly, serverEarly) = (0, 0)
            while true {
                let page = try await database.recordZoneChanges(
                    inZoneWith: zoneID,
                    since: token,
                    desiredKeys: nil,
                    resultsLimit: nil
                )
                sizes.append(page.modifications.count)
                token = page.changeToken
                if sizes.count == count / 2000 + 1 {
                    (clientEarly, serverEarly) = (try client.peak(), try served.peak())
                }
                if !page.moreComing { break }
            }
            XCTAssertEqual(sizes.reduce(0, +), count)
            XCTAssertEqual(sizes.max(), 200)
            XCTAssertLessThanOrEqual(sizes.count, count / 200 + 1)
            let (clientPeak, serverPeak) = (try client.peak(), try served.peak())
            report(
                "\(count) small records fetched in \(sizes.count) pages",
                [
                    ("client MB", clientPeak), ("after a tenth", clientEarly), ("server MB", serverPeak),
                    ("after a tenth", serverEarly),
                ],
                since: start
            )
            try await device.close()
            XCTAssertEqual(server.terminate(), 0)
            XCTAssertLessThan(clientPeak - clientEarly, 20, "the client's memory in MB")
            XCTAssertLessThan(serverPeak - serverEarly, 20, "the server's memory in MB")
        }

        func testManyDevicesSendAndFetchAtOnce() async throws {
            let (devices, records) = (Self.size(50, 3), Self.size(1000, 50))
            let users = (0..<devices).map { "user\($0)" }
            let server = try makeServer(users)
            let served = Memory(server.processID)
            let answers = Answers()
            let start = Date()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for user in users {
                    let (directory, printed) = (directory, server.printed)
                    tasks.addTask {
                        let device = try await ServerDevice(
                            user,
                            of: user,
                            on: printed,
                            in: directory,
                            transport: CountingTransport(answers)
                        )
                        let pages = (0..<records).map { Page(id: "\($0)", text: "\(user) \($0)") }
                        try await device.engine.upload(pages)
                        let summary = try await device.engine.sync()
                        XCTAssertEqual(summary.pending + summary.parked, 0, user)
                        let pending = try await device.engine.pendingChanges()
                        XCTAssertEqual(pending.count, 0, user)
                        try await device.close()
                        // Another device of the user gets them all, and nobody else's.
                        let second = try await ServerDevice(
                            "\(user)-second",
                            of: user,
                            on: printed,
                            in: directory,
                            transport: CountingTransport(answers)
                        )
                        _ = try await second.engine.sync()
                        let found = try await second.engine.allModels()
                        XCTAssertEqual(Set(found.map(\.text)), Set(pages.map(\.text)), user)
                        try await second.close()
                    }
                }
                try await tasks.waitForAll()
            }
            let statuses = answers.statuses
            XCTAssertEqual(statuses[421], 2 * devices, "each sign-in asks where")
            XCTAssertEqual(statuses.keys.sorted(), [200, 421])
            let total = statuses.values.reduce(0, +)
            report(
                "\(devices) devices with \(records) records each, sent and fetched by another",
                [
                    ("requests", total), ("a second", Int(Double(total) / Date().timeIntervalSince(start))),
                    ("server MB", try served.peak()),
                ],
                since: start
            )
            XCTAssertEqual(server.terminate(), 0)
        }
    }

    /// The memory of a process, in MB.
    private struct Memory {
        private let path: String

        init(_ process: Int32) { path = "/proc/\(process)" }

        func peak() throws -> Int { try value("VmHWM") }
        func current() throws -> Int { try value("VmRSS") }

        /// Makes the current memory the peak.
        func resetPeak() throws {
            try "5".write(toFile: "\(path)/clear_refs", atomically: false, encoding: .utf8)
        }

        private func value(_ name: String) throws -> Int {
            let lines = try String(contentsOfFile: "\(path)/status", encoding: .utf8).split(separator: "\n")
            let line = try XCTUnwrap(lines.first { $0.hasPrefix("\(name):") })
            return try XCTUnwrap(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) / 1024
        }
    }

    /// The answers of all transports, by their status.
    private final class Answers: @unchecked Sendable {
        private let lock = NSLock()
        private var counts: [Int: Int] = [:]

        var statuses: [Int: Int] { lock.withLock { counts } }

        func count(_ status: Int) { lock.withLock { counts[status, default: 0] += 1 } }
    }

    /// Counts answers; those to polls are none.
    private struct CountingTransport: WebTransport {
        let answers: Answers
        private let transport = URLSessionTransport()

        init(_ answers: Answers) { self.answers = answers }

        func response(to request: WebTransportRequest) async throws(CloudError) -> WebTransportResponse {
            do throws(CloudError) {
                let response = try await transport.response(to: request)
                if !request.isLongPoll { answers.count(response.status) }
                return response
            } catch {
                if !request.isLongPoll { answers.count(0) }
                throw error
            }
        }
    }
#endif
