import CodableSync
import Foundation
import XCTest

/// The directory of a server is put back to an earlier copy: devices upload everything they know, and nothing is
/// deleted.
///
/// The cases, here and in `RestoredServerPartTests`, are those of `RestoredCloudTests` in the root package.
final class RestoredServerTests: RestoredServerScenario {
    /// Three records, a copy, five more records, the restore, then seven more by another device.
    func testDevicesAgreeAgainAfterARestore() async throws {
        for manner in Manner.allCases {
            for isRestarted in [false, true] {
                try await withServer { server in
                    var devices: [ServerDevice] = []
                    for _ in 0..<3 { devices.append(try await server.makeDevice()) }
                    try await devices[0].engine.upload(pages("old", 3))
                    try await settle(devices[0], devices[1], devices[2])
                    let backup = try server.backup()
                    try await devices[0].engine.upload(pages("lost", 5))
                    try await settle(devices[0], devices[1])
                    try server.restore(backup, manner)
                    if isRestarted {
                        for index in devices.indices {
                            devices[index] = try await server.restart(devices[index])
                        }
                    }
                    try await devices[2].engine.upload(pages("new", 7))
                    try await devices[2].engine.sync()
                    try await settle(devices[0], devices[1], devices[2])
                    let found = try await server.assertEqualEverywhere(devices[0], devices[1], devices[2])
                    XCTAssertEqual(found.count, 15, "\(manner), restarted: \(isRestarted)")
                }
            }
        }
    }

    /// Without any edits, the device that fetched the lost records does not delete them.
    func testNothingIsLostInAnyOrderOfSyncs() async throws {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            try await withServer { server in
                var devices: [ServerDevice] = []
                for _ in 0..<3 { devices.append(try await server.makeDevice()) }
                try await devices[0].engine.upload(pages("old", 3))
                try await settle(devices[0], devices[1], devices[2])
                let backup = try server.backup()
                try await devices[0].engine.upload(pages("lost", 5))
                try await settle(devices[0], devices[1])
                try server.restore(backup, .killed)
                for index in order { try await devices[index].engine.sync() }
                try await settle(devices[0], devices[1], devices[2])
                let found = try await server.assertEqualEverywhere(devices[0], devices[1], devices[2])
                XCTAssertEqual(found.count, 8, "\(order)")
            }
        }
    }

    /// The history after the restore is shorter than, as long as, or longer than the lost one.
    func testADeviceThatStaysOpenNoticesARestoreOfAnySize() async throws {
        for manner in Manner.allCases {
            for newCount in [0, 1, 3, 8] {
                try await withServer { server in
                    let phone = try await server.makeDevice()
                    let tablet = try await server.makeDevice()
                    try await phone.engine.upload(Page(id: "old", text: ""))
                    try await settle(phone, tablet)
                    let backup = try server.backup()
                    for page in pages("a", 3) {
                        try await phone.engine.upload(page)
                        try await phone.engine.sync()
                    }
                    try server.restore(backup, manner)
                    for page in pages("b", newCount) {
                        try await tablet.engine.upload(page)
                        try await tablet.engine.sync()
                    }
                    try await settle(phone, tablet)
                    let found = try await server.assertEqualEverywhere(phone, tablet)
                    XCTAssertEqual(found.count, 4 + newCount, "\(manner), \(newCount) new")
                }
            }
        }
    }

    /// The edit carries the tag of a lost version, and continuing the old numbering would reuse that tag.
    func testAnEditOfALostVersionOverwritesNothing() async throws {
        for sendsFirst in [false, true] {
            try await withServer { server in
                let phone = try await server.makeDevice()
                let tablet = try await server.makeDevice()
                try await phone.engine.upload(Page(id: "a", text: "tea"))
                try await settle(phone, tablet)
                let backup = try server.backup()
                try await phone.engine.upload(Page(id: "a", text: "tea", note: "lost"))
                try await phone.engine.sync()
                try server.restore(backup, .killed)
                try await tablet.engine.upload(Page(id: "a", text: "tea", color: "green"))
                try await tablet.engine.sync()
                try await phone.engine.upload(Page(id: "a", text: "hot tea", note: "lost"))
                if sendsFirst { try await phone.engine.sendChanges() }
                try await settle(phone, tablet)
                let found = try await server.assertEqualEverywhere(phone, tablet)
                let expected = Page(id: "a", text: "hot tea", note: "lost", color: "green")
                XCTAssertEqual(found, [expected], "sends first: \(sendsFirst)")
            }
        }
    }

    /// The edited record exists only in the lost part; it must not count as deleted by another device.
    func testAnEditOfALostRecordIsKept() async throws {
        for sendsFirst in [false, true] {
            try await withServer { server in
                let phone = try await server.makeDevice()
                try await phone.engine.upload(Page(id: "old", text: ""))
                try await phone.engine.sync()
                let backup = try server.backup()
                try await phone.engine.upload(Page(id: "lost", text: "first"))
                try await phone.engine.sync()
                try server.restore(backup, .killed)
                try await phone.engine.upload(Page(id: "lost", text: "second"))
                if sendsFirst { try await phone.engine.sendChanges() }
                try await settle(phone)
                let shown = try await texts(phone)
                XCTAssertEqual(shown, ["", "second"], "sends first: \(sendsFirst)")
                try await server.assertEqualEverywhere(phone)
            }
        }
    }

    /// The token of the database feed also belongs to the lost history.
    func testARestoreToATimeBeforeTheZoneDeletesNothing() async throws {
        for manner in Manner.allCases {
            for isRecreated in [false, true] {
                try await withServer { server in
                    let phone = try await server.makeDevice()
                    let tablet = try await server.makeDevice()
                    // The history in the copy ends with a zone deletion that is no longer relevant.
                    try await phone.engine.upload(Page(id: "older", text: "older"))
                    try await phone.engine.sync()
                    try await server.deleteZone()
                    let backup = try server.backup()
                    try await phone.engine.sync()
                    try await phone.engine.upload(Page(id: "a", text: "tea"))
                    try await settle(phone, tablet)
                    try server.restore(backup, manner)
                    if isRecreated {
                        try await tablet.engine.sync()
                        try await tablet.engine.upload(Page(id: "b", text: "milk"))
                        try await tablet.engine.sync()
                    }
                    try await settle(phone, tablet)
                    let shown = try await texts(phone)
                    XCTAssertTrue(shown.contains("tea"), "\(manner), re-created: \(isRecreated): \(shown)")
                    try await server.assertEqualEverywhere(phone, tablet)
                }
            }
        }
    }
}
