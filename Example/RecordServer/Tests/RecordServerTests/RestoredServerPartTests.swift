import CodableSync
import Foundation
import XCTest

/// A restore that comes while a device is in the middle of something, or that brings back only a part.
final class RestoredServerPartTests: RestoredServerScenario {
    /// The ledger's file is there, but nothing of what was written later.
    func testAnotherLedgerInTheSamePlaceDeletesNothing() async throws {
        for isKeyed in [true, false] {
            try await withServer { server in
                let phone = try await server.makeDevice()
                let tablet = try await server.makeDevice()
                try await phone.engine.upload(Page(id: "a", text: "tea"))
                try await phone.engine.sync()
                let part = try server.backup().filter {
                    $0.key == "key" || isKeyed && $0.key.hasSuffix("cloud.json")
                }
                try server.restore(part, .killed)
                try await tablet.engine.upload(pages("b", 9))
                try await tablet.engine.sync()
                try await settle(phone, tablet)
                let found = try await server.assertEqualEverywhere(phone, tablet)
                XCTAssertEqual(found.count, 10, "\(isKeyed)")
            }
        }
    }

    func testARestoreDuringAFetchLosesNothing() async throws {
        for manner in Manner.allCases {
            try await withServer { server in
                let phone = try await server.makeDevice()
                let transport = HeldFetch()
                let tablet = try await server.makeDevice(transport: transport)
                try await phone.engine.upload(pages("old", 3))
                try await phone.engine.sync()
                let backup = try server.backup()
                // More than a page.
                try await phone.engine.upload(pages("lost", 250))
                try await phone.engine.sync()
                async let listing = tablet.engine.sync()
                await transport.arrived()
                try server.restore(backup, manner)
                try await server.delete("old1")
                transport.release()
                do { _ = try await listing } catch is SyncError {}
                try await settle(phone, tablet)
                let names = try await server.assertEqualEverywhere(phone, tablet).map(\.id)
                XCTAssertTrue(names.contains("old3"), "\(manner)")
                XCTAssertEqual(names.filter { $0.hasPrefix("lost") }.count, 250, "\(manner)")
            }
        }
    }

    /// A power failure has removed the end of the journal.
    func testATruncatedJournalIsHandledLikeARestore() async throws {
        try await withServer { server in
            let phone = try await server.makeDevice()
            let tablet = try await server.makeDevice()
            try await phone.engine.upload(Page(id: "old", text: ""))
            try await settle(phone, tablet)
            let path = "cloud/journal-1.jsonl"
            let size = try XCTUnwrap(try server.backup()[path]).count
            try await phone.engine.upload(pages("lost", 2))
            try await settle(phone, tablet)
            try server.truncate(path, to: size)
            try await phone.engine.upload(Page(id: "new", text: ""))
            try await settle(phone, tablet)
            let names = try await server.assertEqualEverywhere(phone, tablet).map(\.id)
            XCTAssertEqual(names, ["lost1", "lost2", "new", "old"])
        }
    }

    /// Records in both histories stay, and records deleted after the restore stay deleted.
    func testADeviceThatNeverSawTheLostPartSyncsNormally() async throws {
        for manner in Manner.allCases {
            try await withServer { server in
                let phone = try await server.makeDevice()
                let tablet = try await server.makeDevice()
                try await phone.engine.upload(pages("old", 3))
                try await settle(phone, tablet)
                let backup = try server.backup()
                try await phone.engine.upload(Page(id: "lost", text: ""))
                try await phone.engine.sync()
                try server.restore(backup, manner)
                try await server.delete("old2")
                try await tablet.engine.sync()
                let shown = try await texts(tablet)
                XCTAssertEqual(shown, ["old1", "old3"], "\(manner)")
            }
        }
    }

    /// The device hasn't fetched since its upload, so only the upload's change tag belongs to the lost part.
    func testADeviceThatOnlyUploadedTheLostPartUploadsItAgain() async throws {
        for isRestarted in [false, true] {
            try await withServer { server in
                var phone = try await server.makeDevice()
                let tablet = try await server.makeDevice()
                try await phone.engine.upload(Page(id: "old", text: ""))
                try await settle(phone, tablet)
                let backup = try server.backup()
                try await phone.engine.upload(pages("lost", 5))
                try await phone.engine.sendChanges()
                try server.restore(backup, .killed)
                if isRestarted { phone = try await server.restart(phone) }
                try await tablet.engine.upload(pages("new", 7))
                try await settle(tablet, phone)
                let found = try await server.assertEqualEverywhere(phone, tablet)
                XCTAssertEqual(found.count, 13, "restarted: \(isRestarted)")
            }
        }
    }

    func testRepeatedRestoresAreNoticed() async throws {
        for manner in Manner.allCases {
            try await withServer { server in
                let phone = try await server.makeDevice()
                let tablet = try await server.makeDevice()
                try await phone.engine.upload(Page(id: "old", text: ""))
                try await settle(phone, tablet)
                let backup = try server.backup()
                for round in 1...3 {
                    try await phone.engine.upload(Page(id: "p\(round)", text: ""))
                    try await tablet.engine.upload(Page(id: "t\(round)", text: ""))
                    try await settle(phone, tablet)
                    try server.restore(backup, manner)
                }
                try await settle(tablet, phone)
                let found = try await server.assertEqualEverywhere(phone, tablet)
                XCTAssertEqual(found.count, 7, "\(manner)")
            }
        }
    }

    /// Pending changes survive a restore like any other loss of the zone.
    func testPendingChangesSurviveARestore() async throws {
        for sendsFirst in [false, true] {
            try await withServer { server in
                let phone = try await server.makeDevice()
                let tablet = try await server.makeDevice()
                try await phone.engine.upload(pages("old", 3))
                try await settle(phone, tablet)
                let backup = try server.backup()
                try await phone.engine.upload(pages("lost", 3))
                try await settle(phone, tablet)
                try server.restore(backup, .killed)
                try await phone.engine.upload([
                    Page(id: "old1", text: "edited"), Page(id: "lost1", text: "edited"),
                    Page(id: "made", text: ""),
                ])
                if sendsFirst { try await phone.engine.sendChanges() }
                try await settle(phone, tablet)
                let shown = try await texts(tablet)
                let expected = ["", "edited", "edited", "lost2", "lost3", "old2", "old3"]
                XCTAssertEqual(shown, expected, "sends first: \(sendsFirst)")
                try await server.assertEqualEverywhere(phone, tablet)
            }
        }
    }

    /// The phone's next request after the restore creates a record, or saves one that the copy has; its tag is one of the
    /// present history.
    func testASaveAfterTheRestoreHidesNoneFromBefore() async throws {
        for (isCreation, isRestarted) in [(true, false), (true, true), (false, false), (false, true)] {
            try await withServer { server in
                var phone = try await server.makeDevice()
                let tablet = try await server.makeDevice()
                try await phone.engine.upload(Page(id: "old", text: ""))
                try await settle(phone, tablet)
                let backup = try server.backup()
                for name in ["lost1", "lost2"] {
                    try await phone.engine.upload(Page(id: name, text: ""))
                    try await phone.engine.sendChanges()
                }
                try server.restore(backup, .killed)
                try await phone.engine.upload(Page(id: isCreation ? "new" : "old", text: "changed"))
                try await phone.engine.sendChanges()
                if isRestarted { phone = try await server.restart(phone) }
                try await settle(phone, tablet)
                let names = try await server.assertEqualEverywhere(phone, tablet).map(\.id)
                let row = "creation: \(isCreation), restarted: \(isRestarted)"
                XCTAssertEqual(names, ["lost1", "lost2"] + (isCreation ? ["new"] : []) + ["old"], row)
            }
        }
    }
}
