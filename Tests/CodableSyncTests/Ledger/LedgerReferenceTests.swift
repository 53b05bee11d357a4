@_spi(Server) import CodableSync
import XCTest

/// Reference, 7: parents, cascades, and the limit of 750 references.
final class LedgerReferenceTests: XCTestCase {
    private typealias Fixture = LedgerFixture

    func testACycleOfReferencesIsDeletedCompletely() {
        var fixture = LedgerFixture()
        fixture.modify(saving: [
            Fixture.holder("a", of: "b"), Fixture.holder("b", of: "a"), Fixture.record("c"),
        ])
        fixture.modify(deleting: ["b"])
        XCTAssertEqual(fixture.names, ["c"])
    }

    func testDeletingOneOfTwoOwnersDeletesTheRecord() {
        var fixture = LedgerFixture()
        fixture.modify(saving: [Fixture.record("a"), Fixture.record("b"), Fixture.holder("c", of: "a", "b")])
        fixture.modify(deleting: ["b"])
        XCTAssertEqual(fixture.names, ["a"])
    }

    func testALongChainOfReferencesIsDeletedCompletely() {
        var fixture = LedgerFixture()
        // Rows are asked for one by one along a chain, each time with the whole request.
        fixture.comparesRows = false
        for start in stride(from: 0, to: 4000, by: 400) {
            fixture.modify(saving: (start..<start + 400).map { Fixture.holder("r\($0 + 1)", of: "r\($0)") })
        }
        fixture.save(Fixture.record("r0"))
        fixture.modify(deleting: ["r0"])
        XCTAssertEqual(fixture.names, [])
    }

    func testARemovedReferenceDeletesNothing() {
        var fixture = LedgerFixture()
        fixture.modify(saving: [Fixture.record("a"), Fixture.holder("b", of: "a")])
        fixture.modify(saving: [Fixture.record("b", ["owners": .null])], policy: .changedKeys)
        fixture.modify(deleting: ["a"])
        XCTAssertEqual(fixture.names, ["b"])
    }

    func testCascadesAreNotInTheResults() {
        var fixture = LedgerFixture()
        fixture.modify(saving: [Fixture.record("a"), Fixture.holder("b", of: "a")])
        XCTAssertEqual(fixture.modify(deleting: ["a"]).deleteResults, [Fixture.id("a"): nil])
    }

    func testThe751stReferenceIsRejected() {
        var fixture = LedgerFixture(limits: LedgerLimits(maximumItems: 1000))
        fixture.save(Fixture.record("target"))
        let result = fixture.modify(saving: (1...751).map { Fixture.holder("h\($0)", of: "target") })
        XCTAssertEqual(result.saveResults.values.compactMap(\.code), [.limitExceeded])
        XCTAssertEqual(fixture.names.count, 751)
        let again = fixture.modify(saving: [Fixture.holder("h1", of: "target")], policy: .allKeys)
        XCTAssertNil(again.saveResults[Fixture.id("h1")]?.code)
    }

    func testAParentCannotBeDeletedBeforeItsChildren() {
        var fixture = LedgerFixture()
        fixture.modify(saving: [Fixture.record("child", parent: "parent"), Fixture.record("parent")])
        let alone = fixture.modify(deleting: ["parent"])
        XCTAssertEqual(alone.deleteResults[Fixture.id("parent")]??.code, .referenceViolation)
        let together = fixture.modify(deleting: ["parent", "child"])
        XCTAssertEqual(together.deleteResults, [Fixture.id("parent"): nil, Fixture.id("child"): nil])
        XCTAssertEqual(fixture.names, [])
    }

    func testTheOptionForDeletingParentsBeforeTheirChildren() {
        var fixture = LedgerFixture()
        fixture.ledger.options.keepsParents = false
        fixture.modify(saving: [Fixture.record("child", parent: "parent"), Fixture.record("parent")])
        XCTAssertEqual(fixture.modify(deleting: ["parent"]).deleteResults, [Fixture.id("parent"): nil])
    }

    func testAChildOfARejectedParentIsRejected() {
        var fixture = LedgerFixture()
        let result = fixture.modify(
            saving: [Fixture.record("child", parent: "parent"), Fixture.record("parent", tag: "gone")]
        )
        XCTAssertEqual(result.saveResults[Fixture.id("parent")]?.code, .unknownItem)
        XCTAssertEqual(result.saveResults[Fixture.id("child")]?.code, .referenceViolation)
    }

    func testTheOptionForANewParentTagWhenAChildIsSaved() {
        for bumps in [true, false] {
            var fixture = LedgerFixture()
            fixture.ledger.options.bumpsParentTag = bumps
            let parent = fixture.save(Fixture.record("parent", ["n": 1]))
            fixture.save(Fixture.record("child", parent: "parent"))
            let after = fixture.ledger.record(Fixture.id("parent"), of: "alice")
            XCTAssertEqual(after?.fields, parent?.fields)
            XCTAssertEqual(after?.recordChangeTag != parent?.recordChangeTag, bumps)
        }
    }

    func testAParentInAnotherZoneOrWithAnActionIsRejected() {
        var fixture = LedgerFixture()
        fixture.save(Fixture.record("parent"))
        var child = Fixture.record("child")
        child.parent = RecordReference(recordName: "parent", action: .deleteSelf)
        XCTAssertEqual(fixture.error(saving: child)?.code, .invalidArguments)
        child.parent = RecordReference(recordName: "parent", zoneID: ZoneID(zoneName: "Other"))
        XCTAssertEqual(fixture.error(saving: child)?.code, .invalidArguments)
        child.parent = RecordReference(recordName: "parent", zoneID: Fixture.zoneID)
        XCTAssertNil(fixture.error(saving: child))
    }
}
