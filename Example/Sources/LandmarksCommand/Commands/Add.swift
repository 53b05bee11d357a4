import ArgumentParser
import CodableSync
import Foundation
import LandmarkModel

extension Landmark.Category: ExpressibleByArgument {}

/// Adds a landmark.
struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add a landmark, and print its record name once it is stored."
    )

    @Argument(help: "The name.")
    var name: String

    // Negative numbers look like options.
    @Option(parsing: .unconditional, help: "The latitude in degrees, -90 to 90.")
    var latitude: Double

    @Option(parsing: .unconditional, help: "The longitude in degrees, -180 to 180.")
    var longitude: Double

    @Option(help: "The category.")
    var category = Landmark.Category.other

    @Option(help: ArgumentHelp("A note.", valueName: "text"))
    var note: String?

    @OptionGroup var options: DeviceOptions

    func validate() throws {
        if name.allSatisfy(\.isWhitespace) { throw ValidationError("the name is empty") }
        if !(-90...90).contains(latitude) {
            throw ValidationError("--latitude must be -90 to 90, got '\(latitude)'")
        }
        if !(-180...180).contains(longitude) {
            throw ValidationError("--longitude must be -180 to 180, got '\(longitude)'")
        }
    }

    func run() async throws {
        var landmark = Landmark(
            id: UUID().uuidString,
            name: name,
            coordinate: Coordinate(latitude: latitude, longitude: longitude),
            category: category
        )
        landmark.note = note
        try await options.chosenDevice().withEngine { [landmark] engine in
            try await engine.upload(landmark)
            try Output.standard.write(landmark.recordName + "\n")
        }
    }
}
