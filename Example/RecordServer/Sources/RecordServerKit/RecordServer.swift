@_spi(Server) public import CodableSync
import Foundation
import HTTPTypes
public import Hummingbird
public import Logging
import NIOCore
import ServiceLifecycle

/// A server for CloudKit Web Services over a ledger, to develop against.
///
/// ```swift
/// let configuration = ServerConfiguration(container: "iCloud.com.example.notes", users: ["first", "second"])
/// let server = try RecordServer(configuration, storage: storage, key: key)
/// try await server.application { port in print(port) }.runService()
/// await storage.close()
/// ```
public struct RecordServer: Sendable {
    private let configuration: ServerConfiguration
    private let storage: any LedgerStorage
    private let tokens: SessionTokens
    private let keys: ServerKeys
    private let logger: Logger

    /// The API token, which clients send with each request.
    public let apiToken: String
    /// The administrator's token.
    public let adminToken: String

    /// Creates a server; it listens once its application runs.
    ///
    /// - Parameters:
    ///   - configuration: What it serves.
    ///   - storage: The ledger, made with `LedgerOptions.webServices`.
    ///   - key: The secret of which tokens are made; with another one, all are unknown.
    ///   - logger: Gets a line for each request, without names and tokens.
    /// - Throws: ``ServerError`` for a configuration that is unsafe or unusable.
    @_spi(Server) public init(
        _ configuration: ServerConfiguration,
        storage: any LedgerStorage,
        key: [UInt8],
        logger: Logger = Logger(label: "record-server")
    ) throws(ServerError) {
        try configuration.check()
        self.configuration = configuration
        self.storage = storage
        self.logger = logger
        keys = try ServerKeys(configuration.serverKeys)
        tokens = SessionTokens(key: key, configuration)
        apiToken = configuration.apiToken ?? tokens.secret("API token")
        adminToken = configuration.adminToken ?? tokens.secret("administrator")
    }

    /// The web-auth token of a user, which is the same after a restart.
    ///
    /// - Parameter user: The user.
    /// - Returns: The fixed token, or the first of a session.
    public func webAuthToken(of user: String) -> String {
        configuration.fixedTokens[user] ?? tokens.begin(for: user, named: "printed")
    }

    /// Makes the application that serves requests.
    ///
    /// - Parameter onRunning: Called with the port once the server listens.
    /// - Returns: The application.
    public func application(
        onRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let courier = Courier(storage, configuration)
        let news = ServerNews()
        let limits = configuration.limits
        return Application(
            router: router(courier, news),
            server: .http1(
                configuration: .init(additionalChannelHandlers: [RequestDeadline(limits), HostConflict()])
            ),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.address, port: configuration.port),
                availableConnectionsDelegate: .maximum(limits.connections, logger: logger)
            ),
            services: [
                CourierService(courier: courier, directory: storage as? LedgerDirectory),
                NewsService(news: news, storage: storage),
            ],
            onServerRunning: { await onRunning($0.localAddress?.port ?? 0) },
            logger: logger
        )
    }

    func router(_ courier: Courier, _ news: ServerNews) -> Router<ServerContext> {
        let router = Router(context: ServerContext.self)
        router.add(middleware: RequestLog(logger: logger, news: news))
        router.add(middleware: HostCheck(configuration))
        router.add(middleware: EncodingCheck())
        router.add(middleware: CommonHeaders())
        router.get("/health") { _, _ in "ok\n" }
        let authenticator = Authenticator(configuration, tokens, keys, apiToken: apiToken)
        let faults = Faults()
        let service = RecordService(storage: storage, options: configuration.answers)
        DatabaseRoutes(
            authenticator: authenticator,
            service: service,
            faults: faults,
            limits: configuration.limits
        ).add(to: router)
        DeviceRoutes(authenticator: authenticator, courier: courier, limits: configuration.limits)
            .add(to: router)
        SignInRoutes(
            configuration: configuration.withoutTokens,
            tokens: tokens,
            adminToken: SecretDigest(adminToken)
        ).add(to: router)
        let access = DashboardAccess(
            configuration,
            adminToken: adminToken,
            secret: tokens.secret("dashboard")
        )
        DashboardRoutes(
            configuration: configuration.withoutTokens,
            access: access,
            service: service,
            news: news,
            histories: RecordHistories(storage, service)
        ).add(to: router)
        AdminRoutes(
            configuration: configuration.withoutTokens,
            access: access,
            faults: faults,
            storage: storage
        ).add(to: router)
        return router
    }
}

/// Tells the dashboard what changes as long as the server runs.
private struct NewsService: Service {
    let news: ServerNews
    let storage: any LedgerStorage

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await change in storage.changes { await news.noteChange(of: change.user) }
        }
    }
}

/// Delivers notifications as long as the server runs.
private struct CourierService: Service {
    let courier: Courier
    /// What other processes may change, too.
    let directory: LedgerDirectory?

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await courier.deliverChanges() }
                if let directory { tasks.addTask { await courier.deliverChanges(byOthersIn: directory) } }
            }
        }
    }
}

/// The headers of each answer.
private struct CommonHeaders: RouterMiddleware {
    func handle(
        _ request: Request,
        context: ServerContext,
        next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[.requestID] = UUID().uuidString
        response.headers[.version] = "1.0"
        response.headers[.recordServer] = "1"
        return response
    }
}
