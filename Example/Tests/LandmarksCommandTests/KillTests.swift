import Foundation
import XCTest

/// Real processes, killed at any moment: every acknowledged change is kept.
final class KillTests: CommandTestCase {
    /// Runs the command and kills it after a while, unless it has already exited.
    private func runAndKill(_ arguments: [String], after microseconds: UInt32) throws -> String {
        let process = process(device("phone", arguments))
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        usleep(microseconds)
        // It may have exited by then, and its process ID may belong to another process.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    private func recordNames(_ device: String) throws -> Set<String> {
        Set(
            try json(runs(device, "list", "--json"), as: [[String: Any]].self)
                .compactMap { $0["recordName"] as? String }
        )
    }

    func testAddedLandmarksSurviveAKill() throws {
        var acknowledged: Set<String> = []
        for index in 0..<24 {
            let output = try runAndKill(
                ["add", "Landmark \(index)", "--latitude", "1", "--longitude", "2"],
                after: .random(in: 0...90_000)
            )
            if output.hasSuffix("\n") { acknowledged.insert(output.trimmingCharacters(in: .newlines)) }
            let known = try recordNames("phone")
            XCTAssertTrue(acknowledged.isSubset(of: known), "\(acknowledged.subtracting(known))")
        }
    }

    func testAKilledImportOrSyncLosesNothing() throws {
        let features = (0..<2000).map { number in
            #"{"type":"Feature","id":"p\#(number)","properties":{"name":"P\#(number)"},"#
                + #""geometry":{"type":"Point","coordinates":[1,2]}}"#
        }
        let file = try write(
            #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ",\n"))]}"#,
            to: "many.geojson"
        )
        var known: Set<String> = []
        for _ in 0..<8 {
            _ = try runAndKill(["import", file], after: .random(in: 0...400_000))
            let now = try recordNames("phone")
            XCTAssertTrue(known.isSubset(of: now), "a later import removes nothing")
            known = now
        }
        try runs("phone", "import", file)
        for _ in 0..<8 {
            _ = try runAndKill(["sync"], after: .random(in: 0...400_000))
            let count = try recordNames("phone").count
            XCTAssertEqual(count, 2000)
        }
        let summary = try json(runs("phone", "sync", "--json"), as: [String: Int].self)
        XCTAssertEqual(summary["conflictsResolved"], 0, "sent records are recognized")
        XCTAssertEqual(summary["pending"], 0)
        XCTAssertEqual(summary["parked"], 0)
        try runs("tablet", "sync")
        XCTAssertEqual(try runs("tablet", "list", "--json"), try runs("phone", "list", "--json"))
    }
}
