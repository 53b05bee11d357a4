import CodableSync
import XCTest

/// The basic scenario: two devices, one cloud.
final class FirstSyncTests: XCTestCase {
    func testAnUploadOnOneDeviceIsAChangeOnAnother() async throws {
        let cloud = FakeCloud()
        let phone = Device<Note>(cloud.database(user: "alice"))
        let tablet = Device<Note>(cloud.database(user: "alice"))
        let note = Note("n1", "Tea", note: "green", tags: ["a", "b"])

        try await phone.engine.upload(note)
        let sent = try await phone.engine.sync()
        XCTAssertEqual(sent.sent, 1)
        XCTAssertEqual(sent.pending, 0)
        let fetched = try await tablet.engine.sync()
        XCTAssertEqual(fetched.fetched, 1)

        let changes = await tablet.take(1)
        XCTAssertEqual(changes, [.updated([note])])
        let confirmed = await phone.take(1)
        XCTAssertEqual(confirmed, [.updated([note])], "the first request brings everything")
    }

    func testEditsOfDifferentFieldsBothSurvive() async throws {
        let cloud = FakeCloud()
        let phone = Device<Note>(cloud.database(user: "alice"))
        let tablet = Device<Note>(cloud.database(user: "alice"))
        try await phone.engine.upload(Note("n1", "Tea"))
        try await phone.engine.sync()
        try await tablet.engine.sync()

        var here = try await phone.engine.model(named: "n1")
        here?.note = "hot"
        var there = try await tablet.engine.model(named: "n1")
        there?.color = "green"
        try await phone.engine.upload(XCTUnwrap(here))
        try await tablet.engine.upload(XCTUnwrap(there))
        try await phone.engine.sync()
        let summary = try await tablet.engine.sync()
        XCTAssertEqual(summary.conflictsResolved, 1)
        try await phone.engine.sync()

        let expected = Note("n1", "Tea", note: "hot", color: "green")
        let onPhone = try await phone.engine.allModels()
        let onTablet = try await tablet.engine.allModels()
        XCTAssertEqual(onPhone, [expected])
        XCTAssertEqual(onTablet, [expected])
    }

    func testARestartKeepsPendingChanges() async throws {
        let cloud = FakeCloud()
        let phone = Device<Note>(cloud.database(user: "alice"))
        try await phone.engine.upload(Note("n1", "Tea"))
        try await phone.restart()
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName), ["n1"])
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 1)
    }
}
