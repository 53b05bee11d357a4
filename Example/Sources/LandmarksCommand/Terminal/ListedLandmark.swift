import CodableSync
import Foundation
import LandmarkModel

/// A landmark as `list --json` prints it: with every key, and nothing specific to the device.
struct ListedLandmark: Encodable {
    let landmark: Landmark

    private enum CodingKeys: CodingKey {
        case recordName, name, alternateNames, names, category, latitude, longitude, country, region,
            elevation
        case population, capital, timeZone, year, opened, website, wikidata, favorite, rating, note
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(landmark.recordName, forKey: .recordName)
        try container.encode(landmark.name, forKey: .name)
        try container.encode(landmark.alternateNames, forKey: .alternateNames)
        try container.encode(landmark.names, forKey: .names)
        try container.encode(landmark.category, forKey: .category)
        try container.encode(landmark.coordinate.latitude, forKey: .latitude)
        try container.encode(landmark.coordinate.longitude, forKey: .longitude)
        try container.encode(landmark.country, forKey: .country)
        try container.encode(landmark.region, forKey: .region)
        try container.encode(landmark.elevation, forKey: .elevation)
        try container.encode(landmark.population, forKey: .population)
        try container.encode(landmark.isCapital, forKey: .capital)
        try container.encode(landmark.timeZone, forKey: .timeZone)
        try container.encode(landmark.year, forKey: .year)
        try container.encode(landmark.opened?.timestamp, forKey: .opened)
        try container.encode(landmark.website?.absoluteString, forKey: .website)
        try container.encode(landmark.wikidata, forKey: .wikidata)
        try container.encode(landmark.isFavorite, forKey: .favorite)
        try container.encode(landmark.rating, forKey: .rating)
        try container.encode(landmark.note, forKey: .note)
    }
}

extension Landmark {
    /// The landmark in one line, for people.
    var line: String {
        var parts = [name.shown]
        if category != .other { parts.append(category.rawValue) }
        if let country { parts.append(country.shown) }
        if let note { parts.append("“\(note.shown)”") }
        let stars = String(repeating: "★", count: min(max(rating, 0), 5))
        return
            "\(isFavorite ? "♥" : " ")  \(stars.isEmpty ? "" : stars + "  ")\(parts.joined(separator: " · "))"
    }
}
