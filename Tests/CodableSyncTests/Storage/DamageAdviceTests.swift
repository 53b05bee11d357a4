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
            let text = LedgerDirectoryError(error).message
            XCTAssertTrue(text.hasSuffix(cloudAdvice), text)
            XCTAssertEqual(LedgerDirectoryError(error).code, .damaged)
        }
    }

    func testDamageWithoutALineNumberNamesOnlyItsByte() {
        let text = "\(errors[0])"
        XCTAssertTrue(text.contains("at byte 7"), text)
        XCTAssertFalse(text.contains("line 0"), text)
    }

    func testACompactionThatFindsDamageSaysThatReadableDataIsKept() throws {
        let files = SimulatedFileSystem()
        let store = try JSONStateStore.open(directory: "/state", fileSystem: files).store
        defer { store.close() }
        let batch = JournalBatch(entries: [.subscribed], contents: [:], flush: true)
        try store.append([batch])
        let journal = "/state/journal-1.jsonl"
        var bytes = try XCTUnwrap(files.bytes(at: journal))
        bytes[bytes.count - 5] ^= 1
        try files.withDisk { $0.files[journal]?.change(.write(bytes, at: 0)) }
        XCTAssertThrowsError(try store.compact()) { error in
            let text = "\(error)"
            XCTAssertTrue(
                text.hasSuffix("Close the engine and open it again; what can be read is kept."),
                text
            )
            XCTAssertFalse(text.contains("line 0"), text)
        }
    }

    func testTheErrorForATooLargeFileNamesSizeAndLimit() {
        let text = FileError(tooLarge: "/x", size: 20, limit: 10).message
        XCTAssertTrue(text.contains("It has 20 bytes; the limit is 10."), text)
        XCTAssertFalse(text.contains("move it away"), text)
    }

    func testAReasonThatIsASentenceIsContinuedWithOneFullStop() {
        let reason = "\(RecordCodingError.malformedJSON(field: "", reason: "no value"))"
        XCTAssertTrue(reason.hasSuffix("left as it is."), reason)
        let position = LogPosition(file: 1, offset: 7, length: 1)
        let text = UnusableLine(position: position, reason: reason).description
        XCTAssertTrue(text.hasSuffix("left as it is. The files stay as they are."), text)
    }
}
