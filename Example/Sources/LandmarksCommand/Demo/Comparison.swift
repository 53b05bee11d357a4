import CodableSync
import Foundation
import LandmarkModel
import RecordCoding

/// The records of two devices and the cloud, side by side.
struct Comparison {
    /// The landmarks by record name, for each side.
    private let places: [(name: String, landmarks: [String: Landmark])]

    init(_ places: [(name: String, landmarks: [Landmark])]) {
        self.places = places.map { place in
            let landmarks = Dictionary(
                place.landmarks.map { ($0.recordName, $0) },
                uniquingKeysWith: { first, _ in first }
            )
            return (place.name, landmarks)
        }
    }

    /// All record names.
    var recordNames: [String] { Set(places.flatMap(\.landmarks.keys)).sorted() }

    /// One line for each record that differs.
    var differences: [String] {
        recordNames.compactMap { name in
            let versions = places.map { $0.landmarks[name] }
            guard versions.contains(where: { $0 != versions[0] }) else { return nil }
            let words = places.map { place in
                "\(place.name): \(place.landmarks[name].map(JSONLine.of) ?? "nothing")"
            }
            return "\(name)  \(words.joined(separator: " | "))"
        }
    }

    private enum JSONLine {
        static func of(_ landmark: Landmark) -> String { JSONText.of(ListedLandmark(landmark: landmark)) }
    }

    /// Reads all landmarks of a cloud, without an engine.
    static func landmarks(in cloud: LocalDatabase) async throws -> [Landmark] {
        let zoneID = ZoneID(zoneName: Landmark.recordType)
        var landmarks: [Landmark] = []
        var token: ChangeToken?
        var moreComing = true
        while moreComing {
            let page = try await cloud.recordZoneChanges(
                inZoneWith: zoneID,
                since: token,
                desiredKeys: nil,
                resultsLimit: nil
            )
            for result in page.modifications.values {
                landmarks.append(try RecordDecoder().decode(Landmark.self, from: try result.get()))
            }
            token = page.changeToken
            moreComing = page.moreComing
        }
        return landmarks
    }
}
