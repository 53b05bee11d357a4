import CodableSync
import FaultTestKit
import Foundation
import RecordServerKit
import XCTest

/// The command `backup`.
final class BackupTests: RestoredServerScenario {
    /// A device uploads while copies are made: each has what it had sent before, and the server goes on from any.
    func testBackupsMadeInTrafficAreWholeAndDevicesAgreeAfterARestore() async throws {
        try await withServer { server in
            let phone = try await server.makeDevice()
            let tablet = try await server.makeDevice()
            try await phone.engine.upload(pages("before", 3))
            try await settle(phone, tablet)
            let traffic = Task {
                for number in 1...200 where !Task.isCancelled {
                    try await phone.engine.upload(Page(id: "during\(number)", text: ""))
                    _ = try await phone.engine.sync()
                }
            }
            var backups: [[String: Data]] = []
            for _ in 0..<3 { backups.append(try server.backupByCommand()) }
            traffic.cancel()
            // A cancelled upload or sync may throw; each of its pages stays queued or is sent.
            _ = await traffic.result
            _ = try await phone.engine.sync()
            let sent = Set(try await phone.engine.allModels().map(\.id))
            let key = backups[0]["key"]
            XCTAssertEqual(key?.count, 32)
            for (number, backup) in backups.enumerated() {
                XCTAssertEqual(backup["key"], key)
                try server.restore(backup, .killed)
                try await tablet.engine.upload(Page(id: "after\(number)", text: ""))
                try await settle(phone, tablet)
                let found = Set(try await server.assertEqualEverywhere(phone, tablet).map(\.id))
                XCTAssertTrue(found.isSuperset(of: sent), "\(sent.subtracting(found)) are missing")
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
        XCTAssertFalse(FileManager.default.fileExists(atPath: damaged.path))
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
