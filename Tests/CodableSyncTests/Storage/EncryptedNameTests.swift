import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The journal keeps the names of a record's encrypted fields.
final class EncryptedNameTests: XCTestCase {
    private let files = SimulatedFileSystem()

    private func open() throws -> JSONStateStore {
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        XCTAssertFalse(opened.recovery.isDamaged)
        return opened.store
    }

    private func names(_ store: JSONStateStore) throws -> [Set<String>?] {
        let loaded = try store.load([1, 2])
        XCTAssertEqual(loaded[1]?.fields, ["text": "1"])
        return [loaded[1]?.encryptedFields, loaded[2]?.encryptedFields]
    }

    func testTheNamesSurviveReopeningsAndCompactions() throws {
        let store = try open()
        for (number, names) in [(UInt64(1), Set(["text", "absent"])), (2, [])] {
            var record = JournalSamples.record("N\(number)", "\(number)")
            record.encryptedFields = names
            let entry = StateChange.fetched(name: "N\(number)", KnownVersion(number))
            let contents = [ContentHandle(number): record]
            try store.append([entry], contents)
        }
        XCTAssertEqual(try names(store), [["text", "absent"], []])
        for round in 0..<3 {
            XCTAssertEqual(try names(try open()), [["text", "absent"], []], "round \(round)")
            try store.compact()
            XCTAssertEqual(try names(store), [["text", "absent"], []], "round \(round)")
        }
    }
}
