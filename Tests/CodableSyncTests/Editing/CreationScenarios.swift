import XCTest

@testable import CodableSync

/// Edits of a record that this device has created, and whose creation has no answer.
final class CreationScenarios: EngineScenario {
    private struct Pair: RecordCodable, Identifiable, Equatable {
        var id: String
        var first = 0
        var second = 0

        static func resolveConflict(_ conflict: Conflict<Pair>) throws -> Pair? { try conflict.merged() }
    }

    /// The other device's edit is of another field, before or after the next edit here.
    func testALostAnswerToACreationRevertsNoEdit() async throws {
        for (name, isTabletLater, isRefused) in [
            ("a", false, false), ("b", true, false), ("c", false, true), ("d", true, true),
        ] {
            let (phone, tablet) = (try makeDevice(Pair.self), try makeDevice(Pair.self))
            try await phone.engine.upload(Pair(id: name, second: 1))
            phone.database.plan(.modify, .loseAnswer)
            do {
                try await phone.engine.sendChanges()
                XCTFail("an answer")
            } catch let error as SyncError where error.code == .cloud {}
            pass()
            let edits: [() async throws -> Void] = [
                { try await phone.engine.edit(named: name) { $0.second = 2 } },
                {
                    try await tablet.engine.sync()
                    try await tablet.engine.edit(named: name) { $0.first = 3 }
                    try await tablet.engine.sync()
                },
            ]
            for edit in isTabletLater ? edits : edits.reversed() {
                try await edit()
                pass()
            }
            // The next save is refused, with the server's version.
            if isRefused { try await phone.engine.sendChanges() }
            try await settle(phone, tablet)
            for device in [phone, tablet] {
                let shown = try await device.engine.model(named: name)
                let row = "tablet later: \(isTabletLater), refused: \(isRefused)"
                XCTAssertEqual(shown, Pair(id: name, first: 3, second: 2), row)
            }
        }
    }

    /// A device that was set up from a copy of another one's files, made before that had sent the record.
    func testACloneOfADeviceBeforeItsFirstSendRevertsNoEdit() async throws {
        for (index, isCloneFirst) in [false, true, false, true].enumerated() {
            let cloud = FakeCloud(clock: clock)
            let files = SimulatedFileSystem()
            let phone = Device<Pair>(cloud.database(user: "alice"), clock: clock, files: files)
            try await phone.engine.upload(Pair(id: "a", first: 1, second: 1))
            let copy = files.crashed(keeping: .allWrites)
            let clone = Device<Pair>(cloud.database(user: "alice"), clock: clock, files: copy)
            pass()
            let edits: [() async throws -> Void] = [
                { try await phone.engine.edit(named: "a") { $0.first = 2 } },
                { try await clone.engine.edit(named: "a") { $0.second = 3 } },
            ]
            for edit in isCloneFirst ? edits.reversed() : edits {
                try await edit()
                pass()
            }
            if index < 2 { try await settle(phone, clone) } else { try await settle(clone, phone) }
            for device in [phone, clone] {
                let shown = try await device.engine.model(named: "a")
                XCTAssertEqual(shown, Pair(id: "a", first: 2, second: 3), "\(index)")
            }
            try await phone.engine.close()
            try await clone.engine.close()
        }
    }
}
