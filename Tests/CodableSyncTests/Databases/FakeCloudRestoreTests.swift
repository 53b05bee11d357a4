import XCTest

@_spi(Server) @testable import CodableSync

/// A fake cloud that is restored to an earlier state.
final class FakeCloudRestoreTests: XCTestCase {
    func testDevicesUploadRecordsLostByARestore() async throws {
        let clock = ManualClock()
        let cloud = FakeCloud(clock: clock)
        let phone = Device<Note>(cloud.database(user: "alice"), clock: clock)
        let tablet = Device<Note>(cloud.database(user: "alice"), clock: clock)
        try await phone.engine.upload(Note("old"))
        try await phone.engine.sync()
        try await tablet.engine.sync()
        let backup = cloud.ledger
        try await phone.engine.upload(Note("lost"))
        try await phone.engine.sync()
        cloud.restore(backup)
        try await tablet.engine.upload(Note("new"))
        for device in [tablet, phone, tablet] { try await device.engine.sync() }
        XCTAssertEqual(try cloud.models(Note.self, user: "alice").map(\.id), ["lost", "new", "old"])
        let shown = try await tablet.engine.allModels().map(\.id)
        XCTAssertEqual(shown, ["lost", "new", "old"])
        XCTAssertTrue(phone.events.all.contains(.zoneLost(nil)))
    }
}
