import CodableSync
import Foundation
import RecordCoding
import XCTest

/// A model for servers.
struct Page: RecordCodable, Equatable {
    var id: String
    var text: String
    var note: String?
    var color: String?
    var recordName: String { id }

    static func resolveConflict(_ conflict: Conflict<Page>) throws -> Page? { try conflict.merged() }
}

/// A device that uses a server: a directory, a session and an engine.
final class ServerDevice: Sendable {
    let name: String
    let session: CloudKitWebSession
    let engine: SyncEngine<Page>

    /// Creates a device.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - user: Its user.
    ///   - printed: What the server has printed.
    ///   - directory: Where its directory is made.
    ///   - transport: Sends its requests.
    ///   - automaticallySyncs: Whether its engine makes requests by itself.
    /// - Throws: An error if the server does not answer.
    init(
        _ name: String,
        of user: String,
        on printed: [String: String],
        in directory: URL,
        transport: any WebTransport = URLSessionTransport(),
        automaticallySyncs: Bool = true
    ) async throws {
        self.name = name
        let home = directory.appending(path: name, directoryHint: .isDirectory)
        session = CloudKitWebSession(
            container: "iCloud.local",
            apiToken: try XCTUnwrap(printed["API token"]),
            server: try XCTUnwrap(printed["URL"].flatMap { URL(string: $0) }),
            file: home.appending(path: "session.json"),
            transport: transport
        )
        let token = try XCTUnwrap(printed["web-auth token of \(user)"])
        if try await session.needsSignIn { try await session.signIn { _ in token } }
        var configuration = SyncConfiguration()
        configuration.storage = .directory(home.appending(path: "state"))
        configuration.automaticallySyncs = automaticallySyncs
        engine = SyncEngine(database: .cloudKitWeb(session), configuration: configuration)
    }

    func close() async throws {
        try await engine.close()
        await session.close()
    }

    /// Waits until the engine has sent everything by itself.
    func waitUntilSent(within seconds: Double) async throws {
        let end = Date(timeIntervalSinceNow: seconds)
        while try await !engine.pendingChanges().isEmpty {
            if Date() > end { return XCTFail("not sent within \(seconds) seconds") }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
