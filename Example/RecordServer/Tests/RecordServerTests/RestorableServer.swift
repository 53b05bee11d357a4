import CodableSync
import FaultTestKit
import Foundation
import XCTest

/// A record server as a process, whose directory can be put back to an earlier copy.
final class RestorableServer {
    /// How the files of a copy replace the current ones.
    enum Manner: String, CaseIterable {
        /// The server is killed, and started again on the copy.
        case killed
        /// New files with the same names, as a backup program creates, while the server runs.
        case newFiles
        /// The same files with other contents, as `cp` does, while the server runs.
        case inPlace
    }

    private let directory: URL
    private let files: URL
    private var process: ServerProcess
    private var devices: [ServerDevice] = []
    private var count = 0

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appending(path: "RestorableServer-\(UUID().uuidString)", directoryHint: .isDirectory)
        files = directory.appending(path: "server", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        process = try ServerProcess(directory: files, users: ["alice"])
    }

    func close() async throws {
        for device in devices { try await device.close() }
        XCTAssertEqual(process.terminate(), 0)
        try FileManager.default.removeItem(at: directory)
    }

    // MARK: Devices

    /// Creates a device, which syncs only when it is told to.
    func makeDevice(transport: any WebTransport = URLSessionTransport()) async throws -> ServerDevice {
        count += 1
        return try await makeDevice("device-\(count)", transport)
    }

    private func makeDevice(_ name: String, _ transport: any WebTransport) async throws -> ServerDevice {
        let device = try await ServerDevice(
            name,
            of: "alice",
            on: process.printed,
            in: directory,
            transport: transport,
            automaticallySyncs: false
        )
        devices.append(device)
        return device
    }

    /// The device after its app was started again.
    func restart(_ device: ServerDevice) async throws -> ServerDevice {
        try await device.close()
        devices.removeAll { $0 === device }
        return try await makeDevice(device.name, URLSessionTransport())
    }

    /// Asserts that the devices have what a new one finds on the server, and returns it.
    @discardableResult
    func assertEqualEverywhere(
        _ devices: ServerDevice...,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws -> [Page] {
        let reader = try await makeDevice()
        _ = try await reader.engine.sync()
        let pages = try await reader.engine.allModels()
        for device in devices {
            let found = try await device.engine.allModels()
            XCTAssertEqual(found, pages, device.name, file: file, line: line)
        }
        return pages
    }

    // MARK: Files

    /// The paths and contents of the server's files.
    func backup() throws -> [String: Data] { try contents(of: files) }

    private func contents(of directory: URL) throws -> [String: Data] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
        var contents: [String: Data] = [:]
        for path in paths {
            let file = directory.appending(path: path)
            if try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
                contents[path] = try Data(contentsOf: file)
            }
        }
        return contents
    }

    /// The same by the command `backup`, while the server runs.
    func backupByCommand() throws -> [String: Data] {
        count += 1
        let copy = directory.appending(path: "backup-\(count)", directoryHint: .isDirectory)
        let result = try RecordServerProgram.run(["backup", copy.path, "--directory", files.path])
        XCTAssertEqual(result.status, 0, result.errors)
        return try contents(of: copy)
    }

    func restore(_ backup: [String: Data], _ manner: Manner) throws {
        if manner == .killed { process.kill() }
        for path in try self.backup().keys where backup[path] == nil {
            try FileManager.default.removeItem(at: files.appending(path: path))
        }
        for (path, data) in backup {
            let file = files.appending(path: path)
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try data.write(to: file, options: manner == .newFiles ? .atomic : [])
        }
        if manner == .killed { try start() }
    }

    /// Cuts a file to an earlier length, as a power failure does.
    func truncate(_ path: String, to count: Int) throws {
        process.kill()
        let file = try FileHandle(forWritingTo: files.appending(path: path))
        try file.truncate(atOffset: UInt64(count))
        try file.close()
        try start()
    }

    private func start() throws {
        let port = try XCTUnwrap(process.url.port)
        process = try ServerProcess(directory: files, port: port, users: ["alice"])
    }

    // MARK: Requests

    /// Sends a request as another program would.
    func send(_ operation: String, _ body: String) async throws {
        let api = try XCTUnwrap(process.printed["API token"])
        let token = try XCTUnwrap(process.printed["web-auth token of alice"])
        let path = "/database/1/iCloud.local/development/private/\(operation)"
        let client = TestClient(port: try XCTUnwrap(process.url.port))
        let answer = try await client.post("\(path)?ckAPIToken=\(api)&ckWebAuthToken=\(token)", body)
        XCTAssertEqual(answer.status, 200, answer.text)
    }

    func delete(_ name: String) async throws {
        let operation = "{\"operationType\":\"forceDelete\",\"record\":{\"recordName\":\"\(name)\"}}"
        try await send("records/modify", "{\"zoneID\":{\"zoneName\":\"Page\"},\"operations\":[\(operation)]}")
    }

    func deleteZone() async throws {
        let zone = "{\"zoneID\":{\"zoneName\":\"Page\"}}"
        try await send("zones/modify", "{\"operations\":[{\"operationType\":\"delete\",\"zone\":\(zone)}]}")
    }
}

/// Scenarios with a server whose directory is put back to an earlier copy.
class RestoredServerScenario: XCTestCase {
    typealias Manner = RestorableServer.Manner

    func pages(_ prefix: String, _ count: Int) -> [Page] {
        (0..<count).map { Page(id: "\(prefix)\($0 + 1)", text: "\(prefix)\($0 + 1)") }
    }

    func withServer(_ body: (RestorableServer) async throws -> Void) async throws {
        let server = try RestorableServer()
        try await body(server)
        try await server.close()
    }

    /// Syncs devices in turn until nothing is left to do.
    func settle(_ devices: ServerDevice...) async throws {
        for _ in 0..<10 {
            var work = 0
            for device in devices {
                let summary = try await device.engine.sync()
                work += summary.sent + summary.deleted + summary.fetched + summary.conflictsResolved
            }
            if work == 0 { return }
        }
        XCTFail("The devices do not become idle.")
    }

    func texts(_ device: ServerDevice) async throws -> [String] {
        try await device.engine.allModels().map(\.text).sorted()
    }
}

/// Holds the second request for changes of a zone until it is released.
final class HeldFetch: WebTransport {
    private let base = URLSessionTransport()
    private let count = Counter()
    private let arrivals = AsyncStream<Void>.makeStream()
    private let releases = AsyncStream<Void>.makeStream()

    private actor Counter {
        private var value = 0

        func next() -> Int {
            value += 1
            return value
        }
    }

    func response(to request: WebTransportRequest) async throws(CloudError) -> WebTransportResponse {
        if request.url.path.hasSuffix("changes/zone"), await count.next() == 2 {
            arrivals.continuation.finish()
            for await _ in releases.stream {}
        }
        return try await base.response(to: request)
    }

    func arrived() async { for await _ in arrivals.stream {} }

    func release() { releases.continuation.finish() }
}
