import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The files of an open state, without an engine.
final class OpenFilesTests: XCTestCase {
    private let fileSystem = MemoryFileSystem()

    private func open() throws -> (OpenFiles, StateDirectory) {
        let identity = StateIdentity(
            cloud: "fake",
            scope: "private",
            container: nil,
            zone: "Item",
            recordType: "Item"
        )
        let directory = try StateDirectory(path: "/device", identity: identity, fileSystem: fileSystem)
        let opened = try JSONStateStore.open(directory: "/device/users/1", fileSystem: fileSystem)
        return (OpenFiles(store: opened.store, directory: directory), directory)
    }

    func testContentsAreReadableBeforeTheyAreStored() async throws {
        let (files, _) = try open()
        let recordID = RecordID(recordName: "a", zoneID: ZoneID(zoneName: "Item"))
        let record = Record(recordType: "Item", recordID: recordID, fields: ["title": "Tea"])
        files.keep([1: record])
        let kept = try await files.load([1])
        XCTAssertEqual(kept[1], record)
        files.forgetAll()
        let forgotten = try await files.load([1])
        XCTAssertNil(forgotten[1])
        await files.close()
    }

    /// Each attempt rewrites all kept records, so it must not run with every change stored meanwhile.
    func testAFailedRemovalIsRetriedWithGrowingPauses() {
        var removal = Storing.Removal()
        var tries: [Int] = []
        for write in 0..<100 where removal.isDue() {
            tries.append(write)
            removal.fail()
        }
        XCTAssertEqual(tries, [0, 2, 5, 10, 19, 36, 69])
    }
}
