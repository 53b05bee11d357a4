import XCTest

@testable import CodableSync

extension StateScenarios {
    // SF-04: the only change that restoring a backup reverts.
    func testAnUnsentCreationInABackupIsSentAgain() async throws {
        let (phone, files) = try makeFragileDevice(Note.self)
        try await phone.engine.sync()
        try await phone.engine.upload(Note("a", "created"))
        let backup = files.crashed(keeping: .allWrites)
        try await phone.engine.sync()
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.sync()
        try await phone.engine.close()
        let restored = try makeDevice(Note.self, on: backup)
        try await settle(restored)
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a"])
    }
}
