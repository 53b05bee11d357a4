import Foundation
import XCTest

@testable import LandmarksCommand

/// OB-05: for every row of the command line's bad inputs, an exit code and one clear line.
final class MalformedInputTests: CommandTestCase {
    private struct Row {
        var arguments: [String]
        var status: Int32
        var text: String
    }

    /// Usage that is refused whatever the state is.
    private let usage = [
        // F2
        Row(arguments: ["lits"], status: 64, text: "unknown command 'lits'; did you mean 'list'?"),
        Row(arguments: ["insepct"], status: 64, text: "unknown command 'insepct'"),
        Row(arguments: ["li\nst\u{1B}"], status: 64, text: "unknown command 'li\\u{a}st\\u{1b}'"),
        // F3
        Row(arguments: ["list", "--bogus"], status: 64, text: "--bogus"),
        Row(arguments: ["list", "--favorites", "--favorites"], status: 64, text: "--favorites"),
        Row(arguments: ["--device", "a", "--device", "b", "list"], status: 64, text: "--device"),
        Row(arguments: ["list", "--search"], status: 64, text: "--search"),
        Row(arguments: ["--device"], status: 64, text: "--device"),
        Row(arguments: ["--device=", "list"], status: 64, text: "--device"),
        Row(arguments: ["--device", "", "list"], status: 64, text: "--device"),
        Row(arguments: ["--home", "", "list"], status: 64, text: "--home"),
        Row(arguments: ["list", "extra"], status: 64, text: "extra"),
        Row(arguments: ["import"], status: 64, text: "<file>"),
        Row(arguments: ["remove"], status: 64, text: "<records>"),
        // Values
        Row(arguments: ["add", "X"], status: 64, text: "--latitude"),
        Row(arguments: ["add", "X", "--latitude", "abc", "--longitude", "1"], status: 64, text: "abc"),
        Row(
            arguments: ["add", "X", "--latitude", "nan", "--longitude", "1"],
            status: 64,
            text: "--latitude"
        ),
        Row(arguments: ["add", "X", "--latitude", "91", "--longitude", "1"], status: 64, text: "--latitude"),
        Row(
            arguments: ["add", "X", "--latitude", "1", "--longitude", "-181"],
            status: 64,
            text: "--longitude"
        ),
        Row(
            arguments: ["add", " ", "--latitude", "1", "--longitude", "1"],
            status: 64,
            text: "name is empty"
        ),
        Row(arguments: ["edit", "x"], status: 64, text: "nothing to edit"),
        Row(arguments: ["edit", "x", "--rating", "6"], status: 64, text: "--rating must be 0 to 5, got '6'"),
        Row(
            arguments: ["edit", "x", "--rating", "-1"],
            status: 64,
            text: "--rating must be 0 to 5, got '-1'"
        ),
        Row(arguments: ["edit", "x", "--rating", "99999999999999999999"], status: 64, text: "--rating"),
        Row(arguments: ["edit", "x", "--note", "a", "--no-note"], status: 64, text: "--no-note"),
        Row(arguments: ["edit", "x", "--favorite", "--no-favorite"], status: 64, text: "--no-favorite"),
        // What is not there
        Row(arguments: ["edit", "x\ny", "--rating", "1"], status: 66, text: "'x\\u{a}y'"),
        Row(arguments: ["remove", "x", "y"], status: 66, text: "'x', 'y'"),
        Row(arguments: ["import", "no\nwhere"], status: 66, text: "'no\\u{a}where'"),
        Row(arguments: ["import", "."], status: 66, text: "'.'"),
        Row(arguments: ["import", "/dev/null"], status: 65, text: "not JSON"),
    ]

    func testEveryRowIsAnExitCodeAndOneClearLine() throws {
        for row in usage {
            let isAboutDevices = row.arguments.contains { $0.hasPrefix("--device") || $0 == "--home" }
            let run = try run(isAboutDevices ? row.arguments : device("phone", row.arguments))
            XCTAssertEqual(run.status, row.status, "\(row.arguments)")
            XCTAssertTrue(run.errors.contains(row.text), "\(row.arguments): \(run.errors)")
            XCTAssertTrue(run.errors.hasPrefix("landmarks: "), "\(row.arguments): \(run.errors)")
            XCTAssertEqual(run.errors.count { $0 == "\n" }, 1, "\(row.arguments): \(run.errors)")
            XCTAssertEqual(run.output, "", "\(row.arguments)")
        }
    }

    // F1
    func testWithoutArgumentsTheUsageIsOnStandardError() throws {
        let run = try run([])
        XCTAssertEqual(run.status, 64)
        XCTAssertEqual(run.output, "")
        XCTAssertTrue(run.errors.contains("USAGE: landmarks"), run.errors)
    }

    func testHelpIsOnStandardOutput() throws {
        for arguments in [["--help"], ["list", "--help"], ["help", "import"]] {
            let run = try run(arguments)
            XCTAssertEqual(run.status, 0, "\(arguments)")
            XCTAssertTrue(run.output.contains("USAGE: landmarks"), "\(arguments)")
            XCTAssertEqual(run.errors, "", "\(arguments)")
        }
    }

    // F12
    func testWithJSONAnErrorIsOneObjectOnStandardOutputAndTextOnStandardError() throws {
        let file = try write("", to: "file")
        let rows: [(arguments: [String], status: Int32, code: String)] = [
            (device("phone", ["list", "--json", "--bogus"]), 64, "usage"),
            (device("phone", ["lits", "--json"]), 64, "usage"),
            (["--json"], 64, "usage"),
            (["--home", file, "--device", "phone", "list", "--json"], 74, "inputOutput"),
            (device("phone", ["--cloud", file, "sync", "--json"]), 69, "cloudUnreachable"),
        ]
        for row in rows {
            let run = try run(row.arguments)
            XCTAssertEqual(run.status, row.status, "\(row.arguments)")
            XCTAssertFalse(run.errors.isEmpty, "\(row.arguments)")
            let error = try json(run.output, as: [String: [String: Any]].self)["error"]
            XCTAssertEqual(error?["code"] as? String, row.code, "\(row.arguments)")
            XCTAssertEqual(error?["exit"] as? Int32, row.status, "\(row.arguments)")
            XCTAssertEqual((error?["message"] as? String)?.isEmpty, false, "\(row.arguments)")
        }
    }

    func testABadFeatureIsNamedAndTheOthersAreImported() throws {
        let file = try write(
            #"""
            {"type":"FeatureCollection","features":[
            {"type":"Feature","id":"a","properties":{"name":"A"},"geometry":{"type":"Point","coordinates":[1,2]}},
            {"type":"Feature","id":"b","properties":{"name":"B\n"},"geometry":{"type":"Point","coordinates":[1,200]}},
            {"type":"Feature","id":"c","properties":{"name":"C"},"geometry":{"type":"Point","coordinates":[1,2]}}]}
            """#,
            to: "bad.geojson"
        )
        let run = try run(device("phone", ["import", file]))
        XCTAssertEqual(run.status, 65)
        XCTAssertEqual(run.output, "2 new, 0 changed, 0 unchanged\n")
        let lines = run.errors.split(separator: "\n")
        XCTAssertEqual(lines.count, 2, run.errors)
        XCTAssertTrue(
            lines[0].hasPrefix("landmarks: \(file): features[1] (\"B\\u{a}\"): geometry.coordinates")
        )
        XCTAssertTrue(lines[1].hasSuffix("1 of 3 features were not imported"), run.errors)
        XCTAssertEqual(
            try json(runs("phone", "list", "--json"), as: [[String: Any]].self).map { $0["name"] as? String },
            ["A", "C"]
        )
    }

    // F11
    func testAClosedPipeEndsQuietly() throws {
        let file = try write(String(decoding: WorldLandmarks.geoJSON, as: UTF8.self), to: "world.geojson")
        try runs("phone", "import", file)
        let process = process(device("phone", ["list", "--json"]))
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try output.fileHandleForReading.close()
        try process.run()
        process.waitUntilExit()
        try errors.fileHandleForWriting.close()
        XCTAssertEqual(process.terminationReason, .exit)
        XCTAssertEqual(process.terminationStatus, 0)
        XCTAssertEqual(errors.fileHandleForReading.readDataToEndOfFile(), Data())
    }

    // F11
    func testAFullDeviceIsAnErrorOfTheOutput() throws {
        guard let full = FileHandle(forWritingAtPath: "/dev/full") else {
            throw XCTSkip("there is no /dev/full")
        }
        let process = process(device("phone", ["status"]))
        let errors = Pipe()
        process.standardOutput = full
        process.standardError = errors
        try process.run()
        process.waitUntilExit()
        try errors.fileHandleForWriting.close()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        XCTAssertEqual(process.terminationStatus, 74)
        XCTAssertTrue(text.contains("the output cannot be written"), text)
    }

    // F13
    func testPathsOfAnyKindWorkAndAreShownEscaped() throws {
        let good =
            #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"ID","properties":{"name":"A"},"#
            + #""geometry":{"type":"Point","coordinates":[1,2]}}]}"#
        for (index, name) in ["sp ace", "new\nline", "-dash", "日本", "'quote"].enumerated() {
            _ = try write(good.replacing("ID", with: "p\(index)"), to: name)
            let run = try run(device("phone", ["import", "--", name]))
            XCTAssertEqual(run.status, 0, "\(name): \(run.errors)")
        }
        let script = Process()
        script.executableURL = URL(filePath: "/bin/sh")
        script.currentDirectoryURL = home
        let file = try write(good, to: "plain")
        script.arguments = [
            "-c",
            #"n=$(printf 'a\377b'); cp "$1" "$n"; "$0" --home h import "$n"; exec "$0" --home h import "$n.no""#,
            Self.executable.path, file,
        ]
        let run = try run(script)
        XCTAssertEqual(run.output, "1 new, 0 changed, 0 unchanged\n")
        XCTAssertEqual(run.status, 66)
        XCTAssertTrue(run.errors.contains("'a\\xffb.no'"), run.errors)
    }

    func testADeviceMayHaveAnyName() throws {
        for name in ["../../escape", "a/b", "sp ace", "手机", "new\nline", String(repeating: "x", count: 500)] {
            try runs(name, "add", name, "--latitude", "1", "--longitude", "2")
            let status = try json(runs(name, "status", "--json"), as: [String: Any].self)
            XCTAssertEqual(status["device"] as? String, name)
            XCTAssertEqual(
                (status["state"] as? String)?.hasPrefix(home.appending(path: "state/devices/").path),
                true,
                "\(status)"
            )
        }
        let devices = try FileManager.default.contentsOfDirectory(
            atPath: home.appending(path: "state/devices").path
        )
        XCTAssertEqual(devices.count, 6)
    }
}
