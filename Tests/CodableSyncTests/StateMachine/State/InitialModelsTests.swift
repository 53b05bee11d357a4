import RecordCoding
import XCTest

@testable import CodableSync

/// Which models from before the first sync are left to queue.
final class InitialModelsTests: XCTestCase {
    private func rest(_ names: [String], upTo end: String?, queuedThrough last: [String?]) -> [String]? {
        var summary = StateSummary()
        summary.take(InitialModels("Other"))
        for last in last { summary.take(InitialModels(testType, through: last.map { ExactName($0) })) }
        let changes = names.map { NewChange.save($0, 1) }
        let end = InitialModels(testType, through: end.map { ExactName($0) })
        return summary.rest(of: changes, upTo: end)?.map(\.name)
    }

    func testAPartIsLeftAsFarAsNoOtherCallHasQueuedIt() {
        XCTAssertEqual(rest(["a", "b"], upTo: "b", queuedThrough: []), ["a", "b"])
        XCTAssertEqual(rest(["b", "c"], upTo: "c", queuedThrough: ["a", "b"]), ["c"])
        XCTAssertEqual(rest(["a", "b"], upTo: nil, queuedThrough: ["b"]), [])
        XCTAssertNil(rest(["a", "b"], upTo: "b", queuedThrough: ["b"]))
        XCTAssertNil(rest(["a", "b"], upTo: "b", queuedThrough: ["a", nil]))
        XCTAssertNil(rest([], upTo: nil, queuedThrough: [nil]))
    }
}
