import Foundation
import LandmarkModel

/// Why a feature cannot be imported.
struct InvalidFeature: Error {
    var reason: String
}

/// A GeoJSON feature: a point and its properties.
struct Feature: Decodable {
    let place: Place

    private enum CodingKeys: CodingKey {
        case type, geometry, properties
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let type = try container.decode(String.self, forKey: .type)
        guard type == "Feature" else {
            throw InvalidFeature(reason: "type is \"\(type.shown)\", it must be \"Feature\"")
        }
        guard let point = try container.decodeIfPresent(Point.self, forKey: .geometry) else {
            throw InvalidFeature(reason: "geometry is missing or null")
        }
        let properties = try container.decode(Properties.self, forKey: .properties)
        var place = try properties.place(at: point.coordinate)
        place.elevation = place.elevation ?? point.altitude
        place.identifier = try FeatureLabel(from: decoder).identifier
        self.place = place
    }
}

/// The geometry of a place.
private struct Point: Decodable {
    let coordinate: Coordinate
    let altitude: Double?

    private enum CodingKeys: CodingKey {
        case type, coordinates
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let type = try container.decode(String.self, forKey: .type)
        guard type == "Point" else {
            throw InvalidFeature(reason: "geometry.type is \"\(type.shown)\", it must be \"Point\"")
        }
        let numbers = try container.decode([Double].self, forKey: .coordinates)
        guard (2...3).contains(numbers.count) else {
            throw InvalidFeature(
                reason: "geometry.coordinates has \(numbers.count) numbers, it must have 2 or 3"
            )
        }
        coordinate = Coordinate(latitude: numbers[1], longitude: numbers[0])
        altitude = numbers.count == 3 ? numbers[2] : nil
        guard coordinate.isOnEarth else {
            throw InvalidFeature(
                reason: "geometry.coordinates is \(numbers[0]), \(numbers[1]): longitude must be "
                    + "-180 to 180, latitude -90 to 90"
            )
        }
    }
}

/// The properties that the import reads; it ignores others, and null values.
private struct Properties: Decodable {
    let name: String
    let alternateNames: [String]?
    let names: [String: String]?
    let category: String?
    let country: String?
    let region: String?
    let elevation: Double?
    let population: Int?
    let capital: Bool?
    let timeZone: String?
    let year: Int?
    let opened: String?
    let website: String?
    let wikidata: String?

    func place(at coordinate: Coordinate) throws -> Place {
        if name.allSatisfy(\.isWhitespace) { throw InvalidFeature(reason: "properties.name is empty") }
        var place = Place(name: name, coordinate: coordinate)
        place.alternateNames = alternateNames
        place.names = names
        place.category = category.map(Landmark.Category.init(text:))
        place.country = country
        place.region = region
        place.elevation = elevation
        place.population = population
        place.isCapital = capital
        place.timeZone = timeZone
        place.year = year
        place.opened = try opened.map(day)
        place.website = try website.map(page)
        place.wikidata = wikidata
        return place
    }

    private func day(_ text: String) throws -> Date {
        let format = Date.ISO8601FormatStyle().year().month().day()
        do {
            let date = try format.parse(text)
            if date.formatted(format) == text { return date }
        } catch {
            // The reason below replaces the parser's.
        }
        throw InvalidFeature(reason: "properties.opened is \"\(text.shown)\", it must be like 1889-03-31")
    }

    private func page(_ text: String) throws -> URL {
        let isPage = text.lowercased().hasPrefix("https://") || text.lowercased().hasPrefix("http://")
        if isPage, let url = URL(string: text), url.host()?.isEmpty == false { return url }
        throw InvalidFeature(
            reason: "properties.website is \"\(text.shown)\", it must be an http or https address"
        )
    }
}

/// The names of a feature, as far as they can be read from an invalid one.
struct FeatureLabel: Decodable {
    let name: String?
    /// `wikidata`, or else the feature's own `id`.
    let identifier: String?

    private enum CodingKeys: CodingKey {
        case id, properties
    }

    private enum PropertyKeys: CodingKey {
        case name, wikidata
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let id = Self.text(.id, in: container)
        do {
            let properties = try container.nestedContainer(keyedBy: PropertyKeys.self, forKey: .properties)
            name = Self.text(.name, in: properties)
            identifier = Self.text(.wikidata, in: properties) ?? id
        } catch {
            // Missing properties are reported where they are needed.
            name = nil
            identifier = id
        }
    }

    /// A string, or a number as GeoJSON allows for an id; `nil` for anything else, and for the empty string.
    private static func text<Key>(_ key: Key, in container: KeyedDecodingContainer<Key>) -> String? {
        do {
            let text = try container.decode(String.self, forKey: key)
            return text.isEmpty ? nil : text
        } catch {
            do {
                return String(try container.decode(Int.self, forKey: key))
            } catch {
                return nil  // Absent, null, or not a name.
            }
        }
    }
}
