import LandmarkModel
import RecordCoding

/// The rule for record names: the identifier where it is unique in the file, else the identifier, if there is
/// one, and a digest of name and coordinates.
struct PlaceNames {
    private let occurrences: [String: Int]

    /// Counts a file's identifiers, including those of features that can't be imported: correcting such a feature
    /// later must not rename another one.
    init(identifiers: [String]) {
        occurrences = Dictionary(identifiers.map { ($0, 1) }, uniquingKeysWith: +)
    }

    /// The record name of a place.
    ///
    /// - Parameter place: The place.
    /// - Returns: The name, the same for the same place in any order of the file.
    /// - Throws: `RecordCodingError` if the identifier isn't a valid record name.
    func recordName(of place: Place) throws -> String {
        let name: String
        if let identifier = place.identifier {
            let isUnique = occurrences[identifier, default: 0] <= 1
            name = isUnique ? identifier : "\(identifier)-\(digest(of: place))"
        } else {
            name = digest(of: place)
        }
        try RecordLimits.checkRecordName(name)
        return name
    }

    private func digest(of place: Place) -> String {
        var digest = StableDigest.of(Array(place.name.utf8))
        digest.add([0])
        digest.add(place.coordinate.longitude)
        digest.add(place.coordinate.latitude)
        return digest.text
    }
}
