import Foundation
import XCTest

@testable import CodableSync

/// An engine whose state another version of the library wrote: each call says so, and no file changes.
final class OlderStateScenarios: StateFileScenario {
    /// Gives files the header of another version of the format.
    private func relabel(
        _ files: StateFiles,
        _ names: [String],
        version: UInt64,
        readableFrom: UInt64? = nil
    ) throws {
        for name in names.sorted() {
            let bytes = files[name]
            let end = try XCTUnwrap(bytes.firstIndex(of: UInt8(ascii: "\n")))
            var header = try XCTUnwrap(
                try bytes.withUnsafeBytes { bytes in
                    try LogMarks.header(
                        at: bytes,
                        of: name,
                        format: "codablesync-state",
                        supported: JSONStateStore.version...JSONStateStore.version
                    )
                }
            ).header
            header.version = version
            if header.previousSize != nil {
                let previous = LogFileName(.journal, header.name.number - 1)
                header.previousSize = UInt64(files[previous.text].count)
            }
            header.readableFrom = readableFrom
            files[name] = LogMarks.header(header, format: "codablesync-state") + bytes[(end + 1)...]
        }
    }

    private func logNames(_ files: StateFiles) -> [String] { files.names.filter { $0.hasSuffix(".jsonl") } }

    func testAStateOfAnEarlierFormatIsRefused() async throws {
        for (isCompacted, version) in [(false, 1), (true, 1), (false, 5), (true, 5)] as [(Bool, UInt64)] {
            let files = try await prepare(compacted: isCompacted)
            try relabel(files, logNames(files), version: version)
            let row = "compacted: \(isCompacted), version \(version)"
            let refused = try await refusal(files, row)
            let error = try XCTUnwrap(refused)
            XCTAssertEqual(error.code, .storageFailed, row)
            for text in [
                "format version \(version)", "reads from 7", "an older version of the library",
                files.directory,
                "Send its edits with the version of the app that wrote it",
            ] {
                XCTAssertTrue(error.message.contains(text), "\(row): \(error)")
            }
            XCTAssertEqual(error.recordNames, [])
            XCTAssertNil(error.cloudError)
        }
    }

    /// One file of the first format is enough: its lines would be read by other rules.
    func testOneFileOfTheFirstFormatIsRefused() async throws {
        let files = try await prepare(compacted: true)
        let names = logNames(files)
        XCTAssertGreaterThan(names.count, 1)
        for name in names {
            let copy = files.copy()
            try relabel(copy, [name], version: 1)
            let error = try await refusal(copy, name)
            XCTAssertEqual(error?.code, .storageFailed, name)
            XCTAssertEqual(error?.message.contains("format version 1"), true, name)
        }
    }

    func testAStateOfALaterFormatIsRefused() async throws {
        let files = try await prepare()
        try relabel(files, logNames(files), version: 8)
        let message = try await refusalMessage(.stateTooNew, files)
        XCTAssertEqual(message?.contains("format version 8"), true, message ?? "-")
    }

    /// It is read, and what this version writes goes into a file of its own.
    func testAStateOfALaterFormatIsReadIfItSaysThatItCanBe() async throws {
        for isCompacted in [false, true] {
            let files = try await prepare(compacted: isCompacted)
            let before = logNames(files)
            try relabel(files, before, version: 9, readableFrom: 7)
            let phone = try open(files)
            try await phone.engine.upload(Note("new"))
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, ["new"] + Self.edits)
            XCTAssertEqual(recoveries(of: phone), [])
            try await phone.engine.close()
            let added = logNames(files).filter { !before.contains($0) }
            XCTAssertEqual(added.count, 1)
            XCTAssertTrue(String(decoding: files[added[0]], as: UTF8.self).contains("\"version\":7,"))
            try relabel(files, before, version: 9, readableFrom: 8)
            let error = try await refusal(files)
            XCTAssertEqual(error?.code, .stateTooNew)
        }
    }

    /// Nobody gets the error of a stream's request, so an event says it.
    func testEachCallAndAStreamSayIt() async throws {
        let files = try await prepare()
        try relabel(files, logNames(files), version: 1)
        let before = files.all
        let phone = try open(files)
        let engine = phone.engine
        let calls: [(String, () async throws -> Void)] = [
            ("upload", { try await engine.upload(Note("a")) }),
            ("edit", { try await engine.edit(named: "p1") { $0.title = "x" } }),
            ("delete", { try await engine.delete(named: ["p1"]) }),
            ("model", { _ = try await engine.model(named: "p1") }),
            ("pendingChanges", { _ = try await engine.pendingChanges() }),
            ("sync", { try await engine.sync() }), ("start", { try await engine.start() }),
            ("diagnostics", { _ = try await engine.diagnostics() }),
        ]
        for (what, call) in calls {
            do {
                try await call()
                XCTFail(what)
            } catch {
                XCTAssertEqual((error as? SyncError)?.code, .storageFailed, what)
            }
        }
        let loop = Task { for await _ in engine.changes {} }
        await phone.events.reach("the stream's request was refused") { events in
            events.contains {
                if case .storageFailed(let text) = $0 { text.contains("format version 1") } else { false }
            }
        }
        try await engine.close()
        await loop.value
        XCTAssertEqual(files.all, before)
    }
}
