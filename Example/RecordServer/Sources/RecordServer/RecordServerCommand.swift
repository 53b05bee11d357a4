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
            It prints its URL and tokens, and runs until it gets SIGTERM or SIGINT.

            Fixed tokens come from a file that only you may read, such as
              {"apiToken": "…", "adminToken": "…", "webAuthTokens": {"first": "…"}}
            Without one, they are made of a key, which is kept in the directory.
            """,
        subcommands: [Backup.self]
    )

    @Option(
        help: ArgumentHelp(
            "Keeps records and the key of the tokens in this directory, which is created if it is missing. "
                + "Without it, everything is in memory and ends with the server.",
            valueName: "dir"
        )
    )
    var directory: String?
    @Option(help: "The address to listen on. 0.0.0.0 is reached by other computers; see --host-name.")
    var address = "127.0.0.1"
    @Option(help: "The port to listen on; 0 leaves it to the system.")
    var port = 8080
    @Option(
        help: ArgumentHelp("The user record name of a user; repeat it for more users.", valueName: "name")
    )
    var user: [String] = ["first"]
    @Option(help: "The container.")
    var container = "iCloud.local"
    @Option(help: "The environment, development or production.")
    var environment = "development"
    @Option(
        help: ArgumentHelp(
            "The API token; without it, RECORD_SERVER_API_TOKEN of the environment, that of --tokens, or one "
                + "made of the key. Others on this computer see arguments: use --tokens where that matters.",
            valueName: "token"
        )
    )
    var apiToken: String?
    @Option(
        help: ArgumentHelp(
            "A JSON file with fixed tokens, see above; it needs permissions 600.",
            valueName: "file"
        )
    )
    var tokens: String?
    @Option(
        help: ArgumentHelp(
            "A URL to which a sign-in may return; repeat it for more URLs. Without one, the page shows the token.",
            valueName: "url"
        )
    )
    var callback: [String] = []
    @Option(
        help: ArgumentHelp(
            "A name of the server in URLs, besides localhost, 127.0.0.1 and [::1]; repeat it for more names.",
            valueName: "name"
        )
    )
    var hostName: [String] = []
    @Option(
        help: ArgumentHelp(
            "Where a proxy with TLS makes the server reachable, such as https://cloud.example.org. "
                + "A sign-in then needs the admin token.",
            valueName: "url"
        )
    )
    var publicUrl: String?
    @Option(help: "What becomes of web-auth tokens.")
    var rotation = ServerConfiguration.Rotation.lenient
    @Option(
        help: ArgumentHelp(
            "A server-to-server key for the public database: its ID and a file with the public P-256 key in PEM; "
                + "repeat it for more keys.",
            valueName: "id=file"
        )
    )
    var serverKey: [String] = []
    @Flag(
        help:
            "Allow changes on the dashboard: faults to switch on and off. Prints the link with the token that it needs."
    )
    var admin = false
    @Option(
        help: ArgumentHelp(
            "Answers in a form that Apple's server may have, too; repeat it for more forms. "
                + "The README says what is answered without it.",
            valueName: "form"
        )
    )
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
        var configuration = ServerConfiguration(container: container, environment: environment, users: user)
        configuration.address = address
        configuration.port = port
        configuration.callbacks = callback
        configuration.hostNames = hostName
        configuration.publicURL = try publicUrl.map { try PublicURL($0) }
        configuration.rotation = rotation
        configuration.allowsChangesOnDashboard = admin
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
        let own = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        var lines = [
            "URL: \(configuration.publicURL?.origin ?? own)",
            "container: \(configuration.container), \(configuration.environment)",
            "API token: \(server.apiToken)",
            "admin token: \(server.adminToken)",
        ]
        if configuration.allowsChangesOnDashboard {
            // A fragment stays in the browser.
            lines.append("dashboard: \(configuration.publicURL?.origin ?? own)/#admin=\(server.adminToken)")
        }
        if configuration.publicURL != nil { lines.insert("behind the proxy: \(own)", at: 1) }
        lines += configuration.users.map { "web-auth token of \($0): \(server.webAuthToken(of: $0))" }
        FileHandle.standardOutput.write(Data((lines.joined(separator: "\n") + "\n").utf8))
    }
}

extension ServerConfiguration.Rotation: ExpressibleByArgument {
    /// What the help says about each value.
    public static let allValueDescriptions = [
        lenient.rawValue: "each answer has the next one, and earlier ones stay good",
        strict.rawValue: "each answer has the next one, and each is good for one request",
        none.rawValue: "they stay the same",
    ]
}
