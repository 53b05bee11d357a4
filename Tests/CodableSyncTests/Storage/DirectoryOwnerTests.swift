import XCTest

@testable import CodableSync

/// Which user a state's directory belongs to: names are compared byte by byte, and every user's directory is
/// found.
final class DirectoryOwnerTests: XCTestCase {
    private let states = RowStates()
    private var files = SimulatedFileSystem()
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

    /// Creates one state for each user, entered in this order.
    private func prepare(_ users: [String]) throws {
        let directory = try directory()
        for (count, user) in users.enumerated() {
            var opened = try directory.open(for: user)
            try opened.store.enter(&opened.state, from: nil, after: UInt64(count), startsOver: false)
            opened.store.close()
        }
        directory.release()
    }

    /// Creates a state that alice has claimed and one that bob has entered, and damages the claim.
    private func prepareDamagedClaim() throws {
        let directory = try directory()
        let opened = try directory.openLast()
        states.note(opened)
        for entry in [StateChange.claimed(by: "alice"), .subscribed] {
            try states.put(entry, in: opened.store)
        }
        opened.store.close()
        var bob = try directory.open(for: "bob")
        try bob.store.enter(&bob.state, from: nil, after: 0, startsOver: false)
        bob.store.close()
        directory.release()
        let path = "/d/users/1/journal-1.jsonl"
        let bytes = try XCTUnwrap(files.bytes(at: path))
        try changeByte(XCTUnwrap(bytes.firstRange(of: Array("alice".utf8))).lowerBound, of: path)
    }

    private func lastUser() throws -> String? {
        let directory = try directory()
        defer { directory.release() }
        let opened = try directory.openLast()
        opened.store.close()
        return opened.state.summary.user
    }

    /// The newest file of a state.
    private func newest(_ number: Int) -> String {
        "/d/users/\(number)/"
            + (files.names(in: "/d/users/\(number)").filter { $0.hasPrefix("journal-") }.max() ?? "")
    }

    private func changeByte(_ offset: Int, of path: String) throws {
        var bytes = try XCTUnwrap(files.bytes(at: path))
        bytes[offset] ^= 1
        files.place(bytes, at: path)
    }

    func testAUserWithALookAlikeNameDoesNotSeeTheOthersState() throws {
        try prepare([composed])
        let directory = try directory()
        let opened = try directory.open(for: decomposed)
        XCTAssertTrue(opened.state.summary.user?.isIdentical(to: decomposed) == true)
        XCTAssertEqual(opened.number, 2)
        XCTAssertEqual(try directory.open(for: composed).number, 1)
        XCTAssertEqual(try directory.open(for: decomposed).number, 2)
    }

    /// The rows say it too, so that another user's state is not taken for the last one.
    func testADamagedHeaderDoesNotChangeTheLastUser() throws {
        for offset in [3, 60, 120, 150] {
            files = SimulatedFileSystem()
            try prepare(["alice", "bob", "carol"])
            try changeByte(offset, of: newest(3))
            XCTAssertEqual(try lastUser(), "carol", "byte \(offset)")
            let directory = try directory()
            XCTAssertEqual(try directory.open(for: "carol").number, 3, "byte \(offset)")
            XCTAssertEqual(try directory.open(for: "dave").number, 4, "byte \(offset)")
            directory.release()
        }
    }

    /// The first group of the file is damaged, and the header says it.
    func testADamagedFirstGroupDoesNotChangeTheLastUser() throws {
        try prepare(["alice", "bob"])
        let path = newest(2)
        let bytes = try XCTUnwrap(files.bytes(at: path))
        try changeByte(XCTUnwrap(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 5, of: path)
        let directory = try directory()
        let opened = try directory.openLast()
        XCTAssertEqual(opened.state.summary.user, "bob")
        let repaired = opened.repairs.reduce(into: opened.state) { $0.apply(row: $1) }
        XCTAssertEqual(repaired.summary.untoldSwitch, UntoldSwitch(from: nil))
        XCTAssertEqual(repaired.streams.replay, .reset)
        directory.release()
    }

    /// The row with the number is damaged, and the next switch gets the one behind it.
    func testADamagedFirstGroupDoesNotTakeTheNumberOfTheSwitch() throws {
        try prepare(["alice", "bob"])
        let path = newest(2)
        let bytes = try XCTUnwrap(files.bytes(at: path))
        try changeByte(XCTUnwrap(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 5, of: path)
        let directory = try directory()
        XCTAssertEqual(try directory.openLast().state.summary.switchCount, 2)
        directory.release()
    }

    /// Otherwise damage to the rows would leave it to nobody.
    func testAFileThatIsBegunAfterAClaimNamesTheUser() throws {
        let directory = try directory()
        let opened = try directory.openLast()
        states.note(opened)
        try states.put(.claimed(by: "alice"), in: opened.store)
        try opened.store.compact()
        opened.store.close()
        directory.release()
        let header = try JSONStateStore.newestHeader(in: "/d/users/1", files)
        XCTAssertEqual(header, .label(StateLabel(identity: identity, user: "alice")))
    }

    /// Nobody knows the last user then, and the app may have that user's changes.
    func testWithoutTheFileOfASwitchTheFormerUsersStateStartsOver() throws {
        try prepare(["alice", "bob"])
        let path = newest(2)
        files.place(Array(repeating: 0, count: 400), at: path)
        let directory = try directory()
        // A reset that cannot be stored is not forgotten.
        files.fail(.append, code: ENOSPC)
        XCTAssertThrowsError(try directory.openLast())
        let opened = try directory.openLast()
        XCTAssertEqual(opened.state.summary.user, "alice")
        XCTAssertEqual(opened.state.streams.replay, .reset)
        directory.release()
    }

    func testADamagedStateOfNobodyBesideAnothersIsNotGivenAway() throws {
        try prepareDamagedClaim()
        let directory = try directory()
        XCTAssertThrowsError(try directory.open(for: "carol")) { error in
            guard case .unreadable(let text)? = error as? StateDirectory.Failure else {
                return XCTFail("\(error)")
            }
            XCTAssertTrue(text.contains("doesn't say whose state it is"), text)
        }
        XCTAssertEqual(try directory.open(for: "bob").number, 2)
        directory.release()
    }

    /// The header says when a state was entered, whatever is damaged behind it.
    func testDamageToAnotherStateIsNoReset() throws {
        try prepareDamagedClaim()
        let before = files.names(in: "/d/users/1")
        let directory = try directory()
        let last = try directory.openLast()
        XCTAssertEqual(last.state.summary.user, "bob")
        XCTAssertNil(last.state.streams.replay)
        XCTAssertEqual(files.names(in: "/d/users/1"), before, "it is not opened")
        directory.release()
    }

    /// The rename was done, and what follows it was not.
    func testARefusedSwitchDoesNotCountAfterTheNextOpening() throws {
        for operation in [FileError.Operation.syncDirectory, .open] {
            files = SimulatedFileSystem()
            try prepare(["alice"])
            let hooked = HookedFileSystem(files)
            let directory = try StateDirectory(path: "/d", identity: identity, fileSystem: hooked)
            var bob = try directory.open(for: "bob")
            let isRenamed = Locked(false)
            hooked.before { found, path throws(FileError) in
                if found == .rename { isRenamed.withLock { $0 = true } }
                if found == operation, isRenamed.withLock({ $0 }) { throw FileError(found, path, code: EIO) }
            }
            XCTAssertThrowsError(try bob.store.enter(&bob.state, from: "alice", after: 1, startsOver: true))
            XCTAssertTrue(isRenamed.withLock { $0 })
            bob.store.close()
            directory.release()
            XCTAssertEqual(try lastUser(), "alice", operation.rawValue)
        }
    }

    /// Each switch begins a file, and all of them are kept open.
    func testManySwitchesOfASmallStateAreCompacted() throws {
        let directory = try directory()
        for count in 0..<40 {
            var opened = try directory.open(for: "alice")
            opened.store.compactIfDue { XCTFail("\($0)") }
            try opened.store.enter(&opened.state, from: nil, after: UInt64(count), startsOver: false)
            opened.store.close()
            XCTAssertLessThan(files.names(in: "/d/users/1").count, 20)
        }
        directory.release()
        XCTAssertEqual(try lastUser(), "alice")
    }

    /// Nothing about a switch depends on the numbers of the directories.
    func testExchangedDirectoriesStayTheirUsers() throws {
        try prepare(["alice", "bob"])
        let exchanged = SimulatedFileSystem()
        for (from, to) in [(1, 2), (2, 1)] {
            try exchanged.createDirectory(at: "/d/users/\(to)")
            for name in files.names(in: "/d/users/\(from)") {
                exchanged.place(
                    try XCTUnwrap(files.bytes(at: "/d/users/\(from)/\(name)")),
                    at: "/d/users/\(to)/\(name)"
                )
            }
        }
        files = exchanged
        XCTAssertEqual(try lastUser(), "bob")
        let directory = try directory()
        XCTAssertEqual(try directory.open(for: "alice").number, 2)
        directory.release()
    }

    /// It may be the last one, or that of the user who signs in: neither is guessed.
    func testAStateThatCannotBeReadIsNeitherReplacedNorForgotten() throws {
        try prepare(["alice", "bob"])
        try files.remove(newest(2))
        files.placeOther(.directory, at: "/d/users/2/journal-2.jsonl")
        let directory = try directory()
        let openings = [
            { try directory.openLast() }, { try directory.open(for: "bob") },
            { try directory.open(for: "dave") },
        ]
        for open in openings {
            XCTAssertThrowsError(try open()) { error in
                guard case .unreadable(let text)? = error as? StateDirectory.Failure else {
                    return XCTFail("\(error)")
                }
                XCTAssertTrue(text.contains("/d/users/2/journal-2.jsonl"), text)
            }
        }
        XCTAssertEqual(try directory.open(for: "alice").number, 1, "a user who is known is not held up")
        XCTAssertEqual(files.names(in: "/d/users/3"), [])
    }

    func testMutatedHeadersNeverTrapAndNeverGiveAnothersState() throws {
        try prepare(["alice", "bob"])
        var random = SeededBytes(seed: 3)
        let (path, whole) = (newest(2), try XCTUnwrap(files.bytes(at: newest(2))))
        let end = try XCTUnwrap(whole.firstIndex(of: UInt8(ascii: "\n")))
        for _ in 0..<300 {
            var header = Array(whole[..<end])
            for _ in 0...random.below(3) { random.mutate(&header) }
            files.place(header + whole[end...], at: path)
            do {
                let directory = try directory()
                defer { directory.release() }
                let bob = try directory.open(for: "bob")
                bob.store.close()
                XCTAssertEqual(bob.number, 2, String(decoding: header, as: UTF8.self))
            } catch is StateDirectory.Failure {}
            for name in files.names(in: "/d/users/2") where name != "journal-1.jsonl" {
                try files.remove("/d/users/2/\(name)")
            }
        }
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
