import Foundation
import XCTest

/// A full disk: the error tells whether the device's state or the cloud could not be written.
final class FullDiskTests: CommandTestCase {
    /// Runs the command with a limit on the size of a file, in blocks of 512 bytes.
    private func runLimited(_ blocks: Int, _ arguments: [String]) throws -> Run {
        let process = process([])
        process.executableURL = URL(filePath: "/bin/sh")
        // The limit's signal would end the command; if it is ignored, the write fails instead.
        let script = "trap '' XFSZ; ulimit -f \(blocks); exec \"$@\""
        process.arguments = ["-c", script, "sh", Self.executable.path] + arguments
        return try run(process)
    }

    func testAStateThatCannotBeWrittenIsADiskErrorOfTheDevice() throws {
        let features = (0..<400).map { number in
            #"{"type":"Feature","id":"p\#(number)","properties":{"name":"P\#(number)"},"#
                + #""geometry":{"type":"Point","coordinates":[1,2]}}"#
        }
        let file = try write(
            #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ",\n"))]}"#,
            to: "many.geojson"
        )
        try runs("phone", "import", file)
        // The state already exceeds the limit, and the cloud does not exist yet.
        let run = try runLimited(20, device("phone", ["sync"]))
        XCTAssertEqual(run.status, 74, run.errors)
        XCTAssertTrue(run.errors.contains("journal-1.jsonl"), run.errors)
        XCTAssertTrue(run.errors.contains("devices/phone"), run.errors)
        let summary = try json(runs("phone", "sync", "--json"), as: [String: Int].self)
        XCTAssertEqual(summary["sent"], 400)
    }
}
