import Foundation
import XCTest

@testable import CodableSync

/// Numbers in a state's files that the library never writes, behind valid checksums.
final class ExtremeNumberTests: StateFileScenario {
    private let journal = "journal-1.jsonl"

    private func queued(_ members: String) -> String {
        #"{"zone":1,"name":"p9","record":{"type":"Item","pending":{\#(members)}}}"#
    }

    /// A row and the contents that it names.
    private func lines(handle: UInt64) -> [String] {
        let record =
            #"{"zone":1,"name":"p9","zone":"Item","type":"Item","fields":{"id":"p9","title":"x","count":0,"tags":[]}}"#
        return [queued(#""save":\#(handle),"size":9"#), JournalLine.contents(handle, record)]
    }

    /// Opens the files, edits and syncs, before and after a compaction and a restart: no edit is blocked.
    private func assertGoesOn(_ files: StateFiles, _ row: String, telling text: String = "") async throws {
        let device = try open(files)
        try await device.engine.upload(Note("new"))
        let told = recoveries(of: device).joined()
        XCTAssertTrue(text.isEmpty || told.contains(text), "\(row): \(told)")
        try await device.engine.close()
        try files.compact()
        try await device.restart()
        let pending = try await device.pendingNames()
        XCTAssertEqual(Set(pending).subtracting(["p9"]), Set(Self.edits + ["new"]), row)
        _ = try await device.engine.allModels()
        // The longest wait that is accepted from a file.
        pass(.seconds(3601))
        try await device.engine.sync()
        let server = try await serverRecords()
        XCTAssertTrue(Set(server.keys).isSuperset(of: Self.edits + ["new"]), row)
        try await device.engine.close()
        for name in server.keys where !Self.known.contains(name) { try await serverDelete(name) }
    }

    func testHugeHandlesAreReportedAndDoNotBlockEdits() async throws {
        let whole = try await prepare()
        let handles: [UInt64] = [.max, .max - 1, .max - 2, 1 << 63, 1 << 62, (1 << 62) - 1, 1 << 61]
        for handle in handles {
            let files = whole.copy()
            try files.write(files.groups(journal) + [lines(handle: handle)], to: journal)
            try await assertGoesOn(files, "handle \(handle)", telling: "handle is too")
        }
    }

    func testCountsNearTheMaximumDoNotTrap() async throws {
        let whole = try await prepare()
        let (highest, above) = (UInt64.max, UInt64.max - 1)
        let (most, least) = (Int64.max, Int64.min)
        let rows = [
            #"{"streams":{"held":[[\#(highest),[[1,"p9"]]]]}}"#,
            #"{"streams":{"suspects":[[\#(above),"p9"]]}}"#,
            #"{"streams":{"accepted":\#(highest)}}"#,
            #"{"zone":1,"zoneState":{"listing":\#(highest)}}"#,
            #"{"summary":{"lastNumber":\#(highest)}}"#,
            #"{"summary":{"serverWait":\#(most),"lastFetch":\#(least)}}"#,
            #"{"summary":{"serverWait":\#(least)}}"#,
            #"{"note":{"kind":"parked","date":\#(least),"message":""}}"#,
            #"{"zone":1,"name":"p9","record":{"type":"Item","listing":\#(highest),"deleted":true,"news":\#(highest)}}"#,
            queued(#""delete":true,"edited":\#(most)"#), queued(#""delete":true,"edited":\#(least)"#),
            queued(#""save":900,"size":\#(most)"#), queued(#""save":900,"size":\#(least)"#),
            queued(#""delete":true,"parked":{"kind":"unknownError","message":"","attempts":\#(most)}"#),
            #"{"zone":1,"name":"known1","record":{"type":"Item","known":{"tag":"x","handle":900,"hash":\#(highest),"modified":\#(most),"size":\#(most)}}}"#,
        ]
        for row in rows {
            let files = whole.copy()
            try files.write(files.groups(journal) + [[row]], to: journal)
            try await assertGoesOn(files, row)
        }
    }

    /// Each key is compared with all previous ones, so a line with too many is rejected early and costs only
    /// itself.
    func testALineWithTooManyMembersIsRejectedEarly() throws {
        let members = (0..<200_000).map { "\"k\($0)\":0" }.joined(separator: ",")
        let files = SimulatedFileSystem()
        let log = try JSONLog.open(
            directory: "/state",
            fileSystem: files,
            format: "codablesync-state",
            version: JSONStateStore.version
        ) { _, _ in }.log
        let line = #"{"note":{\#(members)}}"#
        try log.commit(LogFixture.group([line, #"{"zone":1,"zoneState":{"subscribed":true}}"#]), flush: true)
        log.close()
        let opened = try JSONStateStore.open(directory: "/state", fileSystem: files)
        XCTAssertEqual(opened.recovery.damages.map(\.reason), [.contents])
        XCTAssertTrue(opened.recovery.damages.first?.detail?.contains("100 members") == true)
        XCTAssertTrue(opened.state.onlyZone.isSubscribed)
        opened.store.close()
    }
}
