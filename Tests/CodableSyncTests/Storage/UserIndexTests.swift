import Foundation
import XCTest

@testable import CodableSync

/// `users.json`, and the account switch that the app has not received yet.
final class UserIndexTests: XCTestCase {
    private let fileSystem = SimulatedFileSystem()

    private func directory() throws -> StateDirectory {
        let identity = StateIdentity(
            cloud: "cloud-1",
            scope: "private",
            container: nil,
            zone: "Z",
            recordType: "T"
        )
        return try StateDirectory(path: "/d", identity: identity, fileSystem: fileSystem)
    }

    /// C9: files without later additions, with them, and with members of a future version.
    func testFilesOfEarlierAndLaterVersionsAreRead() throws {
        try directory().release()
        let rows: [(member: String, PendingSwitchNotice?)] = [
            ("", nil), (#","untold":{}"#, PendingSwitchNotice()),
            (#","untold":{"from":"alice"}"#, PendingSwitchNotice(from: "alice")),
            (
                #","later":[{"a":null}],"untold":{"later":{},"from":"alice"}"#,
                PendingSwitchNotice(from: "alice")
            ),
        ]
        for (member, notice) in rows {
            let users = #"[{"directory":2,"name":"bob","later":1.5},{"directory":1,"name":"alice"}]"#
            let file = #"{"format":"codablesync-users","version":1,"users":\#(users)\#(member)}"#
            fileSystem.place(Array(file.utf8), at: "/d/users.json")
            let index = try UserIndex.read(from: "/d", fileSystem)
            XCTAssertNil(index.damage, member)
            XCTAssertEqual(index.notice, notice, member)
            XCTAssertEqual(index.users.map(\.name), ["bob", "alice"], member)
        }
    }

    /// I-41: a switch stays pending until its report is stored, and is then gone for good.
    func testASwitchStaysPendingUntilItsReportIsStored() throws {
        let first = try directory()
        try first.commit("alice", number: 1, telling: PendingSwitchNotice(from: "bob"))
        first.release()
        let second = try directory()
        fileSystem.fail(.create, code: ENOSPC)
        second.forgetPendingSwitchNotice()
        XCTAssertEqual(
            second.pendingSwitchNotice,
            PendingSwitchNotice(from: "bob"),
            "the report could not be stored"
        )
        second.forgetPendingSwitchNotice()
        XCTAssertNil(second.pendingSwitchNotice)
        second.release()
        let third = try directory()
        XCTAssertNil(third.pendingSwitchNotice)
        third.release()
        XCTAssertEqual(try UserIndex.read(from: "/d", fileSystem).users.map(\.name), ["alice"])
    }
}
