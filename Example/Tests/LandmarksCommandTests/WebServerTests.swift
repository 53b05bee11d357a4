import Foundation
import XCTest

@testable import LandmarksCommand

/// A server in place of a directory: its address, and where tokens come from.
final class WebServerTests: XCTestCase {
    private func environment(_ variables: [String: String]) -> Environment {
        Environment { name in variables[name].map { Array($0.utf8) } }
    }

    private func failure(_ text: String, _ variables: [String: String]) -> Failure? {
        do {
            _ = try WebServer(text, in: environment(variables))
            return nil
        } catch {
            return error as? Failure
        }
    }

    func testOnlyAnAddressIsAServer() throws {
        for text in ["cloud", "/cloud", "http", "https:/x", "ftp://x"] {
            XCTAssertNil(try WebServer(text, in: environment([:])), text)
        }
        let server = try WebServer("http://127.0.0.1:8080", in: environment(["LANDMARKS_API_TOKEN": "t"]))
        XCTAssertEqual(server?.url.absoluteString, "http://127.0.0.1:8080")
    }

    func testWhatIsWrongWithAServerIsSaidWithoutTokens() {
        let token = ["LANDMARKS_API_TOKEN": "secret"]
        for text in ["http://", "https://x?ckAPIToken=secret", "https://secret@x"] {
            XCTAssertEqual(failure(text, token)?.status, .usage, text)
        }
        XCTAssertTrue(failure("https://x", [:])?.message.contains("LANDMARKS_API_TOKEN_FILE") == true)
        let odd = failure("https://x", ["LANDMARKS_API_TOKEN": "secret", "LANDMARKS_ENVIRONMENT": "test"])
        XCTAssertEqual(odd?.message, "LANDMARKS_ENVIRONMENT is development or production, not 'test'")
        let missing = failure("https://x", ["LANDMARKS_API_TOKEN_FILE": "/nowhere/token"])
        XCTAssertEqual(missing?.status, .noInput)
    }

    func testATokenMayStandInAFile() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)")
        try Data("  t\n".utf8).write(to: file)
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: file)) }
        let variables = environment(["LANDMARKS_API_TOKEN_FILE": file.path])
        XCTAssertEqual(try variables.secret("LANDMARKS_API_TOKEN"), "t")
        XCTAssertNil(try variables.secret("LANDMARKS_WEB_TOKEN"))
    }
}
