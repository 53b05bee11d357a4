import ArgumentParser
import CodableSync
import LandmarkModel

/// Deletes landmarks.
struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove landmarks, and report names that don't exist."
    )

    @Argument(
        help: "The landmarks: their names or their record names."
    )
    var records: [String]

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        try await options.chosenDevice().withEngine { engine in
            let search = LandmarkSearch(landmarks: try await engine.allModels())
            var found: [Landmark] = []
            var failures: [Failure] = []
            for record in records {
                do {
                    let landmark = try search.landmark(record, isExact: true)
                    let isNew = !found.contains {
                        $0.recordName.utf8.elementsEqual(landmark.recordName.utf8)
                    }
                    if isNew { found.append(landmark) }
                } catch let failure as Failure {
                    failures.append(failure)
                }
            }
            try await engine.delete(named: found.map(\.recordName))
            for landmark in found {
                try Output.standard.write("removed  \(landmark.recordName.shown)  \(landmark.line)\n")
            }
            if let first = failures.first {
                throw Failure(first.status, failures.map(\.message).joined(separator: "; "))
            }
        }
    }
}
