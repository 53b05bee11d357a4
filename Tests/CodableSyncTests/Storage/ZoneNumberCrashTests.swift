import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// A zone has one number, wherever a crash interrupts its registration.
final class ZoneNumberCrashTests: XCTestCase {
    private let identity = StateIdentity(
        cloud: "c",
        scope: "private",
        container: nil,
        zone: "Z",
        recordType: "T"
    )

    /// Opens the directory, and stores an edit as the engine does.
    private func openAndEdit(_ files: SimulatedFileSystem) throws {
        let directory = try StateDirectory(path: "/d", identity: identity, fileSystem: files)
        defer { directory.release() }
        let opened = try directory.openLast()
        defer { opened.store.close() }
        let handle = ContentHandle(opened.nextHandle)
        let change = LocalChange(kind: .save(handle, size: 1), edited: nil, base: nil)
        let entry = StateChange.queued(opened.state.key("A"), type: "T", change)
        try opened.store.append([entry], [handle: JournalSamples.record("A", "text")])
    }

    private func assertOneNumber(_ files: SimulatedFileSystem, _ row: String) throws -> Int {
        let directory = try StateDirectory(path: "/d", identity: identity, fileSystem: files)
        defer { directory.release() }
        let opened = try directory.openLast()
        defer { opened.store.close() }
        let state = opened.state
        XCTAssertEqual(state.number(of: identity.zoneID), .first, row)
        XCTAssertEqual(state.zones.numbers, [.first], row)
        XCTAssertEqual(state.numberForNewZone(), ZoneNumber(2), row)
        for key in state.sortedKeys(of: nil) { XCTAssertEqual(key, state.key("A"), row) }
        return state.sortedKeys(of: nil).count
    }

    func testACrashAtAnyCallLeavesTheZoneOneNumber() throws {
        let whole = SimulatedFileSystem()
        try openAndEdit(whole)
        XCTAssertEqual(try assertOneNumber(whole, "no crash"), 1)
        var counts: Set<Int> = []
        for call in 0..<whole.calls.count {
            for moment in SimulatedDisk.Moment.allCases {
                for survivors in [
                    SimulatedDisk.Survivors.onlySynced, .allWrites, .random(seed: UInt64(call)),
                ] {
                    let files = SimulatedFileSystem()
                    files.powerOff(at: call, moment)
                    let isEdited = (try? openAndEdit(files)) != nil
                    let row = "\(moment) call \(call), \(survivors)"
                    let next = files.crashed(keeping: survivors)
                    let count = try assertOneNumber(next, row)
                    if isEdited { XCTAssertEqual(count, 1, row) }
                    counts.insert(count)
                    XCTAssertNoThrow(try openAndEdit(next), row)
                    XCTAssertEqual(try assertOneNumber(next, row), 1, row)
                }
            }
        }
        XCTAssertEqual(counts, [0, 1])
    }
}
