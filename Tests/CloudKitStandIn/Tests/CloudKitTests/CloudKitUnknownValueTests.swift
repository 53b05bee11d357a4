import CloudKit
import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Values of kinds that this version does not know stay in the cloud, and are reported once.
final class CloudKitUnknownValueTests: XCTestCase {
    private final class Novelty: NSObject, CKRecordValueProtocol {}

    private struct Drawing: RecordCodable, Equatable, Identifiable {
        var id: String
        var title = ""
        var shape: String?

        static func resolveConflict(_ conflict: Conflict<Drawing>) throws -> Drawing? {
            try conflict.merged()
        }
    }

    private let service = FakeCloudKit(FakeCloud().database(user: "alice"))
    private let events = EventLog()

    private var configuration: SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.automaticallySyncs = false
        configuration.logHandler = { [events] in events.append($0) }
        return configuration
    }

    /// The fields of unknown kinds that were reported, in order.
    private var reported: [String] {
        events.all.compactMap {
            if case .unknownValue(let name, let field, let kind) = $0 {
                "\(name).\(field): \(kind)"
            } else {
                nil
            }
        }
    }

    private func addNovelties() {
        service.changeRecord.with {
            $0 = { record in
                record["shape"] = Novelty()
                record["colors"] = NSArray(array: [Novelty(), Novelty()])
                record.encryptedValues["secret"] = Novelty()
            }
        }
    }

    func testAnUnknownKindIsNoFieldAndHasAName() {
        let record = CKRecord(
            recordType: "Drawing",
            recordID: CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Drawing"))
        )
        record["title"] = "one"
        record["shape"] = Novelty()
        record["colors"] = NSArray(array: [Novelty()])
        let read = CloudKitReader().record(record)
        XCTAssertEqual(read.fields, ["title": "one"])
        XCTAssertEqual(read.unknownFields, ["shape": "Novelty", "colors": "list of Novelty"])
    }

    func testEachFieldIsReportedOnceAndItsValueIsNeverSent() async throws {
        let other = SyncEngine<Drawing>(
            database: service.secondDevice().database(),
            configuration: {
                var configuration = configuration
                configuration.logHandler = nil
                return configuration
            }()
        )
        try await other.upload([Drawing(id: "a", title: "one"), Drawing(id: "b", title: "two")])
        _ = try await other.sync()
        addNovelties()
        let engine = SyncEngine<Drawing>(database: service.database(), configuration: configuration)
        _ = try await engine.sync()
        XCTAssertEqual(reported, ["a.colors: list of Novelty", "a.secret: Novelty", "a.shape: Novelty"])
        let shown = try await engine.allModels().sorted { $0.id < $1.id }
        XCTAssertEqual(shown, [Drawing(id: "a", title: "one"), Drawing(id: "b", title: "two")])

        // An edit, a draft and a whole upload send no more than what they change.
        _ = try await engine.edit(named: "a") { $0.title = "three" }
        _ = try await engine.sync()
        try await engine.upload(Drawing(id: "a", title: "four"), editedFrom: Drawing(id: "a", title: "three"))
        _ = try await engine.sync()
        try await engine.upload(Drawing(id: "a", title: "five"))
        _ = try await engine.sync()
        let sent = service.log.with { $0.changedKeys["a"] ?? [] }
        XCTAssertEqual(sent.count, 3)
        for keys in sent { XCTAssertEqual(keys, ["codableSyncEdited", "title"]) }
        XCTAssertEqual(reported.count, 3, "\(reported)")

        // The app sets it: now it is the app's.
        _ = try await engine.edit(named: "a") { $0.shape = "circle" }
        _ = try await engine.sync()
        XCTAssertEqual(
            service.log.with { $0.changedKeys["a"]?.last },
            ["codableSyncEdited", "shape"]
        )
        try await engine.close()
        try await other.close()
    }

    func testTheEventHasNoContents() {
        let event = SyncEvent.unknownValue(recordName: "a\nb", field: "shape", kind: "Novelty")
        XCTAssertEqual(
            "\(event)",
            #"Can't read the field "shape" of "a\u{a}b", which stays in the cloud: its kind is "Novelty"."#
        )
    }
}
