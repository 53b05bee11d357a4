import Foundation
import XCTest

@testable import LandmarksCommand

final class CommandTests: CommandTestCase {
    func testTheDemoSucceeds() throws {
        let run = try run(["demo"])
        XCTAssertEqual(run.status, 0, run.errors)
        XCTAssertEqual(run.errors, "")
        XCTAssertFalse(run.output.contains("✗"), run.output)
        XCTAssertFalse(run.output.contains("\u{1B}"), "colors are for terminals")
        XCTAssertTrue(run.output.hasSuffix("Everything came true.\n"))
        XCTAssertTrue(
            run.output.contains("✓ 64 records are the same on the phone, the tablet and the cloud"),
            run.output
        )
        for line in try readmeLines(after: "demo-output") where line != "   ..." {
            XCTAssertTrue(run.output.contains(line + "\n"), "the README shows: \(line)")
        }
    }

    /// The lines of the README's block after a comment with a name.
    private func readmeLines(after name: String) throws -> [String] {
        let readme = URL(fileURLWithPath: #filePath).appending(path: "../../../../README.md")
            .standardizedFileURL
        let block = try String(contentsOf: readme, encoding: .utf8)
            .components(separatedBy: "<!-- \(name) -->\n```\n").dropFirst().first?
            .components(separatedBy: "\n```").first
        return try XCTUnwrap(block, name).components(separatedBy: "\n")
    }

    func testALandmarkAddedOnOneDeviceIsListedOnTheOther() throws {
        let name = try runs(
            "phone",
            "add",
            "Мост",
            "--latitude",
            "-1.5",
            "--longitude=-2",
            "--category",
            "bridge",
            "--note",
            "n"
        ).trimmingCharacters(in: .newlines)
        XCTAssertEqual(
            try runs("phone", "sync", "--json"),
            #"{"conflictsResolved":0,"deleted":0,"fetched":0,"parked":0,"pending":0,"sent":1,"undecodable":0}"#
                + "\n"
        )
        XCTAssertEqual(try runs("tablet", "list", "--json"), "[]\n", "nothing is fetched before a sync")
        XCTAssertEqual(
            try json(runs("tablet", "sync", "--json"), as: [String: Int].self)["fetched"],
            1
        )
        let list = try runs("tablet", "list", "--json")
        XCTAssertEqual(list, try runs("phone", "list", "--json"), "the same bytes")
        let landmark = try XCTUnwrap(try json(list, as: [[String: Any]].self).first)
        XCTAssertEqual(landmark["recordName"] as? String, name)
        XCTAssertEqual(landmark["name"] as? String, "Мост")
        XCTAssertEqual(landmark["note"] as? String, "n")
        XCTAssertEqual(landmark["category"] as? String, "bridge")
        XCTAssertEqual(landmark["longitude"] as? Double, -2)
    }

    func testAnEditReachesTheOtherDeviceAndNoNoteClearsTheNote() throws {
        let name = try runs("phone", "add", "X", "--latitude", "1", "--longitude", "2", "--note", "old")
            .trimmingCharacters(in: .newlines)
        try runs("phone", "sync")
        try runs("tablet", "sync")
        try runs("tablet", "edit", name, "--no-note", "--rating", "4", "--favorite", "--name", "Y")
        try runs("tablet", "sync")
        try runs("phone", "sync")
        let landmark = try XCTUnwrap(
            try json(runs("phone", "list", "--json"), as: [[String: Any]].self).first
        )
        XCTAssertTrue(landmark["note"] is NSNull)
        XCTAssertEqual(landmark["rating"] as? Int, 4)
        XCTAssertEqual(landmark["favorite"] as? Bool, true)
        XCTAssertEqual(landmark["name"] as? String, "Y")
        XCTAssertTrue(try runs("phone", "list", "--favorites").contains("Y"))
        let nothing = "landmarks: \(EmptyList.landmarks(outOf: 1))\n"
        XCTAssertEqual(try runs("phone", "list", "--search", "nowhere", errors: nothing), "")
        try runs("phone", "edit", name, "--no-favorite")
        XCTAssertEqual(try runs("phone", "list", "--favorites", errors: nothing), "")
    }

    func testRemovedLandmarksAreRemovedEverywhere() throws {
        let names = try ["A", "B", "C"].map { name in
            try runs("phone", "add", name, "--latitude", "1", "--longitude", "2")
                .trimmingCharacters(in: .newlines)
        }
        try runs("phone", "sync")
        try runs("tablet", "sync")
        try runs("tablet", "remove", names[0], names[1])
        let summary = try json(runs("tablet", "sync", "--json"), as: [String: Int].self)
        XCTAssertEqual(summary["deleted"], 2)
        try runs("phone", "sync")
        let list = try json(runs("phone", "list", "--json"), as: [[String: Any]].self)
        XCTAssertEqual(list.map { $0["recordName"] as? String }, [names[2]])
    }

    func testTheListIsSortedByRecordName() throws {
        let file = try write(String(decoding: WorldLandmarks.geoJSON, as: UTF8.self), to: "world.geojson")
        XCTAssertEqual(try runs("phone", "import", file), "66 new, 0 changed, 0 unchanged\n")
        let names = try json(runs("phone", "list", "--json"), as: [[String: Any]].self)
            .compactMap { $0["recordName"] as? String }
        XCTAssertEqual(names.count, 66)
        XCTAssertEqual(names, names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    func testStatusSaysWhatIsPendingAndWhy() throws {
        let name = try runs("phone", "add", "X", "--latitude", "1", "--longitude", "2")
            .trimmingCharacters(in: .newlines)
        var status = try json(runs("phone", "status", "--json"), as: [String: Any].self)
        XCTAssertEqual(status["device"] as? String, "phone")
        XCTAssertTrue(status["account"] is NSNull)
        XCTAssertTrue(status["lastSync"] is NSNull)
        XCTAssertEqual(status["known"] as? Int, 0)
        let pending = try XCTUnwrap((status["pending"] as? [[String: Any]])?.first)
        XCTAssertEqual(pending["recordName"] as? String, name)
        XCTAssertEqual(pending["change"] as? String, "edit")
        XCTAssertEqual(pending["reason"] as? String, "waiting for the next sync")
        XCTAssertTrue(try runs("phone", "status").contains("\(name)  edit: waiting for the next sync"))
        try runs("phone", "sync")
        status = try json(runs("phone", "status", "--json"), as: [String: Any].self)
        XCTAssertEqual(status["account"] as? String, "local")
        XCTAssertEqual(status["known"] as? Int, 1)
        XCTAssertEqual((status["pending"] as? [Any])?.count, 0)
        XCTAssertEqual((status["parked"] as? [Any])?.count, 0)
        XCTAssertNotNil(status["lastSync"] as? String)
    }

    func testNothingPendingSaysWhatToDoNext() throws {
        let empty = try runs("phone", "status")
        XCTAssertTrue(empty.contains("\npending    0: \(EmptyList.pending)\n"), empty)
        XCTAssertTrue(empty.hasSuffix("\nparked     0: \(EmptyList.parked)\n"), empty)
        try runs("phone", "add", "X", "--latitude", "1", "--longitude", "2")
        let status = try runs("phone", "status")
        XCTAssertTrue(status.contains("\npending    1\n"), status)
    }

    func testEditTakesABeginningAndRemoveDoesNot() throws {
        let file = try write(String(decoding: WorldLandmarks.geoJSON, as: UTF8.self), to: "world.geojson")
        try runs("phone", "import", file)
        XCTAssertTrue(try runs("phone", "edit", "sag", "--rating", "4").hasPrefix("sagrada-familia  "))
        XCTAssertTrue(try runs("phone", "edit", "Petra", "--rating", "4").hasPrefix("petra  "))
        let removal = try run(device("phone", ["remove", "Petra", "petra", "wawel", "taj", "zzz"]))
        XCTAssertEqual(removal.status, 66)
        XCTAssertEqual(removal.output.split(separator: "\n").count, 2, removal.output)
        XCTAssertTrue(removal.output.hasPrefix("removed  petra     ★★★★  Petra"), removal.output)
        XCTAssertTrue(removal.errors.contains("'taj' on this device; did you mean taj-mahal (Taj Mahal)?"))
        XCTAssertTrue(removal.errors.contains("there is no landmark 'zzz'"))
        let names = try json(runs("phone", "list", "--json"), as: [[String: Any]].self)
            .compactMap { $0["recordName"] as? String }
        XCTAssertEqual(names.count, 64)
        XCTAssertFalse(names.contains("petra") || names.contains("wawel"))
    }

    func testAnotherCloudHasSeparateData() throws {
        try runs("phone", "add", "X", "--latitude", "1", "--longitude", "2")
        let other = home.appending(path: "other").path
        let first = try run(device("phone", ["list", "--json", "--cloud", other]))
        XCTAssertEqual(first.output, "[]\n")
        XCTAssertEqual(
            first.errors,
            "landmarks: '\(other)' is a new cloud for this device, which begins an empty state; what it has for other "
                + "clouds stays in '\(home.path)/state/devices/phone'\n",
            "a cloud that was removed and made again must not look like a loss"
        )
        XCTAssertEqual(try runs("phone", "list", "--json", "--cloud", other), "[]\n")
        XCTAssertNotEqual(try runs("phone", "list", "--json"), "[]\n")
    }

    func testAMovedCloudKeepsTheStateWithItsUnsentEdits() throws {
        try runs("phone", "add", "X", "--latitude", "1", "--longitude", "2")
        try runs("phone", "sync")
        try runs("phone", "add", "Y", "--latitude", "1", "--longitude", "2")
        let moved = home.appending(path: "moved").path
        try FileManager.default.moveItem(atPath: home.appending(path: "state/cloud").path, toPath: moved)
        let list = try runs("phone", "list", "--json", "--cloud", moved)
        XCTAssertEqual(
            try json(list, as: [[String: Any]].self).compactMap { $0["name"] as? String }.sorted(),
            ["X", "Y"]
        )
        XCTAssertTrue(try runs("phone", "sync", "--cloud", moved).hasPrefix("1 sent"))
    }

    func testADirectoryThatIsNoCloudIsRefusedAndLeftAlone() throws {
        try runs("phone", "list", "--json")
        let other = home.appending(path: "documents")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        _ = try write("mine", to: "documents/.letter")
        let devices = home.appending(path: "state/devices/phone")
        let state = try FileManager.default.contentsOfDirectory(atPath: devices.path)[0]
        for path in [other.path, devices.appending(path: state).path] {
            let before = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
            let run = try run(device("tablet", ["sync", "--cloud", path]))
            XCTAssertEqual(run.status, 69, run.errors)
            XCTAssertTrue(run.errors.contains("is not a cloud: it contains"), run.errors)
            XCTAssertEqual(try FileManager.default.subpathsOfDirectory(atPath: path).sorted(), before)
        }
    }

    func testStatusCountsTheLandmarksThatTheCloudDoesNotHave() throws {
        try runs("phone", "add", "X", "--latitude", "1", "--longitude", "2")
        let before = try runs("phone", "status")
        XCTAssertTrue(before.contains("\nlandmarks  1, 0 of them in the cloud\n"), before)
        try runs("phone", "sync")
        let after = try runs("phone", "status")
        XCTAssertTrue(after.contains("\nlandmarks  1, 1 of them in the cloud\n"), after)
    }

    func testWithoutHomeOptionTheDataDirectoryIsUsed() throws {
        let process = process(["--device", "phone", "status", "--json"])
        process.environment = ["XDG_DATA_HOME": home.appending(path: "data").path]
        let run = try run(process)
        XCTAssertEqual(run.status, 0, run.errors)
        #if !canImport(Darwin)
            let status = try json(run.output, as: [String: Any].self)
            let directory = home.appending(path: "data/landmarks/devices/phone/").path
            XCTAssertEqual((status["state"] as? String)?.hasPrefix(directory), true, run.output)
        #endif
    }

    func testImportingThePlacesSendsEverythingOnce() throws {
        guard let places = ProcessInfo.processInfo.environment["CODABLESYNC_PLACES"] else {
            throw XCTSkip("CODABLESYNC_PLACES does not name the places file")
        }
        XCTAssertEqual(try runs("phone", "import", places), "7343 new, 0 changed, 0 unchanged\n")
        XCTAssertEqual(try json(runs("phone", "sync", "--json"), as: [String: Int].self)["sent"], 7343)
        XCTAssertEqual(try json(runs("tablet", "sync", "--json"), as: [String: Int].self)["fetched"], 7343)
        let list = try runs("phone", "list", "--json")
        XCTAssertEqual(list, try runs("tablet", "list", "--json"), "the same bytes")
        XCTAssertEqual(try json(list, as: [[String: Any]].self).count, 7343)
        for device in ["phone", "tablet"] {
            XCTAssertEqual(try runs(device, "import", places), "0 new, 0 changed, 7343 unchanged\n")
            XCTAssertEqual(try json(runs(device, "sync", "--json"), as: [String: Int].self)["sent"], 0)
        }
    }
}
