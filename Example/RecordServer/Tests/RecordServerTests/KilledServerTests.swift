import CodableSync
import FaultTestKit
import Foundation
import XCTest

/// Engines on a server that is a process: two devices of one user, one of another, and kills in the middle of traffic.
final class KilledServerTests: XCTestCase {
    private var directory = URL(filePath: "/")

    override func setUpWithError() throws {
        directory = FileManager.default.temporaryDirectory
            .appending(path: "KilledServerTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws {
        try FileManager.default.removeItem(at: directory)
    }

    func testTwoDevicesConvergeAndAnotherUserSeesNothing() async throws {
        let server = try ServerProcess(
            directory: directory.appending(path: "server"),
            users: ["alice", "bob"]
        )
        let phone = try await ServerDevice("phone", of: "alice", on: server.printed, in: directory)
        let tablet = try await ServerDevice("tablet", of: "alice", on: server.printed, in: directory)
        let other = try await ServerDevice("other", of: "bob", on: server.printed, in: directory)
        try await phone.engine.upload(Page(id: "p", text: "phone"))
        try await tablet.engine.upload(Page(id: "t", text: "tablet"))
        for device in [phone, tablet, phone, other] { _ = try await device.engine.sync() }
        for device in [phone, tablet] {
            let names = try await device.engine.allModels().map(\.id).sorted()
            XCTAssertEqual(names, ["p", "t"])
        }
        let none = try await other.engine.allModels()
        XCTAssertEqual(none, [])
        for device in [phone, tablet, other] { try await device.close() }
        XCTAssertEqual(server.terminate(), 0)
    }

    /// `KILLS=100` in the environment kills it a hundred times.
    func testNothingAcknowledgedIsLostWhenTheServerIsKilled() async throws {
        let kills = ProcessInfo.processInfo.environment["KILLS"].flatMap { Int($0) } ?? 3
        let files = directory.appending(path: "server")
        var server = try ServerProcess(directory: files, users: ["alice"])
        let port = try XCTUnwrap(server.url.port)
        let devices = [
            try await ServerDevice("phone", of: "alice", on: server.printed, in: directory),
            try await ServerDevice("tablet", of: "alice", on: server.printed, in: directory),
        ]
        var expected: Set<String> = []
        for kill in 1...kills {
            for number in 1...10 {
                for (place, device) in devices.enumerated() {
                    let name = "\(place)-\(kill)-\(number)"
                    try await device.engine.upload(Page(id: name, text: name))
                    expected.insert(name)
                }
            }
            // While the engines send these.
            server.kill()
            server = try ServerProcess(directory: files, port: port, users: ["alice"])
        }
        for device in devices { try await device.waitUntilSent(within: 60) }
        let third = try await ServerDevice("third", of: "alice", on: server.printed, in: directory)
        _ = try await third.engine.sync()
        let found = try await Set(third.engine.allModels().map(\.id))
        XCTAssertEqual(found, expected)
        for device in devices + [third] { try await device.close() }
        XCTAssertEqual(server.terminate(), 0)
    }
}
