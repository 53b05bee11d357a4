import CodableSync
import LandmarkModel
import XCTest

@testable import LandmarksCommand

/// The user has removed the app's data from the cloud, and says what becomes of it here.
final class AnswerPurgeTests: XCTestCase {
    /// An engine whose zone was purged, in a process that has not asked the cloud yet.
    private func purged() async throws -> (engine: SyncEngine<Landmark>, cloud: FakeCloud) {
        let cloud = FakeCloud()
        let database = cloud.database()
        let state = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        addTeardownBlock { try FileManager.default.removeItem(at: state) }
        func open() -> SyncEngine<Landmark> {
            var configuration = SyncConfiguration()
            configuration.storage = .directory(state)
            configuration.automaticallySyncs = false
            return SyncEngine<Landmark>(database: database, configuration: configuration)
        }
        let first = open()
        try await first.upload(
            Landmark(id: "a", name: "Tower", coordinate: Coordinate(latitude: 1, longitude: 2))
        )
        try await first.sync()
        try cloud.purgeZone(ZoneID(zoneName: "Landmark"))
        do {
            try await first.sync()
            XCTFail("The sync should ask.")
        } catch {
            XCTAssertTrue(Failure(error).message.contains("answer-purge upload-again"), "\(error)")
        }
        try await first.close()
        return (open(), cloud)
    }

    func testEachAnswerDoesWhatItSays() async throws {
        for answer in AnswerPurge.Answer.allCases {
            let (engine, _) = try await purged()
            let text = try await AnswerPurge.give(answer, to: engine)
            XCTAssertTrue(text.hasPrefix(answer.effect + "\n\(answer == .uploadAgain ? 1 : 0) sent"), text)
            let count = try await engine.allModels().count
            XCTAssertEqual(count, answer == .uploadAgain ? 1 : 0)
            do {
                _ = try await AnswerPurge.give(answer, to: engine)
                XCTFail("There is no question any more.")
            } catch let failure as Failure {
                XCTAssertEqual(failure.status, .usage)
            }
            try await engine.close()
        }
    }
}
