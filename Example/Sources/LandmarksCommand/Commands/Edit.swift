import ArgumentParser
import CodableSync
import Foundation
import LandmarkModel

/// Edits a landmark.
struct Edit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Edit a landmark.")

    @Argument(help: "The landmark: its name, its record name, or a prefix of the record name.")
    var record: String

    @Option(help: "The new name.")
    var name: String?

    @Option(help: ArgumentHelp("The new note.", valueName: "text"))
    var note: String?

    @Flag(name: .customLong("no-note"), help: "Remove the note.")
    var removesNote = false

    @Option(parsing: .unconditional, help: "The rating, 0 to 5 stars; 0 removes it.")
    var rating: Int?

    @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Whether it is a favorite.")
    var favorite: Bool?

    @OptionGroup var options: DeviceOptions

    func validate() throws {
        if let name, name.allSatisfy(\.isWhitespace) { throw ValidationError("the name is empty") }
        if note != nil, removesNote { throw ValidationError("use either --note or --no-note") }
        if let rating, !(0...5).contains(rating) {
            throw ValidationError("--rating must be 0 to 5, got '\(rating)'")
        }
        if name == nil, note == nil, !removesNote, rating == nil, favorite == nil {
            throw ValidationError(
                "nothing to edit: give --name, --note, --no-note, --rating, --favorite or --no-favorite"
            )
        }
    }

    func run() async throws {
        try await options.chosenDevice().withEngine { engine in
            let known = try LandmarkSearch(landmarks: try await engine.allModels()).landmark(record)
            let landmark = try await engine.edit(named: known.recordName, change).after
            try Output.standard.write("\(landmark.recordName)  \(landmark.line)\n")
        }
    }

    private func change(_ landmark: inout Landmark) {
        if let name { landmark.name = name }
        if let note { landmark.note = note }
        if removesNote { landmark.note = nil }
        if let rating { landmark.rating = rating }
        if let favorite { landmark.isFavorite = favorite }
    }
}
