import XCTest

@testable import CodableSync

/// Which user a state's directory belongs to: names are compared byte by byte, and every user's directory is
/// found.
final class DirectoryOwnerTests: XCTestCase {
    private let files = SimulatedFileSystem()
    private let composed = "Jos\u{E9}"
    private let decomposed = "Jose\u{301}"
    private let identity = StateIdentity(
        cloud: "cloud-1",
        scope: "private",
        container: nil,
        zone: "Z",
        recordType: "T"
    )

    private func directory() throws -> StateDirectory {
        try StateDirectory(path: "/d", identity: identity, fileSystem: files)
    }

    /// Creates one directory per user; the index lists them in this order.
    private func prepare(_ users: [String]) throws {
        let directory = try directory()
        for user in users {
            let opened = try directory.open(for: user, leaving: nil)
            try directory.commit(user, number: opened.number)
            opened.store.close()
        }
        directory.release()
    }

    private func writeIndex(_ users: [StateUser]) throws { try UserIndex.write(users, to: "/d", files) }

    func testAUserWithALookAlikeNameDoesNotSeeTheOthersState() throws {
        try prepare([composed])
        try writeIndex([StateUser(number: 1, name: decomposed)])
        let opened = try directory().openLast()
        XCTAssertTrue(opened.state.summary.user?.isIdentical(to: decomposed) == true)
        XCTAssertEqual(opened.number, 2)
    }

    func testFilesOfAUserWithALookAlikeNameDoNotBelongToThisState() throws {
        let headers = [(composed, LogFileName(.snapshot, 2)), (decomposed, LogFileName(.journal, 2))].map {
            LogHeader(
                version: 1,
                name: $1,
                log: 7,
                previousSize: nil,
                label: StateLabel(identity: identity, user: $0).encoded
            )
        }
        let judged = try StateMembership(identity: identity, expectedUser: decomposed).judge(headers)
        XCTAssertEqual(judged.foreignFiles, [LogFileName(.snapshot, 2): "it is another user's"])
        XCTAssertTrue(judged.label.user?.isIdentical(to: decomposed) == true)
    }

    func testAUsersDirectoryIsFoundDespiteAWrongIndex() throws {
        try prepare(["alice", "bob"])
        try writeIndex([StateUser(number: 2, name: "alice"), StateUser(number: 1, name: "carol")])
        let directory = try directory()
        XCTAssertEqual(try directory.openLast().number, 1, "alice's")
        XCTAssertEqual(try directory.open(for: "bob", leaving: nil).number, 2)
        XCTAssertEqual(try directory.open(for: "carol", leaving: nil).number, 3)
    }

    func testAnUnreadableDirectoryDoesNotBlockOtherUsers() throws {
        try prepare(["alice", "bob"])
        try writeIndex([StateUser(number: 1, name: "alice"), StateUser(number: 2, name: "carol")])
        files.placeOther(.directory, at: "/d/users/2/journal-1.jsonl")
        let directory = try directory()
        XCTAssertEqual(try directory.open(for: "dave", leaving: nil).number, 3)
    }

    func testAReleaseThatDoesNotFinishIsReportedInsteadOfWaitedFor() throws {
        let first = try directory()
        first.beginRelease()
        XCTAssertThrowsError(
            try StateDirectory(path: "/d", identity: identity, fileSystem: files, releaseTimeout: .seconds(0))
        ) { error in
            let owner = "another engine of this process that is being closed"
            XCTAssertEqual(error as? StateDirectory.Failure, .inUse(by: owner))
        }
        first.release()
        first.endRelease()
        try directory().release()
    }
}
