import ArgumentParser
import Foundation

/// Imports the places of a GeoJSON file.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import a GeoJSON FeatureCollection of points.",
        discussion: """
            A place that is imported again keeps your note, rating and favorite; only values of the file that \
            differ are queued. Features that can't be imported are reported, and the others are imported.
            """
    )

    @Argument(help: "The GeoJSON file.")
    var file: String

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let device = try options.chosenDevice()
        let input = InputFile(file)
        let collection = try read(input)
        let bar = ProgressBar("importing", total: collection.entries.count)
        let tally = try await device.withEngine { engine in
            defer { bar.remove() }
            return try await PlaceImport(engine: engine).run(collection) { bar.show($0) }
        }
        for fault in tally.faults {
            Output.standardError.tell("landmarks: \(input.shownPath): \(fault.description)")
        }
        try Output.standard.write(Self.summary(of: tally))
        if !tally.faults.isEmpty {
            throw Failure(
                .badData,
                "\(input.shownPath): \(tally.faults.count) of \(collection.featureCount) features "
                    + "were not imported"
            )
        }
    }

    private func read(_ input: InputFile) throws -> FeatureCollection {
        let data = try input.read()
        do {
            return try FeatureCollection(data)
        } catch let failure as Failure {
            throw Failure(
                failure.status,
                "'\(input.shownPath)' isn't a feature collection: \(failure.message)"
            )
        }
    }

    static func summary(of tally: ImportTally) -> String {
        "\(tally.new) new, \(tally.changed) changed, \(tally.unchanged) unchanged\n"
    }
}
