import ArgumentParser
import CodableSync
import Foundation
import LandmarkModel

/// Lists the landmarks on this device.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List landmarks in the order of their record names."
    )

    @Option(
        help: ArgumentHelp(
            "Show only landmarks with this text in a name, country, region or note.",
            valueName: "text"
        )
    )
    var search: String?

    @Flag(help: "Show only favorites.")
    var favorites = false

    @Flag(help: "Print one JSON array, byte for byte the same on every device.")
    var json = false

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let all = try await options.chosenDevice().withEngine { try await $0.allModels() }
        let selected = selected(from: all)
        try Output.standard.write(text(of: selected))
        // Standard output stays empty, for programs that count its lines.
        if selected.isEmpty, !json {
            Output.standardError.tell("landmarks: \(EmptyList.landmarks(outOf: all.count))")
        }
    }

    private func selected(from all: [Landmark]) -> [Landmark] {
        all.filter { landmark in
            (!favorites || landmark.isFavorite) && search.map { landmark.mentions($0) } ?? true
        }
        // By bytes, so that the order is the same everywhere.
        .sorted { $0.recordName.utf8.lexicographicallyPrecedes($1.recordName.utf8) }
    }

    private func text(of landmarks: [Landmark]) -> String {
        json ? Self.json(of: landmarks) : Self.table(of: landmarks)
    }

    /// One array, an element on each line.
    static func json(of landmarks: [Landmark]) -> String {
        if landmarks.isEmpty { return "[]\n" }
        return "[\n" + landmarks.map { JSONText.of(ListedLandmark(landmark: $0)) }.joined(separator: ",\n")
            + "\n]\n"
    }

    /// One line for each landmark, for people.
    static func table(of landmarks: [Landmark]) -> String {
        let width = landmarks.map(\.recordName.count).max() ?? 0
        return landmarks.map { landmark in
            let name = landmark.recordName.shown
            let padding = String(repeating: " ", count: max(0, width - name.count))
            return "\(name)\(padding)  \(landmark.line)\n"
        }.joined()
    }
}

extension Landmark {
    /// Whether a text is in one of the names, the country, the region or the note; case and accents do not matter.
    func mentions(_ text: String) -> Bool {
        let texts = [name, country, region, note].compactMap { $0 } + alternateNames + names.values
        return texts.contains {
            $0.range(of: text, options: [.caseInsensitive, .diacriticInsensitive]) != nil
        }
    }
}
