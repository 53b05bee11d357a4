import XCTest

@testable import CodableSync

/// What is said about a file under another file's name.
final class ForeignNameTests: XCTestCase {
    private func reported(placing bytes: [UInt8]?, on files: SimulatedFileSystem) throws -> [String] {
        files.place(try XCTUnwrap(bytes), at: "/log/journal-2.jsonl")
        let opened = try LogFixture.open(files)
        defer { opened.log.close() }
        return opened.recovery.damages.map { "\($0)" }
    }

    func testACopyOfAFileIsCalledOne() throws {
        let files = SimulatedFileSystem()
        _ = try LogFixture.write(groups: 1, to: files)
        let texts = try reported(placing: files.bytes(at: "/log/journal-1.jsonl"), on: files)
        XCTAssertEqual(texts.count, 1)
        XCTAssertTrue(texts.first?.contains("it is a copy of journal-1.jsonl") == true, "\(texts)")
    }

    func testAFileOfAnotherLogIsNoCopy() throws {
        let (files, others) = (SimulatedFileSystem(), SimulatedFileSystem())
        _ = try LogFixture.write(groups: 1, to: files)
        _ = try LogFixture.write(groups: 1, to: others)
        let foreign = try XCTUnwrap(others.bytes(at: "/log/journal-1.jsonl"))
        XCTAssertNotEqual(foreign, files.bytes(at: "/log/journal-1.jsonl"), "each log has its own number")
        let texts = try reported(placing: foreign, on: files)
        XCTAssertEqual(texts.count, 1)
        XCTAssertTrue(texts.first?.contains("it is journal-1.jsonl of another log") == true, "\(texts)")
    }
}
