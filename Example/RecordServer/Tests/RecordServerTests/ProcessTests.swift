import Foundation
import XCTest

/// The program itself: what it prints, how it stops, and what is there after it was killed.
final class ProcessTests: XCTestCase {
    private var directory = ""

    override func setUp() async throws {
        directory = NSTemporaryDirectory() + "record-server-" + UUID().uuidString
    }

    override func tearDown() async throws {
        if FileManager.default.fileExists(atPath: directory) {
            try FileManager.default.removeItem(atPath: directory)
        }
    }

    /// A running server, and what it printed.
    private struct Server {
        let process: Process
        let printed: [String: String]

        var port: Int { printed["URL"].flatMap { $0.split(separator: ":").last }.flatMap { Int($0) } ?? 0 }

        func query(_ user: String = "first") -> String {
            "?ckAPIToken=\(printed["API token"] ?? "")&ckWebAuthToken=\(printed["web-auth token of \(user)"] ?? "")"
        }

        /// Sends a body to an operation of the private database.
        func send(_ operation: String, _ body: String) async throws -> String {
            let connection = try RawConnection(port: port)
            let path = "/database/1/iCloud.local/development/private/\(operation)\(query())"
            let headers = "Host: localhost\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n"
            connection.send("POST \(path) HTTP/1.1\r\n\(headers)\r\n\(body)")
            return await connection.read().text
        }
    }

    /// The program, next to the test bundle.
    private static var executable: URL {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let tests = bundles.first ?? URL(filePath: CommandLine.arguments[0]).absoluteURL
        return tests.deletingLastPathComponent().appending(path: "record-server")
    }

    private func run(_ arguments: [String]) throws -> Server {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = ["--port", "0", "--user", "first", "--user", "second"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while !text.contains("token of second: ") || !text.hasSuffix("\n") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        var printed: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let colon = line.range(of: ": ") else { continue }
            printed[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
        }
        return Server(process: process, printed: printed)
    }

    private func expectSuccess(_ answer: String, line: UInt = #line) {
        XCTAssertTrue(answer.contains("200 OK"), answer, line: line)
    }

    private static let makeZone =
        #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
    private static let zone = #""zoneID":{"zoneName":"Notes"}"#

    func testBothSignalsStopItCleanlyEvenDuringAPoll() async throws {
        for signal in [SIGTERM, SIGINT] {
            let server = try run([])
            let create = try RawConnection(port: server.port)
            let path = "/device/1/iCloud.local/development/tokens/create\(server.query())"
            create.send(
                "POST \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            )
            let token =
                await create.read().text.components(separatedBy: #"courier\/"#).last?.prefix { $0 != "\"" }
                ?? ""
            let poll = try RawConnection(port: server.port)
            poll.send("GET /courier/\(token) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // Another request on the same connection loop shows that the poll has arrived.
            try await expectSuccess(server.send("zones/list", "{}"))
            let start = Date()
            kill(server.process.processIdentifier, signal)
            server.process.waitUntilExit()
            XCTAssertEqual(server.process.terminationReason, .exit, "\(signal)")
            XCTAssertEqual(server.process.terminationStatus, 0, "\(signal)")
            XCTAssertLessThan(Date().timeIntervalSince(start), 10, "\(signal)")
        }
    }

    func testWhatWasAcknowledgedIsThereAfterAKillAndTokensStayGood() async throws {
        var acknowledged: [String] = []
        var tokens: Set<String> = []
        for round in 0..<4 {
            let server = try run(["--directory", directory])
            tokens.insert(server.query())
            try await expectSuccess(server.send("zones/modify", Self.makeZone))
            for number in 0..<5 {
                let name = "r\(round)-\(number)"
                let record = #"{"recordName":"\#(name)","recordType":"Note"}"#
                let operation = #"{"operationType":"create","record":\#(record)}"#
                let answer = try await server.send(
                    "records/modify",
                    #"{\#(Self.zone),"operations":[\#(operation)]}"#
                )
                if answer.contains("recordChangeTag") { acknowledged.append(name) }
            }
            kill(server.process.processIdentifier, SIGKILL)
            server.process.waitUntilExit()
        }
        XCTAssertEqual(tokens.count, 1)
        XCTAssertEqual(acknowledged.count, 20)
        let server = try run(["--directory", directory])
        let names = acknowledged.map { #"{"recordName":"\#($0)"}"# }.joined(separator: ",")
        let found = try await server.send("records/lookup", #"{\#(Self.zone),"records":[\#(names)]}"#)
        XCTAssertEqual(found.components(separatedBy: "recordChangeTag").count - 1, 20)
        XCTAssertFalse(found.contains("NOT_FOUND"))
        server.process.terminate()
        server.process.waitUntilExit()
    }

    func testItRefusesOptionsThatAreUnsafe() throws {
        for arguments in [
            ["--address", "0.0.0.0"],
            ["--address", "0.0.0.0", "--host-name", "a.example", "--api-token", "short"],
            ["--rotation", "never"], ["--environment", "staging"], ["--user", "first"],
            ["--tokens", "/nonexistent"],
        ] {
            let server = try run(arguments)
            server.process.waitUntilExit()
            XCTAssertNotEqual(server.process.terminationStatus, 0, "\(arguments)")
            XCTAssertEqual(server.printed, [:], "\(arguments)")
        }
    }
}
