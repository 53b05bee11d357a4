import Foundation
import XCTest

@testable import CodableSync

/// Sessions on a stub of the services, with their file in a temporary directory.
class CloudKitWebSessionScenario: XCTestCase {
    var files: TemporaryDirectory?
    let transport = StubTransport()
    let clock = ManualClock()

    var path: String { (files?.path ?? "/missing") + "/session.json" }
    let service = WebService(
        server: CloudKitWebSession.appleServer,
        container: "iCloud.com.example",
        environment: .development,
        apiToken: "api+token"
    )

    override func setUpWithError() throws {
        files = try TemporaryDirectory()
    }

    override func tearDownWithError() throws {
        try files?.remove()
    }

    func session(
        _ transport: StubTransport? = nil,
        fileSystem: any FileSystem = LocalFileSystem(),
        renew: CloudKitWebSession.SignIn? = nil
    ) -> CloudKitWebSession {
        CloudKitWebSession(
            service,
            path: path,
            fileSystem: fileSystem,
            transport: transport ?? self.transport,
            clock: clock,
            renew: renew
        )
    }

    /// A session of a user who has just signed in.
    func signedIn(renew: CloudKitWebSession.SignIn? = nil) async throws -> CloudKitWebSession {
        let session = session(renew: renew)
        try await session.signIn { [transport] _ in transport.signIn() }
        return session
    }

    static func ask(
        _ session: CloudKitWebSession,
        _ operation: String = "zones/list",
        isChange: Bool = false
    ) async throws -> WebAnswer {
        try await session.answer(to: WebRequest(operation, Array("{}".utf8), isChange: isChange))
    }

    static func call(
        _ session: CloudKitWebSession,
        _ operation: String = "zones/list",
        isChange: Bool = false
    ) -> Task<WebAnswer, any Error> {
        let request = WebRequest(operation, Array("{}".utf8), isChange: isChange)
        return Task { try await session.answer(to: request) }
    }

    static func error(
        file: StaticString = #filePath,
        line: UInt = #line,
        _ body: () async throws -> Void
    ) async -> CloudError? {
        do {
            try await body()
            XCTFail("nothing was thrown", file: file, line: line)
            return nil
        } catch {
            XCTAssertFalse("\(error)".contains("secret"), "\(error)", file: file, line: line)
            XCTAssertFalse("\(error)".contains("api+token"), "\(error)", file: file, line: line)
            return error as? CloudError
        }
    }

    var stored: WebTokens {
        get throws {
            let bytes = try Data(contentsOf: URL(filePath: path))
            return try WebTokens(file: Array(bytes), of: service.identifier)
        }
    }
}
