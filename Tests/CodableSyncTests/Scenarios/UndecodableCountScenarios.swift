import Foundation
import XCTest

@testable import CodableSync

/// The number of fetched records that cannot be decoded, in a summary.
final class UndecodableCountScenarios: EngineScenario {
    private func undecodableEvents(_ device: Device<Note>) -> Int {
        device.events.count { if case .undecodable = $0 { true } else { false } }
    }

    func testASummaryCountsFetchedRecordsThatCannotBeDecoded() async throws {
        let phone = try makeDevice(Note.self)
        try await serverSave("a", ["id": "a", "title": 7, "count": 0])
        try await serverSave("b", ["id": "b", "count": 0])
        try await serverSave("c", RecordEncoder().encode(Note("c")).fields.filter { $0.key != "title" })
        try await serverSave("d", ["id": "d", "title": 8, "count": 0])
        let first = try await phone.engine.sync()
        XCTAssertEqual(first.undecodable, 4)
        XCTAssertEqual(undecodableEvents(phone), 4)
        let reported = try await phone.engine.diagnostics().undecodable
        XCTAssertEqual(reported, ["a", "b", "c", "d"])
        let second = try await phone.engine.fetchChanges()
        XCTAssertEqual(second.undecodable, 0)
        XCTAssertEqual(undecodableEvents(phone), 4)
    }

    func testDecodableAndSentRecordsDoNotCount() async throws {
        let phone = try makeDevice(Note.self)
        try await serverSave(Note("a", "good"))
        try await phone.engine.upload(Note("b", "mine"))
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.undecodable, 0)
        XCTAssertEqual(summary.fetched, 1)
        XCTAssertEqual(summary.sent, 1)
    }

    func testARecordThatAPageCouldNotReadCountsAfterItsLookUp() async throws {
        let phone = try makeDevice(Note.self)
        try await serverSave("a", ["id": "a", "title": 7, "count": 0])
        phone.database.changeFetchAnswers { page in
            var page = page
            page.modifications = page.modifications.mapValues { _ in .failure(CloudError(.internalError)) }
            return page
        }
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.undecodable, 1)
    }

    func testAnUndecodableRecordIsReportedOnceBySyncAndRead() async throws {
        let phone = try makeDevice(Note.self)
        try await serverSave("a", ["id": "a", "title": 7, "count": 0])
        try await serverSave("b", ["id": "b", "title": 7, "count": 0])
        _ = try await phone.engine.sync()
        _ = try await phone.engine.allModels()
        XCTAssertEqual(undecodableEvents(phone), 2)
    }

    func testRecordsListedAgainDoNotCount() async throws {
        let phone = try makeDevice(Note.self)
        try await serverSave("a", ["id": "a", "title": 7, "count": 0])
        _ = try await phone.engine.sync()
        try await phone.engine.resync()
        let again = try await phone.engine.sync()
        XCTAssertEqual([again.fetched, again.undecodable], [0, 0])
    }
}
