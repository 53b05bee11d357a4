import Foundation
import XCTest

@testable import CodableSync

/// The file of a session: one session at a time, nothing unreadable overwritten, no response lost.
final class WebTokenFileTests: CloudKitWebSessionScenario {
    func testAFileServesOneSession() async throws {
        let first = try await signedIn()
        let second = session()
        let inUse = await Self.error { _ = try await second.needsSignIn }
        XCTAssertEqual(inUse?.code, .badDatabase)
        XCTAssertTrue(inUse?.message.contains("one session serves all engines") == true, "\(inUse as Any)")
        await first.close()
        let needs = try await second.needsSignIn
        XCTAssertFalse(needs)
        let closed = await Self.error { _ = try await Self.ask(first) }
        XCTAssertEqual(closed?.code, .badDatabase)
    }

    func testAFileThatCannotBeUsedIsNamedAndLeftAlone() async throws {
        let cases = [
            "", "{", "[]", #"{"format":"x","version":1,"identifier":"y"}"#,
            #"{"format":"codablesync-web-session","version":2,"identifier":"\#(service.identifier)"}"#,
            #"{"format":"codablesync-web-session","version":1,"identifier":"other","token":"secret"}"#,
        ]
        for text in cases {
            try Data(text.utf8).write(to: URL(filePath: path))
            let session = session()
            let failure = await Self.error { _ = try await session.needsSignIn }
            XCTAssertEqual(failure?.code, .badDatabase, text)
            XCTAssertEqual(try String(contentsOf: URL(filePath: path), encoding: .utf8), text)
            await session.close()
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "elsewhere")
        let link = session()
        let failure = await Self.error { _ = try await link.needsSignIn }
        XCTAssertEqual(failure?.code, .badDatabase)
    }

    /// Left by another program, or copied: what others may read becomes the user's own before it has a token.
    func testAFileThatOthersMayReadBecomesTheUsersOwn() async throws {
        try Data("x".utf8).write(to: URL(filePath: path + ".tmp"))
        try publish(path + ".tmp")
        let first = try await signedIn()
        XCTAssertEqual(try permissions, 0o600)
        await first.close()
        try publish(path)
        let second = session()
        let needsSignIn = try await second.needsSignIn
        XCTAssertFalse(needsSignIn)
        XCTAssertEqual(try permissions, 0o600)
        await second.close()
    }

    /// The temporary file was readable for all, and another program has it open: no token is written to that one.
    func testAFileThatSomebodyHasOpenGetsNoToken() async throws {
        let file = path + ".tmp"
        try Data("x".utf8).write(to: URL(filePath: file))
        try publish(file)
        let handle = try FileHandle(forReadingFrom: URL(filePath: file))
        let session = try await signedIn()
        try handle.seek(toOffset: 0)
        let text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
        XCTAssertFalse(text.contains("secret"), text)
        await session.close()
    }

    private func publish(_ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    }

    private var permissions: Int? {
        get throws {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
    }

    func testAFullDiskStopsTheNextRequestAndLosesNoResponse() async throws {
        let disk = SimulatedFileSystem()
        let session = session(fileSystem: disk)
        try await session.signIn { [transport] _ in transport.signIn() }
        try disk.withDisk { $0.room = 0 }
        let answer = try await Self.ask(session, "records/modify", isChange: true)
        XCTAssertEqual(answer.status, 200)
        let count = transport.seen.count
        let full = await Self.error { _ = try await Self.ask(session) }
        XCTAssertEqual(full?.code, .serviceUnavailable)
        XCTAssertEqual(transport.seen.count, count)
        try disk.withDisk { $0.room = nil }
        _ = try await Self.ask(session)
        let text = String(decoding: try XCTUnwrap(disk.bytes(at: path)), as: UTF8.self)
        XCTAssertTrue(text.contains(try XCTUnwrap(transport.newest)), text)
    }
}
