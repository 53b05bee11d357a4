import ArgumentParser
@_spi(Server) import CodableSync
import FaultTestKit
import Foundation
@_spi(Server) import RecordServerKit
import XCTest

@testable import RecordServer

/// The program itself: how it stops, and what it refuses to serve.
final class ProcessTests: XCTestCase {
    private static let device = "/device/1/iCloud.local/development"

    func testBothSignalsStopItCleanlyEvenDuringAPoll() async throws {
        for signal in [SIGTERM, SIGINT] {
            let server = try ServerProcess(directory: nil, users: ["alice"])
            let client = TestClient(port: try XCTUnwrap(server.url.port))
            let api = try XCTUnwrap(server.printed["API token"])
            let token = try XCTUnwrap(server.printed["web-auth token of alice"])
            let query = "?ckAPIToken=\(api)&ckWebAuthToken=\(token)"
            let made = try await client.post("\(Self.device)/tokens/create\(query)")
            let url = try XCTUnwrap(made.member("webcourierURL"))
            let poll = try RawConnection(port: client.port)
            poll.send("GET \(try XCTUnwrap(URL(string: url)).path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // A later request was answered, so the poll has most likely arrived.
            let health = try await client.get("/health")
            XCTAssertEqual(health.text, "ok\n")
            let start = Date()
            XCTAssertEqual(server.terminate(by: signal), 0, "\(signal)")
            XCTAssertLessThan(Date().timeIntervalSince(start), 10, "\(signal)")
        }
    }

    func testWhatWasAcknowledgedBeforeASignalIsThereAfterwards() async throws {
        let path = "/database/1/iCloud.local/development/private"
        for signal in [SIGTERM, SIGINT] {
            let directory = FileManager.default.temporaryDirectory
                .appending(path: "ProcessTests-\(UUID().uuidString)", directoryHint: .isDirectory)
            defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: directory)) }
            var server = try ServerProcess(directory: directory, users: ["alice"])
            var client = TestClient(port: try XCTUnwrap(server.url.port))
            let api = try XCTUnwrap(server.printed["API token"])
            let token = try XCTUnwrap(server.printed["web-auth token of alice"])
            let query = "?ckAPIToken=\(api)&ckWebAuthToken=\(token)"
            let zone = "\"zoneID\":{\"zoneName\":\"Notes\"}"
            let create = "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\(zone)}}]}"
            let made = try await client.post("\(path)/zones/modify\(query)", create)
            XCTAssertEqual(made.status, 200, made.text)
            let saves = Acknowledgements(process: server.processID, signal: signal)
            await withTaskGroup { writers in
                for writer in 0..<4 {
                    writers.addTask { [client] in
                        for number in 0..<10_000 {
                            let name = "\(writer)-\(number)"
                            let record = "{\"recordName\":\"\(name)\",\"recordType\":\"Note\",\"fields\":{}}"
                            let save = "{\"operationType\":\"create\",\"record\":\(record)}"
                            let body = "{\(zone),\"operations\":[\(save)]}"
                            let target = "\(path)/records/modify\(query)"
                            do {
                                let text = try await client.sendRaw("POST", target, body)
                                guard text.contains("recordChangeTag") else { return }
                            } catch {
                                return
                            }
                            await saves.add(name)
                        }
                    }
                }
            }
            let signalled = await saves.signalled
            XCTAssertEqual(server.waitUntilExit(), 0, "\(signal)")
            let start = try XCTUnwrap(signalled, "the writers ended by themselves")
            XCTAssertLessThan(Date().timeIntervalSince(start), 10, "\(signal)")
            server = try ServerProcess(directory: directory, users: ["alice"])
            client = TestClient(port: try XCTUnwrap(server.url.port))
            for name in await saves.names {
                let body = "{\(zone),\"records\":[{\"recordName\":\"\(name)\"}]}"
                let found = try await client.post("\(path)/records/lookup\(query)", body)
                XCTAssertTrue(found.text.contains("recordChangeTag"), name)
            }
            XCTAssertEqual(server.terminate(), 0)
        }
    }

    func testAChangeByAnotherProcessIsNotified() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "ProcessTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: directory)) }
        let server = try ServerProcess(directory: directory, users: ["alice"])
        let client = TestClient(port: try XCTUnwrap(server.url.port))
        let api = try XCTUnwrap(server.printed["API token"])
        let token = try XCTUnwrap(server.printed["web-auth token of alice"])
        let query = "?ckAPIToken=\(api)&ckWebAuthToken=\(token)"
        let zone = "{\"zoneName\":\"Notes\"}"
        for (operation, item) in [
            ("zones", "\"zone\":{\"zoneID\":\(zone)}"),
            (
                "subscriptions",
                "\"subscription\":{\"subscriptionID\":\"s\",\"subscriptionType\":\"zone\",\"zoneID\":\(zone)}"
            ),
        ] {
            let path = "/database/1/iCloud.local/development/private/\(operation)/modify\(query)"
            let answer = try await client.post(
                path,
                "{\"operations\":[{\"operationType\":\"create\",\(item)}]}"
            )
            XCTAssertEqual(answer.status, 200, answer.text)
        }
        let made = try await client.post("\(Self.device)/tokens/create\(query)")
        let url = try XCTUnwrap(made.member("webcourierURL"))
        let poll = try RawConnection(port: client.port)
        poll.send("GET \(try XCTUnwrap(URL(string: url)).path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let other = LedgerDirectory(path: directory.appending(path: "cloud").path, options: .webServices)
        let id = RecordID(recordName: "r", zoneID: ZoneID(zoneName: "Notes"))
        let save = LedgerRequest.Operation.modifyRecords(
            saving: [Record(recordType: "Note", recordID: id)],
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: true
        )
        let saved = try await other.perform(LedgerRequest(user: "alice", operation: save), at: Date())
        XCTAssertFalse(saved.entries.isEmpty)
        let text = await poll.read(until: "}}").text
        XCTAssertTrue(text.contains("\"sid\":\"s\""), text)
        await other.close()
        XCTAssertEqual(server.terminate(), 0)
    }

    func testItRefusesOptionsThatAreUnsafe() throws {
        for arguments in [
            ["--address", "0.0.0.0"],
            ["--address", "0.0.0.0", "--host-name", "a.example", "--api-token", "short"],
            ["--rotation", "never"], ["--environment", "staging"], ["--user", "alice"],
            ["--user", "_developer"], ["--server-key", "id"], ["--server-key", "id=/nonexistent"],
            ["--server-key", "id=/dev/null"], ["--answer", "yes"],
            ["--tokens", "/nonexistent"], ["--public-url", "cloud.example.org"],
            ["--public-url", "https://cloud.example.org/path"],
            ["--public-url", "https://cloud.example.org", "--api-token", "short"],
        ] {
            XCTAssertThrowsError(
                try ServerProcess(directory: nil, users: ["alice"], arguments),
                "\(arguments)"
            )
        }
    }

    func testWithAProxyItPrintsThePublicURL() throws {
        let arguments = ["--public-url", "https://cloud.example.org/"]
        let server = try ServerProcess(directory: nil, users: ["alice"], arguments)
        XCTAssertEqual(server.printed["URL"], "https://cloud.example.org")
        XCTAssertEqual(server.printed["behind the proxy"]?.hasPrefix("http://127.0.0.1:"), true)
        XCTAssertEqual(server.terminate(), 0)
    }

    func testTheHelpExplainsEachFormOfAnswers() {
        let help = RecordServerCommand.helpMessage().split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        for form in AnswerForm.allCases {
            let explanation = AnswerForm.allValueDescriptions[form.rawValue] ?? ""
            XCTAssertGreaterThan(explanation.count, 10, form.rawValue)
            XCTAssertTrue(help.contains("\(form.rawValue) - \(explanation)"), form.rawValue)
        }
    }
}

/// What clients know to be saved; the server is asked to end in the middle.
private actor Acknowledgements {
    private let process: Int32
    private let signal: Int32
    private(set) var names: [String] = []
    /// When the server was asked to end.
    private(set) var signalled: Date?

    init(process: Int32, signal: Int32) {
        self.process = process
        self.signal = signal
    }

    func add(_ name: String) {
        names.append(name)
        guard names.count == 40 else { return }
        signalled = Date()
        kill(process, signal)
    }
}
