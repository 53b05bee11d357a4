import Foundation
import LandmarkModel

/// A place in a file; what the file doesn't mention is `nil`.
struct Place: Equatable {
    var name: String
    var coordinate: Coordinate
    /// The place's identifier: `wikidata`, or else the feature's `id`.
    var identifier: String?

    var alternateNames: [String]?
    var names: [String: String]?
    var category: Landmark.Category?
    var country: String?
    var region: String?
    var elevation: Double?
    var population: Int?
    var isCapital: Bool?
    var timeZone: String?
    var year: Int?
    var opened: Date?
    var website: URL?
    var wikidata: String?

    init(name: String, coordinate: Coordinate) {
        self.name = name
        self.coordinate = coordinate
    }

    /// The landmark, updated from the file; everything else stays, including the user's own fields.
    func merged(onto known: Landmark) -> Landmark {
        var landmark = known
        landmark.name = name
        landmark.coordinate = coordinate
        landmark.alternateNames = alternateNames ?? known.alternateNames
        landmark.names = names ?? known.names
        landmark.category = category ?? known.category
        landmark.country = country ?? known.country
        landmark.region = region ?? known.region
        landmark.elevation = elevation ?? known.elevation
        landmark.population = population ?? known.population
        landmark.isCapital = isCapital ?? known.isCapital
        landmark.timeZone = timeZone ?? known.timeZone
        landmark.year = year ?? known.year
        landmark.opened = opened ?? known.opened
        landmark.website = website ?? known.website
        landmark.wikidata = wikidata ?? known.wikidata
        return landmark
    }

    /// A new landmark.
    func landmark(named recordName: String) -> Landmark {
        merged(onto: Landmark(id: recordName, name: name, coordinate: coordinate))
    }
}
