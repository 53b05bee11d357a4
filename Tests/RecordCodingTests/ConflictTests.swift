import Foundation
import RecordCoding
import XCTest

final class ConflictTests: XCTestCase {
    private let early = Date(timeIntervalSince1970: 1)
    private let late = Date(timeIntervalSince1970: 2)

    private func note(_ title: String, _ text: String? = nil, tags: [String] = [], stars: Int = 0) -> Note {
        Note(title: title, text: text, tags: tags, stars: stars)
    }

    private func conflict(_ client: Note, _ server: Note, ancestor: Note? = nil, clientIsLater: Bool = true)
        -> Conflict<Note>
    {
        Conflict(
            client: client,
            server: server,
            ancestor: ancestor,
            clientEdited: clientIsLater ? late : early,
            serverEdited: clientIsLater ? early : late
        )
    }

    func testTheLatestEditWinsAndTheServerWinsTies() {
        XCTAssertEqual(conflict(note("c"), note("s")).latestEdit, note("c"))
        XCTAssertEqual(conflict(note("c"), note("s"), clientIsLater: false).latestEdit, note("s"))
        let equal = Conflict(client: note("c"), server: note("s"), clientEdited: early, serverEdited: early)
        XCTAssertEqual(equal.latestEdit, note("s"))
        XCTAssertEqual(try equal.merged(), note("s"))
    }

    func testAFieldChangedOnOneSideTakesThatValue() throws {
        let ancestor = note("a", "text", tags: ["x"], stars: 1)
        let client = note("mine", "text", tags: [], stars: 1)
        let server = note("a", nil, tags: ["x"], stars: 5)
        for isLater in [true, false] {
            let merged = try conflict(client, server, ancestor: ancestor, clientIsLater: isLater).merged()
            XCTAssertEqual(merged, note("mine", nil, tags: [], stars: 5))
        }
    }

    func testAFieldChangedOnBothSidesTakesThePreferredValue() throws {
        let ancestor = note("a")
        let both = conflict(note("c", "ct"), note("s", nil, stars: 2), ancestor: ancestor)
        XCTAssertEqual(try both.merged(), note("c", "ct", stars: 2))
        XCTAssertEqual(try both.merged(preferring: .client), note("c", "ct", stars: 2))
        XCTAssertEqual(try both.merged(preferring: .server), note("s", "ct", stars: 2))
        let serverLater = conflict(note("c"), note("s"), ancestor: ancestor, clientIsLater: false)
        XCTAssertEqual(try serverLater.merged(), note("s"))
    }

    /// P-32.
    func testAClearedFieldStaysClearedInAMerge() throws {
        let ancestor = note("a", "text")
        let merged = try conflict(note("a", nil), note("b", "text"), ancestor: ancestor, clientIsLater: false)
            .merged()
        XCTAssertEqual(merged, note("b", nil))
    }

    private struct Lists: RecordCodable, Equatable {
        var tags: [String]?
        var recordName: String { "a" }
        static func resolveConflict(_ conflict: Conflict<Lists>) throws -> Lists? { try conflict.merged() }
    }

    /// An empty list is stored as no field, so the ancestor and the server's model have none.
    func testAnEmptyListAndNilAreOneValueInAMerge() throws {
        func merged(_ client: [String]?, _ server: [String]?, ancestor: [String]?) throws -> [String]? {
            try Conflict(
                client: Lists(tags: client),
                server: Lists(tags: server),
                ancestor: Lists(tags: ancestor),
                clientEdited: late,
                serverEdited: early
            ).merged().tags
        }
        XCTAssertEqual(try merged([], ["theirs"], ancestor: nil), ["theirs"], "only they have changed it")
        XCTAssertEqual(try merged(["mine"], [], ancestor: nil), ["mine"])
        XCTAssertEqual(try merged(["mine"], nil, ancestor: []), ["mine"])
        XCTAssertEqual(try merged([], ["x"], ancestor: ["x"]), [], "only this device has emptied it")
    }

    func testWithoutAnAncestorAnEmptyFieldTakesTheOtherSidesValue() throws {
        let client = note("same", nil, tags: ["x"], stars: 1)
        let server = note("same", "text", tags: [], stars: 2)
        XCTAssertEqual(try conflict(client, server).merged(), note("same", "text", tags: ["x"], stars: 1))
        XCTAssertEqual(
            try conflict(client, server, clientIsLater: false).merged(),
            note("same", "text", tags: ["x"], stars: 2)
        )
        XCTAssertEqual(
            try conflict(client, server).merged(preferring: .server),
            note("same", "text", tags: ["x"], stars: 2)
        )
    }

    func testSwappingClientAndServerDoesNotChangeTheMerge() throws {
        let notes = [
            note("a"), note("b", "t"), note("a", "u", tags: ["x"]), note("c", nil, tags: ["y"], stars: 3),
        ]
        for mine in notes {
            for theirs in notes {
                for ancestor in [nil] + notes.map(Optional.some) {
                    let here = try conflict(mine, theirs, ancestor: ancestor, clientIsLater: true).merged()
                    let there = try conflict(theirs, mine, ancestor: ancestor, clientIsLater: false).merged()
                    XCTAssertEqual(here, there)
                }
            }
        }
    }

    func testStringsOfDifferentUnicodeFormsAreDifferent() throws {
        let merged = try conflict(note("e\u{301}"), note("é"), ancestor: note("é")).merged()
        XCTAssertEqual(Array(merged.title.utf8), Array("e\u{301}".utf8))
    }

    /// A26.
    func testMergingAModelThatCannotBeEncodedThrows() {
        let broken = Note(recordName: "", title: "x")
        XCTAssertThrowsError(try conflict(broken, note("s")).merged())
        XCTAssertThrowsError(try conflict(note("c"), broken).merged())
    }
}
