import CodableSync
import FaultTestKit
import Foundation
import RecordServerKit
import XCTest

/// The command `backup`.
final class BackupTests: RestoredServerScenario {
    /// What a device knows to be on the server, while it uploads.
    private actor Confirmed {
        private(set) var count = 0
        private(set) var isDone = false

        func add() { count += 1 }
        func end() { isDone = true }
    }

    /// A device uploads while copies are made: each has what the server had confirmed before, as a new device sees that
    /// has nothing to upload; then all devices agree.
    func testBackupsMadeInTrafficAreWholeAndDevicesAgreeAfterARestore() async throws {
        try await withServer { server in
            let phone = try await server.makeDevice()
            let tablet = try await server.makeDevice()
            let confirmed = Confirmed()
            let traffic = Task {
                while await !confirmed.isDone {
                    let number = await confirmed.count
                    try await phone.engine.upload(Page(id: "page\(number)", text: ""))
                    _ = try await phone.engine.sync()
                    await confirmed.add()
                }
            }
            var backups: [(files: [String: Data], before: Int)] = []
            for _ in 0..<3 {
                let last = backups.last?.before ?? 0
                while await confirmed.count < last + 5 { await Task.yield() }
                let before = await confirmed.count
                backups.append((try server.backupByCommand(), before))
            }
            await confirmed.end()
            try await traffic.value
            let count = await confirmed.count
            XCTAssertEqual(backups[0].files["key"]?.count, 32)
            for (number, backup) in backups.enumerated() {
                try server.restore(backup.files, .killed)
                let reader = try await server.makeDevice()
                try await reader.engine.sync()
                let found = Set(try await reader.engine.allModels().map(\.id))
                let missing = (0..<backup.before).filter { !found.contains("page\($0)") }
                XCTAssertEqual(missing, [], "backup \(number)")
                try await tablet.engine.upload(Page(id: "after\(number)", text: ""))
                try await settle(phone, tablet)
                let all = try await server.assertEqualEverywhere(phone, tablet).filter {
                    $0.id.hasPrefix("page")
                }
                XCTAssertEqual(all.count, count)
            }
        }
    }

    func testWhatWasAnsweredBeforeIsInTheCopyAlone() async throws {
        try await withServer { server in
            let phone = try await server.makeDevice()
            try await phone.engine.upload(pages("kept", 20))
            try await phone.engine.sync()
            let backup = try server.backupByCommand()
            try server.restore(backup, .killed)
            // A new device, so that nothing is uploaded.
            let reader = try await server.makeDevice()
            try await reader.engine.sync()
            let found = try await reader.engine.allModels()
            XCTAssertEqual(found.count, 20)
        }
    }

    /// Root can read another user's key, and would leave locks that the server can't open.
    func testTheServersUserMakesTheCopyAndNothingIsLeftOfOneThatFails() async throws {
        try XCTSkipUnless(geteuid() == 0, "only root can give files away")
        let home = FileManager.default.temporaryDirectory
            .appending(path: "BackupTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: home)) }
        let files = home.appending(path: "server")
        let server = try ServerProcess(directory: files, users: ["alice"])
        XCTAssertEqual(chown(files.appending(path: "key").path, 65_534, 65_534), 0)
        let (copy, inside) = (home.appending(path: "copy"), files.appending(path: "copy"))
        for place in [copy, inside] {
            let (status, errors) = try RecordServerProgram.run([
                "backup", place.path, "--directory", files.path,
            ])
            XCTAssertNotEqual(status, 0)
            XCTAssertTrue(
                errors.contains(place == copy ? "belongs to another user" : "Choose a place outside"),
                errors
            )
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: home.path), ["server"])
        XCTAssertEqual(server.terminate(), 0)
    }

    func testItSaysWhatItCanNotCopy() async throws {
        let home = FileManager.default.temporaryDirectory
            .appending(path: "BackupTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: home)) }
        let (files, copy) = (home.appending(path: "server"), home.appending(path: "copy"))
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        func backup(_ directory: URL, to copy: URL) throws -> (status: Int32, errors: String) {
            try RecordServerProgram.run(["backup", copy.path, "--directory", directory.path])
        }
        var (status, errors) = try backup(home, to: copy)
        XCTAssertNotEqual(status, 0)
        XCTAssertTrue(errors.contains("is not the directory of a record server"), errors)
        let server = try ServerProcess(directory: files, users: ["alice"])
        (status, errors) = try backup(files, to: home)
        XCTAssertNotEqual(status, 0)
        XCTAssertTrue(errors.contains("Choose a new name"), errors)
        (status, errors) = try backup(files, to: copy)
        XCTAssertEqual(status, 0, errors)
        let mode = { (path: String) in
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        XCTAssertEqual(try mode(copy.path), 0o700)
        XCTAssertEqual(try mode(copy.appending(path: "key").path), 0o600)
        XCTAssertEqual(server.terminate(), 0)
        let cloud = files.appending(path: "cloud")
        try FileManager.default.createDirectory(at: cloud, withIntermediateDirectories: true)
        try Data("dear diary\n".utf8).write(to: cloud.appending(path: "journal-1.jsonl"))
        let damaged = home.appending(path: "damaged")
        (status, errors) = try backup(files, to: damaged)
        XCTAssertNotEqual(status, 0)
        XCTAssertTrue(errors.contains("is damaged at"), errors)
        XCTAssertEqual(
            Set(try FileManager.default.contentsOfDirectory(atPath: home.path)),
            ["server", "copy"]
        )
    }
}

/// The program, run to its end.
enum RecordServerProgram {
    static func run(_ arguments: [String]) throws -> (status: Int32, errors: String) {
        let process = Process()
        let errors = Pipe()
        process.executableURL = ServerProcess.programs.appending(path: "record-server")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
