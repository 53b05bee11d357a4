import CodableSync
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
        for text in ["cloud", "/cloud", "http", "https:/x", "a:b", "C:", "cloud/a:1"] {
            XCTAssertNil(try WebServer(text, in: environment([:])), text)
        }
        for text in ["ftp://x", "htp://127.0.0.1:8080", "127.0.0.1:8080", "localhost:8080/"] {
            XCTAssertEqual(failure(text, [:])?.status, .usage, text)
        }
        let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString):80")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: directory)) }
        XCTAssertNil(try WebServer(directory.path, in: environment([:])))
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
        try permit(0o600, file)
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: file)) }
        let variables = environment(["LANDMARKS_API_TOKEN_FILE": file.path])
        XCTAssertEqual(try variables.secret("LANDMARKS_API_TOKEN"), "t")
        XCTAssertNil(try variables.secret("LANDMARKS_WEB_TOKEN"))
    }

    private func permit(_ mode: Int, _ file: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    /// What others may read, a link, what is too large, and what is no text.
    func testAFileThatIsNoSecretIsRefused() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: directory)) }
        let file = directory.appending(path: "token")
        func refusal(_ url: URL) -> String? {
            do {
                _ = try environment(["T_FILE": url.path]).secret("T")
                return nil
            } catch {
                return (error as? Failure)?.message
            }
        }
        try Data("t".utf8).write(to: file)
        try permit(0o640, file)
        XCTAssertTrue(refusal(file)?.contains("chmod 600") == true)
        try permit(0o600, file)
        XCTAssertNil(refusal(file))
        let link = directory.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        XCTAssertTrue(refusal(link)?.contains("symbolic link") == true)
        XCTAssertTrue(refusal(directory)?.contains("no file") == true)
        try Data(repeating: 0x61, count: (64 << 10) + 1).write(to: file)
        try permit(0o600, file)
        XCTAssertTrue(refusal(file)?.contains("64 KB") == true)
        try Data([0xFF]).write(to: file)
        try permit(0o600, file)
        XCTAssertTrue(refusal(file)?.contains("isn't text") == true)
    }

    /// The library's messages have no address, which may be the mistake.
    func testAnErrorOfTheServerNamesIt() throws {
        let variables = environment(["LANDMARKS_API_TOKEN": "secret"])
        let cloud = Cloud.server(try XCTUnwrap(WebServer("http://127.0.0.1:9", in: variables)))
        for code in [CloudError.Code.notAuthenticated, .networkFailure] {
            let message = Failure(cloud.naming(CloudError(code))).message
            XCTAssertTrue(message.contains("http://127.0.0.1:9"), message)
        }
        // Whoever signs in must learn why that failed, not that it is to be done.
        let refused = CloudError(.notAuthenticated, message: "There is no token in what came back.")
        let message = Failure(cloud.naming(refused, isSigningIn: true)).message
        XCTAssertTrue(message.contains("no token") && message.contains("http://127.0.0.1:9"), message)
        XCTAssertEqual((cloud.naming(CloudError(.quotaExceeded)) as? CloudError)?.code, .quotaExceeded)
    }
}
