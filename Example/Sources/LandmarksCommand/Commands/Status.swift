import ArgumentParser
import CodableSync
import Foundation
import LandmarkModel

/// Says how this device stands; asks nothing of the cloud.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says what is pending and why, what is set aside, what is known, and when it last synced."
    )

    @Flag(help: "Prints one JSON object.")
    var json = false

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let device = try options.chosenDevice()
        let report = try await device.withEngine { engine in
            StatusReport(
                device: device,
                diagnostics: try await engine.diagnostics(),
                pending: try await engine.pendingChanges()
            )
        }
        try Output.standard.write(json ? JSONText.of(report) + "\n" : report.text)
    }
}
