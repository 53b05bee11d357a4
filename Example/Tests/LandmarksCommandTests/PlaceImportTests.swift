import CodableSync
import Foundation
import LandmarkModel
import XCTest

@testable import LandmarksCommand

final class PlaceImportTests: XCTestCase {
    private let cloud = FakeCloud()

    private func makeEngine() -> SyncEngine<Landmark> {
        var configuration = SyncConfiguration()
        configuration.automaticallySyncs = false
        return SyncEngine(database: cloud.database(user: "alice"), configuration: configuration)
    }

    /// A file with numbered places in a country.
    private func file(_ numbers: ClosedRange<Int>, country: String = "C") throws -> FeatureCollection {
        let features = numbers.map { number in
            #"{"type":"Feature","id":"p\#(number)","properties":{"name":"P\#(number)","country":"\#(country)"},"#
                + #""geometry":{"type":"Point","coordinates":[1,2]}}"#
        }
        return try FeatureCollection(
            Data(#"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#.utf8)
        )
    }

    private func tally(_ new: Int, _ changed: Int, _ unchanged: Int) -> ImportTally {
        ImportTally(new: new, changed: changed, unchanged: unchanged)
    }

    func testAnImportCountsNewChangedAndUnchangedPlaces() async throws {
        let engine = makeEngine()
        let places = PlaceImport(engine: engine, partSize: 2)
        var progress: [Int] = []
        let first = try await places.run(file(1...5)) { progress.append($0) }
        XCTAssertEqual(first, tally(5, 0, 0))
        XCTAssertEqual(progress, [2, 4, 5])
        let second = try await places.run(file(1...6))
        XCTAssertEqual(second, tally(1, 0, 5))
        let third = try await places.run(file(1...6, country: "D"))
        XCTAssertEqual(third, tally(0, 6, 0))
        let count = try await engine.pendingChanges().count
        XCTAssertEqual(count, 6)
    }

    func testTheSecondImportOfTheSameFileQueuesNothing() async throws {
        let engine = makeEngine()
        let places = PlaceImport(engine: engine)
        _ = try await places.run(file(1...5))
        try await engine.sync()
        _ = try await places.run(file(1...5))
        let pending = try await engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    func testAPlaceKeepsNoteRatingAndFavorite() async throws {
        let engine = makeEngine()
        let places = PlaceImport(engine: engine)
        _ = try await places.run(file(1...2))
        var edited = try await unwrapped(engine.model(named: "p1"))
        edited.note = "mine"
        edited.rating = 4
        edited.isFavorite = true
        edited.timeZone = "Europe/Paris"
        try await engine.upload(edited)
        try await engine.sync()
        let result = try await places.run(file(1...2, country: "D"))
        XCTAssertEqual(result, tally(0, 2, 0))
        edited.country = "D"
        let imported = try await engine.model(named: "p1")
        XCTAssertEqual(imported, edited, "properties that the file doesn't contain stay")
    }

    func testARemovedPlaceIsImportedAgainBeforeAndAfterASync() async throws {
        let engine = makeEngine()
        let places = PlaceImport(engine: engine)
        _ = try await places.run(file(1...2))
        try await engine.delete(named: ["p1"])
        let beforeSync = try await places.run(file(1...2))
        XCTAssertEqual(beforeSync, tally(1, 0, 1))
        try await engine.sync()
        try await engine.delete(named: ["p1"])
        try await engine.sync()
        let afterSync = try await places.run(file(1...2))
        XCTAssertEqual(afterSync, tally(1, 0, 1))
        try await engine.sync()
        let count = try await engine.allModels().count
        XCTAssertEqual(count, 2)
    }

    func testATooLargePlaceDoesNotBlockTheOthers() async throws {
        let long = String(repeating: "x", count: 1_100_000)
        let features = ["a", long, "b"].map { name in
            #"{"type":"Feature","properties":{"name":"\#(name)"},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        }
        let collection = try FeatureCollection(
            Data(#"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#.utf8)
        )
        let engine = makeEngine()
        let result = try await PlaceImport(engine: engine).run(collection)
        XCTAssertEqual(result.new, 2)
        XCTAssertEqual(result.faults.map(\.index), [1])
        XCTAssertTrue(result.faults[0].reason.contains("1000000"), result.faults[0].reason)
        XCTAssertLessThan(result.faults[0].description.count, 500)
    }

    func testImportingTheSameFileOnTwoDevicesCausesNoConflicts() async throws {
        let phone = makeEngine()
        let tablet = makeEngine()
        _ = try await PlaceImport(engine: phone).run(file(1...3))
        _ = try await PlaceImport(engine: tablet).run(file(1...3))
        try await phone.sync()
        let summary = try await tablet.sync()
        XCTAssertEqual(summary.conflictsResolved, 0)
        XCTAssertEqual(summary.pending, 0)
    }

    private func unwrapped(_ landmark: Landmark?) throws -> Landmark {
        try XCTUnwrap(landmark)
    }
}
