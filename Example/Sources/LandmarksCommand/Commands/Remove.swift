import ArgumentParser
import CodableSync
import LandmarkModel

/// Deletes landmarks.
struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Removes landmarks; those that are not there are named, and the others are removed."
    )

    @ParentCommand var landmarks: Landmarks

    @Argument(help: "The landmarks' record names, as 'list' shows them.")
    var records: [String]

    func run() async throws {
        try await landmarks.options.chosenDevice().withEngine { engine in
            let known = Set(try await engine.models(named: records).map(\.recordName))
            try await engine.delete(recordNames: records.filter(known.contains))
            let unknown = records.filter { !known.contains($0) }
            if !unknown.isEmpty {
                let names = unknown.map { "'\($0.shown)'" }.joined(separator: ", ")
                throw Failure(.noInput, "there is no landmark \(names) on this device")
            }
        }
    }
}
