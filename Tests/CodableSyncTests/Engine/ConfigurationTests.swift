import Foundation
import XCTest

@testable import CodableSync

/// Rows G1, G2 and G7 of the malformed inputs: the first call reports misuse before any file is written.
final class ConfigurationTests: EngineScenario {
    /// The error of the first throwing call, which must not touch any file.
    private func refusal<Model: RecordCodable & Equatable>(
        _ model: Model,
        limits: DatabaseLimits? = nil,
        _ configure: (inout SyncConfiguration) -> Void
    ) async throws -> String? {
        let files = SimulatedFileSystem()
        let device = try makeDevice(Model.self) { configuration in
            configuration.fileSystem = files
            configure(&configuration)
        }
        if let limits { device.database.setLimits(limits) }
        defer { XCTAssertEqual(files.calls.count, 0, "a file was touched") }
        do {
            try await device.engine.upload(model)
        } catch let error as SyncError where error.code == .configuration {
            await assertThrows(error, "a later call throws the same error") { try await device.engine.sync() }
            let beginning = SyncError.configuration("").message
            XCTAssertTrue(error.message.hasPrefix(beginning), error.message)
            return String(error.message.dropFirst(beginning.count))
        }
        return nil
    }

    private func assertRefused(
        _ setting: String,
        _ rows: [(String, (inout SyncConfiguration) -> Void)],
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        for (row, configure) in rows {
            let text = try await refusal(Note("a"), configure)
            XCTAssertEqual(text?.hasPrefix(setting), true, "\(row): \(text ?? "-")", file: file, line: line)
            XCTAssertLessThan(text?.count ?? 0, 400, row, file: file, line: line)
            XCTAssertEqual(text?.contains("\n"), false, row, file: file, line: line)
        }
    }

    // G1
    func testInvalidContainerIdentifierIsRejected() async throws {
        let names = [
            "", " ", "a b", "a/b", "iCloud.é", "a\0b", "a\nb", "..:", String(repeating: "x", count: 256),
        ]
        try await assertRefused(
            "containerIdentifier",
            names.map { name in (name, { $0.containerIdentifier = name }) }
        )
        for name in ["a", "iCloud.com.example.My-App_1", String(repeating: "x", count: 255)] {
            let device = try makeDevice(Note.self) { $0.containerIdentifier = name }
            try await device.engine.upload(Note("a"))
            try await device.engine.close()
        }
    }

    // G1
    func testInvalidZoneNameIsRejected() async throws {
        let names = ["", "_zone", "_defaultZone", "zöne", "a\u{1F30D}", String(repeating: "z", count: 256)]
        try await assertRefused("zoneName", names.map { name in (name, { $0.zoneName = name }) })
        let device = try makeDevice(Note.self) { $0.zoneName = String(repeating: "z", count: 255) }
        try await device.engine.upload(Note("a"))
    }

    // G1
    func testInvalidRecordTypeIsRejected() async throws {
        for text in [
            try await refusal(Spaced()) { _ in }, try await refusal(Coloned()) { _ in },
            try await refusal(Nameless()) { _ in }, try await refusal(Reserved()) { _ in },
        ] { XCTAssertEqual(text?.hasPrefix("recordType"), true, text ?? "-") }
        let text = try await refusal(Unversioned()) { _ in }
        XCTAssertEqual(text?.hasPrefix("schemaVersion is 0"), true, text ?? "-")
    }

    // G2
    func testPageSizeOutsideTheDatabasesLimitsIsRejected() async throws {
        try await assertRefused(
            "fetchPageSize",
            ([0, -1, Int.min, 201, Int.max] as [Int]).map { size in ("\(size)", { $0.fetchPageSize = size }) }
        )
        let small = DatabaseLimits(maximumPageSize: 7)
        let text = try await refusal(Note("a"), limits: small) { $0.fetchPageSize = 8 }
        XCTAssertEqual(text?.contains("is 8; this database allows 1 to 7"), true, text ?? "-")
        for size in [1, 200] {
            let device = try makeDevice(Note.self) { $0.fetchPageSize = size }
            try await device.engine.sync()
        }
    }

    private static let senselessTimes: [Duration] = [.zero, .seconds(-1), .seconds(Int64.max)]

    // G2
    func testInvalidDurationsAreRejected() async throws {
        try await assertRefused(
            "requestDeadline",
            (Self.senselessTimes + [.seconds(86_401)]).map { time in
                ("\(time)", { $0.requestDeadline = time })
            }
        )
        try await assertRefused(
            "pollInterval",
            (Self.senselessTimes + [.milliseconds(1)]).map { time in
                (String(describing: time), { $0.pollInterval = time })
            }
        )
        let device = try makeDevice(Note.self) { configuration in
            configuration.requestDeadline = .seconds(86_400)
            configuration.pollInterval = .seconds(365 * 86_400)
            configuration.automaticallySyncs = true
        }
        try await device.engine.upload(Note("a"))
        try await device.engine.sync()
        try await device.engine.close()
    }

    // G2
    func testDatabaseWithZeroLimitsIsRejected() async throws {
        let rows = [
            ("maximumItems", DatabaseLimits(maximumItems: 0)),
            ("maximumItems", DatabaseLimits(maximumItems: -4)),
            ("maximumBytes", DatabaseLimits(maximumBytes: 0)),
            ("maximumRecordBytes", DatabaseLimits(maximumRecordBytes: -1)),
            ("maximumPageSize", DatabaseLimits(maximumPageSize: 0)),
        ]
        for (name, limits) in rows {
            let text = try await refusal(Note("a"), limits: limits) { _ in }
            XCTAssertEqual(text?.hasPrefix("database.limits.\(name)"), true, text ?? name)
        }
    }

    // G1
    func testStorageURLThatIsNotADirectoryIsRejected() async throws {
        for text in ["https://example.com/state", "data:,x", "state"] {
            guard let url = URL(string: text) else { return XCTFail(text) }
            let refused = try await refusal(Note("a")) { $0.storage = .directory(url) }
            XCTAssertEqual(refused?.hasPrefix("storage"), true, refused ?? text)
        }
    }

    // G7
    func testAClockThatGoesBackIsTolerated() async throws {
        let clock = BackwardClock()
        let phone = try makeDevice(Note.self) { configuration in
            configuration.clock = clock
            configuration.automaticallySyncs = true
            configuration.pollInterval = .seconds(60)
        }
        for round in 0..<5 {
            clock.jumpBack()
            try await phone.engine.upload(Note("n\(round)"))
            clock.jumpBack()
            try await phone.engine.sync()
        }
        try await assertEqualEverywhere(phone)
        try await phone.restart()
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models.count, 5)
        try await phone.engine.close()
    }
}

extension ConfigurationTests {
    /// Rule 5 of the malformed inputs: text from outside stays on one line and is shortened.
    func testHostileTextCannotAddLinesOrFloodMessages() throws {
        let hostile =
            "x\n2026-01-01 all is well\u{202E}\u{2028}\u{1B}[2J\0\u{85}" + String(repeating: "y", count: 9000)
        let coding = ModelCoding<Note>(zoneID: ZoneID(zoneName: "Item"), writesEditDates: true)
        let context = DecodingError.Context(codingPath: [], debugDescription: hostile)
        let texts: [any CustomStringConvertible] = [
            SyncError.invalidModels([.init(recordName: hostile, reason: "It is wrong.")]),
            SyncError.cloud(CloudError(.unknown(hostile), message: hostile)),
            CloudError(.unknown(hostile), message: hostile),
            CloudError(wrapping: Hostile(description: hostile)),
            FileError(.open, "/" + hostile, code: 2), FileError(.open, hostile + "/journal-1.jsonl", code: 2),
            LogError.tooNew(path: hostile, found: 2, supported: 1),
            LogError.tooOld(path: hostile, found: 1, oldest: 2), LogError.replaced(path: hostile),
            LogError.otherFormat(path: hostile, expected: hostile),
            NewerEntry(path: hostile, offset: 1, kind: hostile), JournalLineError.unknownKind(hostile),
            CodingFailure.otherRecordName(expected: hostile, found: hostile),
            CodingFailure.asset(field: hostile), coding.describe(Hostile(description: hostile)),
            coding.describe(DecodingError.dataCorrupted(context)),
        ]
        for text in texts {
            let text = text.description
            XCTAssertLessThan(text.unicodeScalars.count, 900, String(text.prefix(100)))
            let bad = text.unicodeScalars.filter { scalar in
                ["\n", "\0", "\u{1B}", "\u{202E}", "\u{2028}", "\u{85}"].contains(scalar)
            }
            XCTAssertTrue(bad.isEmpty, String(text.prefix(100)))
        }
        // The end of a path shows which file it is.
        XCTAssertTrue(
            FileError(.open, hostile + "/journal-1.jsonl", code: 2).message.contains("/journal-1.jsonl")
        )
    }
}

private struct Hostile: Error, CustomStringConvertible {
    var description: String
}

/// A clock that a test can set back, both its monotonic and its wall time.
private final class BackwardClock: SyncClock {
    private let moment = Locked(
        Moment(monotonic: .seconds(1_000_000), wall: Date(timeIntervalSince1970: 1_700_000_000))
    )

    var now: Moment { moment.withLock { $0 } }

    func jumpBack() {
        moment.withLock { moment in
            moment.monotonic -= .seconds(1000)
            moment.wall = moment.wall.addingTimeInterval(-365 * 24 * 3600)
        }
    }

    func sleep(until instant: Duration) async throws { try await StoppedClock().sleep(until: instant) }
}

private protocol OddModel: RecordCodable, Equatable {}

extension OddModel {
    var recordName: String { "a" }
    static func resolveConflict(_ conflict: Conflict<Self>) throws -> Self? { nil }
}

private struct Spaced: OddModel {
    static let recordType = "My Note"
}

private struct Coloned: OddModel {
    static let recordType = "Note:2"
}

private struct Nameless: OddModel {
    static let recordType = ""
}

private struct Reserved: OddModel {
    static let recordType = "Users"
}

private struct Unversioned: OddModel {
    static let recordType = "Note"
    static let schemaVersion = 0
}
