import ArgumentParser
import Foundation
import LandmarkModel
import RecordCoding

/// Prints what a container of CloudKit must know to store landmarks; asks nothing of a device or a cloud.
struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the record type of landmarks in CloudKit's schema language, for 'cktool'.",
        discussion: """
            On a Mac:

              landmarks schema > landmarks.ckdb
              xcrun cktool import-schema --team-id ID --container-id ID --environment development \
            --file landmarks.ckdb
            """
    )

    @OptionGroup var options: DeviceOptions

    func run() throws {
        let sample = Landmark(id: "sample", name: "", coordinate: Coordinate(latitude: 0, longitude: 0))
        try Output.standard.write(RecordSchema.text(for: [RecordSchema(of: sample)]))
    }
}
