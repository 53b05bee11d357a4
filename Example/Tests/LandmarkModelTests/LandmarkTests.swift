import Foundation
import LandmarkModel
import RecordCoding
import XCTest

final class LandmarkTests: XCTestCase {
    /// A landmark with a value for every property.
    private var full: Landmark {
        var landmark = Landmark(
            id: "potala",
            name: "ཕོ་བྲང་པོ་ཏ་ལ",
            coordinate: Coordinate(latitude: 29.6578, longitude: 91.1169),
            category: .castle
        )
        landmark.alternateNames = ["布达拉宫", "Potala"]
        landmark.names = ["zh": "布达拉宫", "de": "Potala-Palast"]
        landmark.country = "China"
        landmark.region = "Tibet"
        landmark.elevation = 3700.5
        landmark.population = 0
        landmark.isCapital = false
        landmark.timeZone = "Asia/Shanghai"
        landmark.year = 1694
        landmark.opened = Date(timeIntervalSince1970: -8_000_000_000.5)
        landmark.website = URL(string: "https://example.org/potala?x=1#y")
        landmark.wikidata = "Q71229"
        landmark.isFavorite = true
        landmark.rating = 5
        landmark.note = "Go slowly.\n👩‍👩‍👧"
        return landmark
    }

    private var bare: Landmark {
        Landmark(id: "bare", name: "Bare", coordinate: Coordinate(latitude: 0, longitude: -0.5))
    }

    func testEveryFieldHasItsDocumentedKind() throws {
        let fields = try RecordEncoder().encode(full).fields
        let kinds = fields.mapValues { value -> String in
            switch value {
            case .string: "string"
            case .int64: "int64"
            case .double: "double"
            case .date: "date"
            case .bytes: "bytes"
            case .list: "list"
            default: "another"
            }
        }
        XCTAssertEqual(
            kinds,
            [
                "id": "string", "name": "string", "country": "string", "region": "string",
                "timeZone": "string", "wikidata": "string", "note": "string", "website": "string",
                "category": "string", "isFavorite": "int64", "isCapital": "int64", "rating": "int64",
                "population": "int64", "year": "int64", "elevation": "double", "opened": "date",
                "alternateNames": "list", "names": "bytes", "coordinate": "bytes",
            ]
        )
    }

    func testLandmarksRoundTrip() throws {
        for landmark in [full, bare] {
            let record = try RecordEncoder().encode(landmark)
            XCTAssertEqual(try RecordDecoder().decode(Landmark.self, from: record), landmark, landmark.id)
        }
    }

    func testUnknownPropertiesAreExplicitNulls() throws {
        let fields = try RecordEncoder().encode(bare).fields
        for name in [
            "country", "region", "elevation", "population", "isCapital", "timeZone", "year", "opened",
            "website", "wikidata", "note",
        ] {
            XCTAssertEqual(fields[name], .null, name)
        }
    }

    func testTheIdIsTheRecordName() {
        XCTAssertEqual(full.recordName, "potala")
        XCTAssertEqual(Landmark.recordType, "Landmark")
    }

    func testEditsOfDifferentFieldsAreBothKept() throws {
        var client = full
        client.note = nil
        var server = full
        server.rating = 1
        let merged = try Landmark.resolveConflict(
            Conflict(
                client: client,
                server: server,
                ancestor: full,
                clientEdited: Date(timeIntervalSince1970: 1),
                serverEdited: Date(timeIntervalSince1970: 2)
            )
        )
        var expected = full
        expected.note = nil
        expected.rating = 1
        XCTAssertEqual(merged, expected)
    }

    func testTheLaterEditOfAFieldWinsOnEitherSide() throws {
        var client = full
        client.note = "client"
        var server = full
        server.note = "server"
        for (clientEdited, winner) in [(1.0, "server"), (3.0, "client")] {
            let merged = try Landmark.resolveConflict(
                Conflict(
                    client: client,
                    server: server,
                    ancestor: full,
                    clientEdited: Date(timeIntervalSince1970: clientEdited),
                    serverEdited: Date(timeIntervalSince1970: 2)
                )
            )
            XCTAssertEqual(merged?.note, winner, "client edited at \(clientEdited)")
        }
    }

    func testAnUnknownCategoryIsAnError() throws {
        var record = try RecordEncoder().encode(bare)
        record.fields["category"] = .string("space-elevator")
        XCTAssertThrowsError(try RecordDecoder().decode(Landmark.self, from: record))
    }

    func testCategoriesAreReadInEverySpelling() {
        let rows: [(String, Landmark.Category)] = [
            ("tower", .tower), ("Populated place", .populatedPlace), ("Admin-0 capital", .countryCapital),
            ("Admin-0 capital alt", .countryCapitalSeat), ("Admin-0 region capital", .dependencyCapital),
            ("Admin-1 capital", .provinceCapital), ("Admin-1 region capital", .provinceRegionCapital),
            ("Historic place", .historicPlace), ("Meteorological Station", .meteorologicalStation),
            ("Scientific station", .scientificStation), ("", .other), ("Café", .other), ("--", .other),
        ]
        for (text, category) in rows {
            XCTAssertEqual(Landmark.Category(text: text), category, text)
        }
        for category in Landmark.Category.allCases {
            XCTAssertEqual(Landmark.Category(text: category.rawValue), category)
        }
    }

    func testACoordinateIsOnEarthWithinItsBounds() {
        let rows: [(Double, Double, Bool)] = [
            (0, 0, true), (90, 180, true), (-90, -180, true), (90.1, 0, false), (0, 180.1, false),
            (-91, 0, false), (.nan, 0, false), (0, .infinity, false),
        ]
        for (latitude, longitude, isOnEarth) in rows {
            let coordinate = Coordinate(latitude: latitude, longitude: longitude)
            XCTAssertEqual(coordinate.isOnEarth, isOnEarth, "\(latitude), \(longitude)")
        }
    }
}
