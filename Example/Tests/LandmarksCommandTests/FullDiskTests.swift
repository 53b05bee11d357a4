import Foundation
import XCTest

/// A disk that takes no more: the exit code says whose it is.
final class FullDiskTests: CommandTestCase {
    /// Runs the command where no file may grow beyond so many blocks of 512 bytes.
    private func runLimited(_ blocks: Int, _ arguments: [String]) throws -> Run {
        let process = process([])
        process.executableURL = URL(filePath: "/bin/sh")
        // The signal that comes with the limit would end the command; ignored, the write fails.
        let script = "trap '' XFSZ; ulimit -f \(blocks); exec \"$@\""
        process.arguments = ["-c", script, "sh", Self.executable.path] + arguments
        return try run(process)
    }

    func testAStateThatCannotBeWrittenIsADiskErrorAndNotTheClouds() throws {
        let features = (0..<400).map { number in
            #"{"type":"Feature","id":"p\#(number)","properties":{"name":"P\#(number)"},"#
                + #""geometry":{"type":"Point","coordinates":[1,2]}}"#
        }
        let file = try write(
            #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ",\n"))]}"#,
            to: "many.geojson"
        )
        try runs("phone", "import", file)
        // The state is larger than that already, and the cloud is not there yet.
        let run = try runLimited(20, device("phone", ["sync"]))
        XCTAssertEqual(run.status, 74, run.errors)
        XCTAssertTrue(run.errors.contains("journal-1.jsonl"), run.errors)
        XCTAssertTrue(run.errors.contains("devices/phone"), run.errors)
        let summary = try json(runs("phone", "sync", "--json"), as: [String: Int].self)
        XCTAssertEqual(summary["sent"], 400)
    }
}
