import Foundation
import XCTest

@testable import CodableSync

/// A damaged state opens even if the snapshot that should replace it cannot be written.
final class FailingRecoveryTests: StateFileScenario {
    func testADamagedStateOpensEvenIfItCannotBeCompacted() async throws {
        let files = try await prepare()
        let name = "journal-1.jsonl"
        var bytes = files[name]
        let line = try XCTUnwrap(bytes.firstRange(of: Array(#"{"zone":1,"name":"known1""#.utf8)))
        bytes[line.upperBound + 3] ^= 1
        files[name] = bytes
        let hooked = HookedFileSystem(files.disk)
        hooked.before { operation, path throws(FileError) in
            if operation == .create, path.lastPathComponent.hasPrefix("snapshot-") {
                throw FileError(operation, path, code: ENOSPC)
            }
        }
        let device: Device<Note> = try makeDevice { $0.fileSystem = hooked }
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, Self.edits)
        XCTAssertTrue(device.hasToldOfCompaction)
        XCTAssertEqual(recoveries(of: device).count, 1)
        hooked.before(nil)
        try await assertFetchesAll(device)
        try await device.engine.close()
    }
}
