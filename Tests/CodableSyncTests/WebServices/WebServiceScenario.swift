import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// Scenarios for engines on CloudKit Web Services, whose responses a test replaces as they arrive.
class WebServiceScenario: EngineScenario {
    private struct WebTestCloud: TestCloud {
        let session: CloudKitWebSession

        func connect() -> any CloudDatabase { CloudKitWebDatabase(session) }

        func close() async { await session.close() }
    }

    let transport = StubTransport(
        .all,
        service: RecordService(
            storage: LedgerMemory(CloudLedger(identifier: "web", options: .webServices), epoch: 1)
        )
    )
    private lazy var session = CloudKitWebSession(
        WebService(
            server: CloudKitWebSession.appleServer,
            container: "iCloud.com.example",
            environment: .development,
            apiToken: "api"
        ),
        path: "/session.json",
        fileSystem: MemoryFileSystem(),
        transport: transport,
        // It stands still, so that the session does not ask for news.
        clock: ManualClock(),
        renew: nil
    )

    override func setUp() async throws {
        try await super.setUp()
        try await session.signIn { [transport] _ in transport.signIn() }
    }

    override func makeCloud() throws -> any TestCloud { WebTestCloud(session: session) }

    /// Answers an operation with this instead; an empty name stands for all.
    func answer(
        _ operation: String,
        _ status: Int,
        _ text: String,
        _ headers: [String: String] = [:]
    ) {
        let response = WebTransportResponse(status: status, headers: headers, body: Data(text.utf8))
        transport.answer { request throws(CloudError) in
            request.url.path.hasSuffix(operation) ? response : nil
        }
    }

    func answerAsUsual() { transport.answer(instead: nil) }

    /// The operations of the requests so far, but for those of the session itself.
    var operations: [String] { transport.operations.filter { !$0.hasSuffix("tokens/create") } }

    func requests(_ operation: String) -> Int { transport.operations.count { $0 == operation } }
}
