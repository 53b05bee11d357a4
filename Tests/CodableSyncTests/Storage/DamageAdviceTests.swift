import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

@_spi(Server) @testable import CodableSync

/// The advice in error messages: for a state, nothing that costs edits; for a cloud, what devices will upload
/// again.
final class DamageAdviceTests: XCTestCase {
    private let cloudAdvice = "devices upload again what the cloud no longer has."
    private static let damage = LogDamage(file: "journal-1.jsonl", line: 0, offset: 7, reason: .checksum)
    private let errors: [LogError] = [
        .damaged(path: "/x/journal-1.jsonl", damage), .noNumberLeft(path: "/x/journal-1.jsonl"),
        .tooLarge(path: "/x/journal-1.jsonl", size: 1 << 40),
    ]

    func testStateErrorsThatAdviseMovingFilesMentionTheEdits() {
        for error in errors {
            guard case .unreadable(let text) = StateDirectory.Failure(error, in: "/x") else {
                return XCTFail("\(error)")
            }
            XCTAssertFalse(text.contains("upload again"), text)
            XCTAssertTrue(!text.contains("move it away") || text.contains("edits"), text)
            XCTAssertTrue(text.hasSuffix("."), text)
        }
    }

    func testCloudErrorsSayThatDevicesUploadAgain() {
        for error in errors {
            let text = CloudError(ofFiles: error).message
            XCTAssertTrue(text.hasSuffix(cloudAdvice), text)
            XCTAssertEqual(CloudError(ofFiles: error).code, .badDatabase)
        }
    }

    func testDamageWithoutALineNumberNamesOnlyItsByte() {
        let text = "\(errors[0])"
        XCTAssertTrue(text.contains("at byte 7"), text)
        XCTAssertFalse(text.contains("line 0"), text)
    }

    func testACompactionReplacesDamagedRowsByThoseInMemory() throws {
        let files = SimulatedFileSystem()
        let store = try JSONStateStore.open(directory: "/state", fileSystem: files).store
        try store.append([.subscribed])
        let journal = "/state/journal-1.jsonl"
        let size = try XCTUnwrap(files.bytes(at: journal)?.count)
        try files.withDisk { $0.files[journal]?.change(.write([0], at: size - 30)) }
        try store.compact()
        store.close()
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        XCTAssertEqual(opened.recovery.damages, [])
        XCTAssertTrue(opened.state.onlyZone.isSubscribed)
        opened.store.close()
    }

    func testTheErrorForATooLargeFileNamesSizeAndLimit() {
        let text = FileError(tooLarge: "/x", size: 20, limit: 10).message
        XCTAssertTrue(text.contains("It has 20 bytes; the limit is 10."), text)
        XCTAssertFalse(text.contains("move it away"), text)
    }
}
