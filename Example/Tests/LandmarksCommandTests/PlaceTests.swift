import Foundation
import LandmarkModel
import XCTest

@testable import LandmarksCommand

final class PlaceTests: XCTestCase {
    private let coordinate = Coordinate(latitude: 1, longitude: 2)

    /// A place with a value for every property.
    private var full: Place {
        var place = Place(name: "New", coordinate: Coordinate(latitude: 3, longitude: 4))
        place.alternateNames = ["a"]
        place.names = ["en": "New"]
        place.category = .tower
        place.country = "C"
        place.region = "R"
        place.elevation = 1.5
        place.population = 7
        place.isCapital = true
        place.timeZone = "Z"
        place.year = -1
        place.opened = Date(timeIntervalSince1970: 0)
        place.website = URL(string: "https://a.b")
        place.wikidata = "Q1"
        return place
    }

    /// The properties of a landmark by name.
    private func properties(_ landmark: Landmark) -> [String: String] {
        Dictionary(
            Mirror(reflecting: landmark).children.map { ($0.label ?? "", "\($0.value)") },
            uniquingKeysWith: { first, _ in first }
        )
    }

    func testPropertiesMissingFromTheFileAreKept() {
        var known = full.landmark(named: "x")
        known.note = "mine"
        known.rating = 4
        known.isFavorite = true
        var expected = known
        expected.name = "Newer"
        expected.coordinate = coordinate
        XCTAssertEqual(
            properties(Place(name: "Newer", coordinate: coordinate).merged(onto: known)),
            properties(expected)
        )
    }

    func testPropertiesFromTheFileAreTakenAndTheUsersFieldsAreKept() {
        var known = Landmark(id: "x", name: "Old", coordinate: coordinate)
        known.note = "mine"
        known.rating = 4
        known.isFavorite = true
        let old = properties(known)
        let new = properties(full.merged(onto: known))
        XCTAssertEqual(
            Set(old.keys.filter { old[$0] == new[$0] }),
            ["id", "note", "rating", "isFavorite"]
        )
    }
}
