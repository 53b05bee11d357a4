import Foundation
@_spi(Server) import RecordServerKit
import XCTest

final class SecretFileTests: XCTestCase {
    private var directory = ""

    override func setUp() async throws {
        directory = NSTemporaryDirectory() + "record-server-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    override func tearDown() async throws { try FileManager.default.removeItem(atPath: directory) }

    func testTheKeyIsMadeOnceAndOnlyItsOwnerMayReadIt() throws {
        let first = try ServerStorage.directory(directory)
        let second = try ServerStorage.directory(directory)
        XCTAssertEqual(first.key, second.key)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/key")
        XCTAssertEqual((attributes[.posixPermissions] as? NSNumber)?.intValue, 0o600)
    }

    func testAKeyThatOthersMayReadIsRefused() throws {
        _ = try ServerStorage.directory(directory)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: directory + "/key")
        XCTAssertThrowsError(try ServerStorage.directory(directory)) {
            XCTAssertTrue("\($0)".contains("chmod 600"), "\($0)")
        }
        try Data("{}".utf8).write(to: URL(filePath: directory + "/tokens.json"))
        XCTAssertThrowsError(try FixedTokens(readingFrom: directory + "/tokens.json"))
    }

    func testASymbolicLinkIsRefused() throws {
        let target = directory + "/target"
        _ = try SecretFile.read(target, orCreateWith: { Array(repeating: 1, count: 32) })
        let dangling = directory + "/missing"
        for (link, destination) in [("key", target), ("tokens", dangling)] {
            let path = "\(directory)/\(link)"
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: destination)
            XCTAssertThrowsError(try SecretFile.read(path), link)
            XCTAssertThrowsError(try SecretFile.read(path, orCreateWith: { [1] }), link)
        }
        XCTAssertFalse(FileManager.default.fileExists(atPath: dangling))
        XCTAssertThrowsError(try ServerStorage.directory(directory))
    }

    func testFixedTokensComeFromAFile() throws {
        let path = directory + "/tokens.json"
        let text = "{\"apiToken\":\"a\",\"webAuthTokens\":{\"first\":\"w\"}}"
        _ = try SecretFile.read(path, orCreateWith: { Array(text.utf8) })
        let tokens = try FixedTokens(readingFrom: path)
        XCTAssertEqual(tokens.apiToken, "a")
        XCTAssertNil(tokens.adminToken)
        XCTAssertEqual(tokens.webAuthTokens, ["first": "w"])
    }
}
