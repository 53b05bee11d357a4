import CodableSync
import Foundation
import LandmarkModel

/// Finds the landmark that a word stands for.
struct LandmarkSearch {
    let landmarks: [Landmark]

    /// Finds a landmark by its record name, else by its name, else by the beginning of its record name.
    ///
    /// - Parameters:
    ///   - word: The word.
    ///   - isExact: Whether a prefix isn't enough, since a mistake can't be undone.
    /// - Returns: The landmark.
    /// - Throws: ``Failure`` if there is none, or if there are several.
    func landmark(_ word: String, isExact: Bool = false) throws -> Landmark {
        // By bytes, as the library compares record names.
        let bytes = Array(word.utf8)
        if let exact = landmarks.first(where: { $0.recordName.utf8.elementsEqual(bytes) }) { return exact }
        let named = landmarks.filter { $0.name == word }
        // An empty word is a prefix of every name.
        let begun = word.isEmpty ? [] : landmarks.filter { $0.recordName.utf8.starts(with: bytes) }
        let found = named.isEmpty && !isExact ? begun : named
        if found.count > 1 { throw Failure(.usage, Self.ambiguous(word, found)) }
        guard let landmark = found.first else { throw Failure(.noInput, missing(word, begun)) }
        return landmark
    }

    private static func ambiguous(_ word: String, _ found: [Landmark]) -> String {
        var choices = found.prefix(10).map(choice).joined(separator: ", ")
        if found.count > 10 { choices += " and \(found.count - 10) more" }
        return "'\(word.shown)' matches \(choices); give more of the record name"
    }

    private func missing(_ word: String, _ begun: [Landmark]) -> String {
        let missing = "there is no landmark '\(word.shown)' on this device"
        if landmarks.isEmpty { return "\(missing), which has no landmarks; \(EmptyList.remedy)" }
        let near = (begun.isEmpty ? nearest(to: word) : Array(begun.prefix(3))).map(Self.choice)
        guard let last = near.last else { return "\(missing); 'landmarks list' shows all" }
        let others = near.dropLast().joined(separator: ", ")
        return "\(missing); did you mean \(others)\(others.isEmpty ? "" : " or ")\(last)?"
    }

    /// At most three, nearest first, ignoring case and accents.
    private func nearest(to word: String) -> [Landmark] {
        let near = EditDistance.nearest(to: word.folded, among: landmarks, part: 3) { landmark in
            [landmark.name.folded, landmark.recordName.folded]
        }
        return Array(near.prefix(3))
    }

    private static func choice(_ landmark: Landmark) -> String {
        "\(landmark.recordName.shown) (\(landmark.name.shown))"
    }
}

extension String {
    fileprivate var folded: String {
        folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
}
