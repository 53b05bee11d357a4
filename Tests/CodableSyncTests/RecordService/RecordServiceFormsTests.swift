import Foundation
import XCTest

@_spi(Server) @testable import CodableSync
@testable import RecordCoding

/// The forms of answers of which it is uncertain which the live service has.
final class RecordServiceFormsTests: XCTestCase {
    private typealias Fixture = ServiceFixture

    private func body(atomically: Bool) -> String {
        let operations = ["old", "new"].map { Fixture.operation("create", $0) }.joined(separator: ",")
        return #"{"zoneID":{"zoneName":"Notes"},"atomic":\#(atomically),"operations":[\#(operations)]}"#
    }

    private func makeFixture(_ change: (inout RecordServiceOptions) -> Void) async throws -> Fixture {
        var options = RecordServiceOptions()
        change(&options)
        let fixture = Fixture(options)
        try await fixture.makeZone()
        try await fixture.modify(Fixture.operation("create", "old"))
        return fixture
    }

    func testAnAtomicFailureHasThreeForms() async throws {
        let codes: [String?] = ["EXISTS", "ATOMIC_ERROR"]
        for (form, status, code, items) in [
            (RecordServiceOptions.AtomicFailure.items, 200, nil, codes),
            (.errorWithItems, 400, "ATOMIC_ERROR", codes),
            (.error, 400, "ATOMIC_ERROR", nil),
        ] as [(RecordServiceOptions.AtomicFailure, Int, String?, [String?]?)] {
            let fixture = try await makeFixture { $0.atomicFailure = form }
            let (answer, json) = try await fixture.send("records/modify", body(atomically: true))
            XCTAssertEqual(answer.status, status, "\(form)")
            XCTAssertEqual(json.code, code, "\(form)")
            XCTAssertEqual(json["records"]?.array?.map(\.code), items, "\(form)")
            let page = try await fixture.changes()
            XCTAssertEqual(page["records"]?.array?.count, 1, "\(form)")
            // Only failures of atomic requests have these forms.
            let (other, _) = try await fixture.send("records/modify", body(atomically: false))
            XCTAssertEqual(other.status, 200, "\(form)")
            let fine = try await fixture.modify(Fixture.operation("create", "fine"), atomically: true)
            XCTAssertNil(fine.first?.code, "\(form)")
        }
    }

    func testEveryRequestInACustomZoneMayBeAtomic() async throws {
        let fixture = try await makeFixture { $0.isAlwaysAtomic = true }
        let (answer, json) = try await fixture.send("records/modify", body(atomically: false))
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(json["records"]?.array?.map(\.code), ["EXISTS", "ATOMIC_ERROR"])
        let operation = Fixture.operation("create", "r")
        let inDefaultZone = try await fixture.send("records/modify", #"{"operations":[\#(operation)]}"#)
        XCTAssertNil(inDefaultZone.json["records"]?.array?.first?.code)
    }

    func testTheLastPageMayHaveNullForMoreComing() async throws {
        for isNull in [false, true] {
            let fixture = try await makeFixture { $0.lastPageHasNull = isNull }
            try await fixture.modify(Fixture.operation("create", "second"))
            let first = try await fixture.changes(since: nil, #","resultsLimit":1"#)
            XCTAssertEqual(first["moreComing"], .bool(true))
            let last = try await fixture.changes()
            XCTAssertEqual(last.object?["moreComing"], isNull ? .null : .bool(false))
        }
    }
}
