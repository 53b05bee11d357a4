import ArgumentParser
import CodableSync
import Foundation
import LandmarkModel

/// Prints the status of this device, without a request to the cloud.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show pending and parked changes, the number of landmarks, and the last sync."
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let device = try options.chosenDevice()
        let report = try await device.withEngine { engine in
            StatusReport(
                device: device,
                diagnostics: try await engine.diagnostics(),
                pending: try await engine.pendingChanges(),
                landmarks: try await engine.allModels().count
            )
        }
        try Output.standard.write(json ? JSONText.of(report) + "\n" : report.text)
    }
}
