import XCTest

@testable import CodableSync

/// A server that takes few items in a request, down to one, and a zone that is lost.
final class SmallLimitScenarios: ZoneScenario {
    func testAZoneIsRecoveredWhateverTheLimit() async throws {
        for limit in 1...3 {
            for loss in Loss.allCases where loss != .deleted {
                let cloud = FakeCloud(clock: clock)
                let phone = Device<Note>(cloud.database(), clock: clock)
                let tablet = Device<Note>(cloud.database(), clock: clock)
                try await phone.engine.upload((0..<5).map { Note("n\($0)", "old") })
                try await settle(phone, tablet)
                pass()
                try await tablet.engine.edit(named: "n0") { $0.note = "tablet" }
                try await phone.engine.edit(named: "n1") { $0.note = "phone" }
                try await phone.engine.upload(Note("n5", "new"))
                cloud.limits = DatabaseLimits(maximumItems: limit)
                switch loss {
                case .purged: try cloud.purgeZone(zoneID)
                case .encryptedDataReset: try cloud.resetEncryptedData(in: zoneID)
                case .unexplained, .deleted:
                    for device in [phone, tablet] { device.database.hideReasons() }
                    _ = try await cloud.database().modifyRecordZones(saving: [], deleting: [zoneID])
                }
                for device in [phone, tablet] {
                    for _ in 0..<3 { try await sync(device, deciding: .uploadAgain) }
                }
                try await settle(phone, tablet)
                for device in [phone, tablet] {
                    let models = try await device.engine.allModels()
                    XCTAssertEqual(models.map(\.id), (0...5).map { "n\($0)" }, "\(loss), limit \(limit)")
                    XCTAssertEqual(models.compactMap(\.note), ["tablet", "phone"], "\(loss), limit \(limit)")
                    let pending = try await device.engine.pendingChanges()
                    XCTAssertEqual(pending, [])
                }
            }
        }
    }
}
