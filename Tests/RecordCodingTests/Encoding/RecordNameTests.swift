import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// How often coders read a model's record name, which is the app's code and may be slow.
final class RecordNameTests: XCTestCase {
    private final class Reads: @unchecked Sendable {
        // Used only by one test, on one thread.
        var count = 0
    }

    private struct Named: RecordCodable {
        var id = UUID()
        var title = "a"
        var prefix = ""
        var reads = Reads()
        var recordName: String {
            reads.count += 1
            return prefix + id.uuidString
        }
        private enum CodingKeys: CodingKey { case id, title }
        static func resolveConflict(_ conflict: Conflict<Named>) throws -> Named? { nil }
    }

    func testANameThatIsTheTextOfAFieldIsReadOnce() throws {
        let model = Named()
        let record = try RecordEncoder().encode(model)
        XCTAssertEqual(model.reads.count, 1)
        XCTAssertEqual(record.recordID.recordName, model.id.uuidString)
    }

    /// The second read finds names that change, such as that of a new UUID.
    func testANameThatIsNoFieldIsReadTwice() throws {
        let model = Named(prefix: "named-")
        let record = try RecordEncoder().encode(model)
        XCTAssertEqual(model.reads.count, 2)
        XCTAssertEqual(record.recordID.recordName, "named-\(model.id.uuidString)")
    }

    func testAChangingNameIsRejectedWhateverTheFieldsAre() {
        struct Unstable: RecordCodable {
            var id = UUID()
            var recordName: String { UUID().uuidString }
            static func resolveConflict(_ conflict: Conflict<Unstable>) throws -> Unstable? { nil }
        }
        let failure = failure { _ = try RecordEncoder().encode(Unstable()) }
        guard case .unstableRecordName? = failure?.error else {
            return XCTFail(String(describing: failure))
        }
    }
}
