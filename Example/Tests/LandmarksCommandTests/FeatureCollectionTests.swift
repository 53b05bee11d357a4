import Foundation
import LandmarkModel
import XCTest

@testable import LandmarksCommand

final class FeatureCollectionTests: XCTestCase {
    private func collection(_ features: String...) throws -> FeatureCollection {
        try FeatureCollection(
            Data(#"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#.utf8)
        )
    }

    private func feature(_ properties: String, _ coordinates: String = "1,2", id: String? = nil) -> String {
        let id = id.map { "\"id\":\($0)," } ?? ""
        return #"{"type":"Feature",\#(id)"properties":{\#(properties)},"#
            + #""geometry":{"type":"Point","coordinates":[\#(coordinates)]}}"#
    }

    func testReadsEveryProperty() throws {
        let properties = #"""
            "wikidata":"Q1","name":"Мост","alternateNames":["a","b"],"names":{"ru":"Мост"},
            "category":"Admin-1 capital","country":"C","region":"R","elevation":1.5,"population":7,
            "capital":true,"timeZone":"Z","year":-438,"opened":"1889-03-31","website":"https://a.b/c",
            "unknown":{"x":[1]}
            """#
        let landmark = try XCTUnwrap(try collection(feature(properties, "-3.5,48.25")).entries.first)
            .place.landmark(named: "x")
        XCTAssertEqual(landmark.name, "Мост")
        XCTAssertEqual(landmark.coordinate, Coordinate(latitude: 48.25, longitude: -3.5))
        XCTAssertEqual(landmark.alternateNames, ["a", "b"])
        XCTAssertEqual(landmark.names, ["ru": "Мост"])
        XCTAssertEqual(landmark.category, .provinceCapital)
        XCTAssertEqual(landmark.country, "C")
        XCTAssertEqual(landmark.region, "R")
        XCTAssertEqual(landmark.elevation, 1.5)
        XCTAssertEqual(landmark.population, 7)
        XCTAssertEqual(landmark.isCapital, true)
        XCTAssertEqual(landmark.timeZone, "Z")
        XCTAssertEqual(landmark.year, -438)
        XCTAssertEqual(landmark.opened?.timestamp, "1889-03-31T00:00:00.000Z")
        XCTAssertEqual(landmark.website?.absoluteString, "https://a.b/c")
        XCTAssertEqual(landmark.wikidata, "Q1")
    }

    func testABadFeatureIsReportedAndTheOthersAreRead() throws {
        let point = #""geometry":{"type":"Point","coordinates":[1,2]}"#
        let rows: [(feature: String, fault: String)] = [
            ("7", "features[1]: the value: Expected"),
            ("null", "features[1]: "),
            (#"{"properties":{"name":"A"},\#(point)}"#, #"features[1] ("A"): type is missing"#),
            (#"{"type":"Fish","properties":{"name":"A"},\#(point)}"#, #"type is "Fish""#),
            (#"{"type":"Feature",\#(point)}"#, "features[1]: properties is missing"),
            (#"{"type":"Feature","properties":null,\#(point)}"#, "features[1]: properties is null"),
            (#"{"type":"Feature","properties":{"name":"A"}}"#, "geometry is missing or null"),
            (#"{"type":"Feature","properties":{"name":"A"},"geometry":null}"#, "geometry is missing or null"),
            (
                #"{"type":"Feature","properties":{"name":"A"},"geometry":{"type":"LineString","coordinates":[[1,2]]}}"#,
                #"geometry.type is "LineString""#
            ),
            (feature(#""country":"C""#), "properties.name is missing"),
            (feature(#""name":null"#), "properties.name is null"),
            (feature(#""name":"  ""#), "properties.name is empty"),
            (feature(#""name":5"#), "properties.name: "),
            (feature(#""name":"A""#, "1"), "geometry.coordinates has 1 numbers"),
            (feature(#""name":"A""#, "1,2,3,4"), "geometry.coordinates has 4 numbers"),
            (feature(#""name":"A""#, "1,91"), "latitude -90 to 90"),
            (feature(#""name":"A""#, "181,1"), "longitude must be -180 to 180"),
            (feature(#""name":"A""#, "1e999,1"), "1e999 is too large"),
            (feature(#""name":"A""#, #""1",2"#), "geometry.coordinates[0]: "),
            (feature(#""name":"A","population":"many""#), "properties.population: "),
            (feature(#""name":"A","population":1.5"#), "features[1]"),
            (feature(#""name":"A","alternateNames":[1]"#), "properties.alternateNames[0]: "),
            (feature(#""name":"A","names":{"en":1}"#), "properties.names.en: "),
            (feature(#""name":"A","opened":"1889-02-31""#), "properties.opened is"),
            (feature(#""name":"A","opened":"soon""#), "properties.opened is"),
            (feature(#""name":"A","website":"file:///etc""#), "properties.website is"),
            (feature(#""name":"A","website":"relative""#), "properties.website is"),
            (feature(#""name":"A","website":"https://""#), "properties.website is"),
            (feature(#""name":"A","wikidata":"_Q1""#), "underscore"),
            (feature(#""name":"A","wikidata":"кот""#), "ASCII"),
        ]
        for row in rows {
            let collection = try collection(
                feature(#""name":"First""#),
                row.feature,
                feature(#""name":"Last""#)
            )
            XCTAssertEqual(collection.entries.map(\.place.name), ["First", "Last"], row.feature)
            XCTAssertEqual(collection.entries.map(\.index), [0, 2], row.feature)
            XCTAssertEqual(collection.featureCount, 3, row.feature)
            let fault = try XCTUnwrap(collection.faults.first, row.feature)
            XCTAssertTrue(fault.description.contains(row.fault), "\(row.feature): \(fault.description)")
            XCTAssertTrue(fault.description.hasPrefix("features[1]"), fault.description)
        }
    }

    func testAFileThatIsNotAFeatureCollectionIsRejected() {
        let rows = [
            ("", "not JSON"), ("{", "not JSON"), ("nonsense", "not JSON"), ("[]", "Expected"),
            ("7", "Expected"),
            ("{}", "type is missing"), (#"{"type":7}"#, "type: "),
            (#"{"type":"Feature"}"#, #"must be "FeatureCollection""#),
            (#"{"type":"FeatureCollection"}"#, "features is missing"),
            (#"{"type":"FeatureCollection","features":null}"#, "features is null"),
            (#"{"type":"FeatureCollection","features":{}}"#, "features: "),
            (String(repeating: "[", count: 100_000), "not JSON"),
        ]
        for (text, reason) in rows {
            XCTAssertThrowsError(try FeatureCollection(Data(text.utf8)), text) { error in
                let failure = Failure(error)
                XCTAssertEqual(failure.status, .badData, text)
                XCTAssertTrue(failure.message.contains(reason), "\(text.prefix(50)): \(failure.message)")
            }
        }
    }

    func testAnEmptyCollectionIsFine() throws {
        let collection = try collection()
        XCTAssertEqual(collection.entries, [])
        XCTAssertEqual(collection.faults, [])
    }

    func testANullPropertyIsIgnored() throws {
        let entry = try XCTUnwrap(
            try collection(feature(#""name":"A","country":null,"elevation":null"#, "1,2,33")).entries.first
        )
        XCTAssertNil(entry.place.country)
        XCTAssertEqual(entry.place.elevation, 33, "the third coordinate")
    }

    // MARK: Record names

    func testAUniqueIdentifierIsTheRecordName() throws {
        let collection = try collection(
            feature(#""name":"A","wikidata":"Q1""#, id: #""x""#),
            feature(#""name":"B""#, id: #""tower-b""#),
            feature(#""name":"C""#, id: "42")
        )
        XCTAssertEqual(collection.entries.map(\.recordName), ["Q1", "tower-b", "42"])
    }

    func testPlacesWithTheSameIdentifierAreDistinguishedByNameAndCoordinates() throws {
        let first = feature(#""name":"A","wikidata":"Q1""#)
        let second = feature(#""name":"B","wikidata":"Q1""#)
        let third = feature(#""name":"A","wikidata":"Q1""#, "1,3")
        let names = try collection(first, second, third).entries.map(\.recordName)
        XCTAssertEqual(Set(names).count, 3)
        for name in names { XCTAssertTrue(name.hasPrefix("Q1-"), name) }
        XCTAssertEqual(
            try collection(third, first, second).entries.map(\.recordName),
            [names[2], names[0], names[1]]
        )
    }

    func testABadFeatureCountsForUniqueness() throws {
        let bad = #"{"type":"Feature","properties":{"name":"B","wikidata":"Q1"},"geometry":null}"#
        let good = feature(#""name":"A","wikidata":"Q1""#)
        let mended = feature(#""name":"B","wikidata":"Q1""#)
        let name = try collection(good, bad).entries.first?.recordName
        XCTAssertEqual(name?.hasPrefix("Q1-"), true)
        XCTAssertEqual(name, try collection(good, mended).entries.first?.recordName)
    }

    func testWithoutAnIdentifierTheDigestIsTheRecordName() throws {
        let names = try collection(
            feature(#""name":"東京""#, "139.75,35.68"),
            feature(#""name":"A","wikidata":"""#)
        )
        .entries.map(\.recordName)
        XCTAssertEqual(names[0], "9862b08261744b5f", "it must never change, because records are named by it")
        XCTAssertEqual(names[1].count, 16)
    }

    func testTheDigestIsFNV1a() {
        // Noll's own test vectors.
        XCTAssertEqual(StableDigest.of([]).text, "cbf29ce484222325")
        XCTAssertEqual(StableDigest.of(Array("a".utf8)).text, "af63dc4c8601ec8c")
        XCTAssertEqual(StableDigest.of(Array("foobar".utf8)).text, "85944171f73967e8")
    }

    func testARepeatedPlaceIsImportedOnce() throws {
        let twin = feature(#""name":"A""#)
        let collection = try collection(twin, twin, twin)
        XCTAssertEqual(collection.entries.map(\.index), [0])
        XCTAssertEqual(collection.faults.map(\.index), [1, 2])
        XCTAssertTrue(collection.faults[1].reason.contains("features[0]"))
    }

    // MARK: Bundled landmarks

    func testAllBundledLandmarksCanBeImported() throws {
        let collection = try FeatureCollection(WorldLandmarks.geoJSON)
        XCTAssertEqual(collection.faults, [])
        XCTAssertGreaterThanOrEqual(collection.entries.count, 40)
        for entry in collection.entries {
            XCTAssertEqual(entry.recordName, entry.place.identifier)
            XCTAssertNotNil(entry.place.country, entry.recordName)
            XCTAssertNotNil(entry.place.category, entry.recordName)
            XCTAssertNotEqual(entry.place.category, .other, entry.recordName)
            XCTAssertFalse(entry.place.names?.isEmpty ?? true, entry.recordName)
        }
    }

    func testTheBundledLandmarksUseManyScripts() throws {
        let names = try FeatureCollection(WorldLandmarks.geoJSON).entries.flatMap { entry in
            entry.place.names.map { Array($0.values) } ?? []
        }
        let scripts: [(String, ClosedRange<Unicode.Scalar>)] = [
            ("Greek", "\u{370}"..."\u{3FF}"), ("Cyrillic", "\u{400}"..."\u{4FF}"),
            ("Armenian", "\u{530}"..."\u{58F}"), ("Hebrew", "\u{590}"..."\u{5FF}"),
            ("Arabic", "\u{600}"..."\u{6FF}"), ("Devanagari", "\u{900}"..."\u{97F}"),
            ("Gurmukhi", "\u{A00}"..."\u{A7F}"), ("Tamil", "\u{B80}"..."\u{BFF}"),
            ("Sinhala", "\u{D80}"..."\u{DFF}"), ("Thai", "\u{E00}"..."\u{E7F}"),
            ("Tibetan", "\u{F00}"..."\u{FFF}"), ("Myanmar", "\u{1000}"..."\u{109F}"),
            ("Georgian", "\u{10A0}"..."\u{10FF}"), ("Ethiopic", "\u{1200}"..."\u{137F}"),
            ("Khmer", "\u{1780}"..."\u{17FF}"), ("Kana", "\u{3040}"..."\u{30FF}"),
            ("Han", "\u{4E00}"..."\u{9FFF}"), ("Javanese", "\u{A980}"..."\u{A9DF}"),
            ("Hangul", "\u{AC00}"..."\u{D7A3}"),
        ]
        for (script, range) in scripts {
            XCTAssertTrue(names.contains { $0.unicodeScalars.contains(where: range.contains) }, script)
        }
    }

    func testThePlacesFileIsReadCompletely() throws {
        guard let path = ProcessInfo.processInfo.environment["CODABLESYNC_PLACES"] else {
            throw XCTSkip("CODABLESYNC_PLACES does not name the places file")
        }
        let collection = try FeatureCollection(try InputFile(path).read())
        XCTAssertEqual(collection.faults, [])
        XCTAssertEqual(collection.entries.count, 7343)
        XCTAssertEqual(Set(collection.entries.map(\.recordName)).count, 7343)
        let identified = collection.entries.filter { $0.place.wikidata != nil }
        XCTAssertEqual(identified.count, 7343 - 247)
        XCTAssertEqual(identified.filter { $0.recordName != $0.place.wikidata }.count, 2 * 10)
    }
}
