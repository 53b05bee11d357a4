import Foundation
import XCTest

@testable import CodableSync

/// A web client in a process of its own, with a user who is signed in, and everything that it has printed.
final class WebClientProcess {
    /// What the client says at the end of what it was asked to do.
    struct Outcome {
        /// `done`, or the code of the error.
        var text: String
        var milliseconds: Int
    }

    /// What the process has used so far.
    struct Usage {
        /// Milliseconds of processors, and of a clock.
        var processors: Int
        var clock: Int
        /// The most memory at once, in bytes.
        var memory: Int
    }

    /// In every form, encoded or not, the tokens of these tests have these words in them.
    static let secrets = ["ApiKeyWord", "UserKeyWord", "secret+", "secret%2B"]
    static let apiToken = "+ApiKeyWord/1=="
    static let token = "+UserKeyWord/1=="

    private let child: ChildProcess
    private(set) var output: [String] = []

    /// - Parameters:
    ///   - server: The server's address.
    ///   - file: The session's file.
    ///   - seconds: How long a request may take.
    /// - Throws: An error if it can't be started.
    init(_ server: URL, file: String, seconds: Int = 2) throws {
        child = try ChildProcess(
            "web",
            server.absoluteString,
            file,
            "\(seconds)",
            mergesErrors: true
        )
        try child.writeLine(Self.apiToken)
    }

    /// Signs a user in by the file, as an earlier process has.
    static func signIn(to server: URL, token: String = token, file: String) throws {
        let service = WebService(
            server: server,
            container: "iCloud.com.example",
            environment: .development,
            apiToken: apiToken
        )
        var tokens = WebTokens(identifier: service.identifier)
        tokens.signIn("_alice", token)
        try LocalFileSystem().writeAtomically(try tokens.bytes(), to: file)
    }

    var processID: Int32 { child.processID }

    func ask(_ lines: String...) throws {
        for line in lines { try child.writeLine(line) }
    }

    /// The words of the next line that tells the end of something; `nil` if the process has ended.
    func next() -> [String]? {
        while let line = child.readLine() {
            output.append(line)
            if line.hasPrefix("= ") { return line.split(separator: " ").dropFirst().map(String.init) }
        }
        return nil
    }

    func outcome(file: StaticString = #filePath, line: UInt = #line) throws -> Outcome {
        let words = try XCTUnwrap(next(), said, file: file, line: line)
        let milliseconds = try XCTUnwrap(words.last.flatMap { Int($0) }, said, file: file, line: line)
        return Outcome(text: words[1], milliseconds: milliseconds)
    }

    func usage(file: StaticString = #filePath, line: UInt = #line) throws -> Usage {
        let numbers = try XCTUnwrap(next(), said, file: file, line: line).compactMap { Int($0) }
        XCTAssertEqual(numbers.count, 3, said, file: file, line: line)
        return Usage(processors: numbers[0], clock: numbers[1], memory: numbers[2])
    }

    /// Lets the process end by itself, which must be without a trap, and without a token in what it has printed.
    func finish(_ name: String = "", file: StaticString = #filePath, line: UInt = #line) throws {
        try child.finish()
        while next() != nil {}
        XCTAssertEqual(child.exitStatus, 0, "\(name): \(said)", file: file, line: line)
        checkOutput(name, file: file, line: line)
    }

    /// Kills the process, and checks what it has printed until then.
    func kill() { child.kill() }

    func checkOutput(_ name: String = "", file: StaticString = #filePath, line: UInt = #line) {
        for text in output where Self.secrets.contains(where: { text.contains($0) }) {
            XCTFail("\(name): \(text)", file: file, line: line)
        }
    }

    /// The end of the output, for messages.
    private var said: String { output.suffix(5).joined(separator: "\n") }
}
