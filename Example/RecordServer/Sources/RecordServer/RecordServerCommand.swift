import ArgumentParser
@_spi(Server) import CodableSync
import Foundation
import Hummingbird
import Logging
@_spi(Server) import RecordServerKit

/// Serves CloudKit Web Services until it gets SIGTERM or SIGINT.
@main
struct RecordServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record-server",
        abstract: "A server for CloudKit Web Services, to develop against.",
        discussion: """
            Fixed tokens come from a file that only you may read, such as
              {"apiToken": "…", "adminToken": "…", "webAuthTokens": {"first": "…"}}
            Without one, they are made of a key, which is kept in the directory.
            """
    )

    @Option(help: "Where everything is kept. Without it, everything is in memory.")
    var directory: String?
    @Option(help: "The address to listen on.")
    var address = "127.0.0.1"
    @Option(help: "The port to listen on; 0 leaves it to the system.")
    var port = 8080
    @Option(help: "A user; repeat it for more of them.")
    var user: [String] = ["first"]
    @Option(help: "The container.")
    var container = "iCloud.local"
    @Option(help: "The environment, development or production.")
    var environment = "development"
    @Option(help: "The API token. Others on this computer see arguments: use --tokens where that matters.")
    var apiToken: String?
    @Option(help: "A JSON file with fixed tokens, with permissions 600.")
    var tokens: String?
    @Option(help: "A URL to which a sign-in may return; repeat it for more of them.")
    var callback: [String] = []
    @Option(help: "Another name of the server in URLs; repeat it for more of them.")
    var hostName: [String] = []
    @Option(
        help:
            "What becomes of web-auth tokens: lenient (earlier ones stay good), strict (one request) or none."
    )
    var rotation = "lenient"
    @Option(
        help:
            "A server-to-server key for the public database, as ID=FILE; the file has the public key in PEM."
    )
    var serverKey: [String] = []
    @Option(help: "A form of answers that Apple's server may have, too; repeat it for more of them.")
    var answer: [AnswerForm] = []

    func run() async throws {
        let configuration = try makeConfiguration()
        try configuration.check()
        let storage = try directory.map { try ServerStorage.directory($0) } ?? .memory()
        // Standard output has what other programs read.
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        let server = try RecordServer(configuration, storage: storage.ledger, key: storage.key)
        try await server.application { port in print(configuration, server, port) }.runService()
        await storage.ledger.close()
    }

    private func makeConfiguration() throws -> ServerConfiguration {
        guard let rotation = ServerConfiguration.Rotation(rawValue: rotation) else {
            throw ValidationError("--rotation is lenient, strict or none.")
        }
        var configuration = ServerConfiguration(container: container, environment: environment, users: user)
        configuration.address = address
        configuration.port = port
        configuration.callbacks = callback
        configuration.hostNames = hostName
        configuration.rotation = rotation
        for key in serverKey { try add(key, to: &configuration) }
        for form in answer { form.apply(to: &configuration.answers) }
        if let tokens {
            let fixed = try FixedTokens(readingFrom: tokens)
            configuration.apiToken = fixed.apiToken
            configuration.adminToken = fixed.adminToken
            configuration.fixedTokens = fixed.webAuthTokens ?? [:]
        }
        if let token = apiToken ?? ProcessInfo.processInfo.environment["RECORD_SERVER_API_TOKEN"] {
            configuration.apiToken = token
        }
        return configuration
    }

    private func add(_ key: String, to configuration: inout ServerConfiguration) throws {
        let parts = key.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ValidationError("--server-key is ID=FILE.") }
        configuration.serverKeys[parts[0]] = try String(contentsOfFile: parts[1], encoding: .utf8)
    }

    private func print(_ configuration: ServerConfiguration, _ server: RecordServer, _ port: Int) {
        let host = configuration.hostNames.first ?? configuration.address
        var lines = [
            "URL: http://\(host.contains(":") ? "[\(host)]" : host):\(port)",
            "container: \(configuration.container), \(configuration.environment)",
            "API token: \(server.apiToken)",
            "admin token: \(server.adminToken)",
        ]
        lines += configuration.users.map { "web-auth token of \($0): \(server.webAuthToken(of: $0))" }
        FileHandle.standardOutput.write(Data((lines.joined(separator: "\n") + "\n").utf8))
    }
}
