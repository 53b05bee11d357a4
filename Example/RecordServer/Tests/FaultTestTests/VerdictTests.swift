import FaultTestKit
import XCTest

/// What a run finds wrong, from what was called and what is there.
final class VerdictTests: XCTestCase {
    private let log = """
        10 try 0 set shared-0 1
        11 done 0
        12 try 1 set shared-0 2
        20 try 2 add shared-0 0-1
        21 done 2
        22 try 3 create own-0-1
        23 done 3
        24 try 4 create own-0-2
        25 done 4
        26 try 5 delete own-0-2
        27 done 5
        28 try 6 create own-0-3
        29 done 6
        30 try 7 delete own-0-3
        31 try 8 add shared-0 0-2
        """

    private func item(_ id: String, _ number: Int = 0, _ list: [String] = []) -> ClientDump.Item {
        ClientDump.Item(id: id, numbers: [number, 0, 0, 0], list: list)
    }

    private func violations(
        _ server: [ClientDump.Item],
        client: [ClientDump.Item]? = nil,
        pending: Int = 0,
        log: String? = nil
    ) -> [String] {
        RunEvidence(
            logs: [ClientLog(log ?? self.log)],
            dumps: [ClientDump(pending: pending, items: client ?? server)],
            server: server
        ).violations()
    }

    private var good: [ClientDump.Item] { [item("own-0-1"), item("shared-0", 1, ["0-1"])] }

    func testWhatWasCutOffMayBeThereOrNot() {
        XCTAssertEqual(violations(good), [])
        XCTAssertEqual(violations([item("own-0-1"), item("shared-0", 2, ["0-1", "0-2"])]), [])
        XCTAssertEqual(violations(good + [item("own-0-3")]), [])
    }

    func testEachLossIsFound() {
        for (server, words) in [
            ([item("own-0-1"), item("shared-0", 0, ["0-1"])], "acknowledged was 1"),
            ([item("own-0-1"), item("shared-0", 3, ["0-1"])], "never written"),
            ([item("own-0-1"), item("shared-0", 1)], "0 times"),
            ([item("own-0-1"), item("shared-0", 1, ["0-1", "0-1"])], "2 times"),
            ([item("own-0-1"), item("shared-0", 1, ["0-1", "9-9"])], "9-9 in shared-0 was never added"),
            ([item("shared-0", 1, ["0-1"])], "own-0-1, created and never deleted"),
            (good + [item("own-0-2")], "own-0-2 is there"),
            (good + [item("own-0-9")], "own-0-9 was never created"),
            (good + [item("own-0-1")], "twice"),
        ] {
            let found = violations(server)
            XCTAssertEqual(found.count, 1, "\(words): \(found)")
            XCTAssertTrue(found.first?.contains(words) == true, "\(words): \(found)")
        }
    }

    func testClientsThatDifferAreFound() {
        XCTAssertEqual(violations(good, pending: 2), ["client 0 has 2 unsent changes"])
        XCTAssertEqual(violations(good, client: good + [item("x")]), ["only client 0 has x"])
        XCTAssertEqual(violations(good, client: [good[1]]), ["client 0 lacks own-0-1"])
        let other = violations(good, client: [good[0], item("shared-0", 2, ["0-1", "0-2"])])
        XCTAssertEqual(other.count, 1)
        XCTAssertTrue(other.first?.contains("0-2") == true, "\(other)")
        let silent = RunEvidence(logs: [ClientLog(log)], dumps: [nil], server: good).violations()
        XCTAssertEqual(silent, ["client 0 shows nothing"])
    }

    func testAnErrorOfACallIsFound() {
        let failed = violations(good, log: log + "\n32 failed 8 invalidModels")
        XCTAssertEqual(failed, ["client 0: add shared-0 0-2: invalidModels"])
    }

    /// A kill may cut the last line, and the next process begins a line of its own.
    func testALineThatWasCutIsNoCall() {
        let log = ClientLog(
            "1 try 0 set shared-0 1\n2 done 0\n3 try 1 se\n4 try 1 add shared-0 0-1\n5 done 1\n"
        )
        XCTAssertEqual(
            log.attempts.map(\.call),
            [
                .set(record: "shared-0", number: 1), .add(record: "shared-0", element: "0-1"),
            ]
        )
        XCTAssertEqual(log.attempts.map(\.done), [2, 5])
    }
}
