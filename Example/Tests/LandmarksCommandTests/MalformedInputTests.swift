import Foundation
import XCTest

@testable import LandmarksCommand

/// OB-05: every invalid input on the command line gives an exit code and one clear line.
final class MalformedInputTests: CommandTestCase {
    private struct Row {
        var arguments: [String]
        var status: Int32 = 64
        /// The full text after the command's name.
        var text: String
    }

    /// Options before the subcommand.
    private let ofDevices = [
        // F2
        Row(arguments: ["--home", "list", "lits"], text: "unknown command 'lits'; did you mean 'list'?"),
        Row(arguments: ["help", "lits"], text: "unknown command 'lits'; did you mean 'list'?"),
        Row(arguments: ["lits", "--help"], text: "unknown command 'lits'; did you mean 'list'?"),
        // F3
        Row(arguments: ["--bogus"], text: "unknown option '--bogus'"),
        Row(arguments: ["--device", "a", "--version"], text: "unknown option '--version'"),
        Row(arguments: ["--device", "a", "--device", "b", "list"], text: "'--device' is given twice"),
        Row(arguments: ["--home", "a", "--home=b", "list"], text: "'--home' is given twice"),
        Row(arguments: ["--device"], text: "missing value for '--device'"),
        Row(arguments: ["--device", "a", "--cloud"], text: "missing value for '--cloud'"),
        Row(arguments: ["--device=", "list"], text: "the value of '--device' is empty"),
        Row(arguments: ["--device", "", "list"], text: "the name of --device is empty"),
        Row(arguments: ["--home", "", "list"], text: "the directory of --home is empty"),
        Row(arguments: ["--home", "h", "--cloud", "", "sync"], text: "the directory of --cloud is empty"),
        Row(arguments: ["--home", "-h2", "--device", "a", "list"], text: "Missing value for '--home <dir>'"),
    ]

    /// Subcommands and their arguments.
    private let ofCommands = [
        // F2
        Row(arguments: ["lits"], text: "unknown command 'lits'; did you mean 'list'?"),
        Row(
            arguments: ["insepct"],
            text:
                "unknown command 'insepct'; the commands are demo, import, add, edit, remove, list, sync, watch, "
                + "status, schema, sign-in, answer-purge, help"
        ),
        Row(
            arguments: ["li\nst\u{1B}"],
            text: "unknown command 'li\\u{a}st\\u{1b}'; did you mean 'list'?"
        ),
        // F3
        Row(arguments: ["list", "--bogus"], text: "Unknown option '--bogus'"),
        Row(arguments: ["list", "-x"], text: "Unknown option '-x'"),
        Row(arguments: ["list", "--jsn"], text: "Unknown option '--jsn'. Did you mean '--json'?"),
        Row(arguments: ["list", "--favorites", "--favorites"], text: "'--favorites' is given twice"),
        Row(arguments: ["list", "--search", "a", "--search=b"], text: "'--search' is given twice"),
        Row(arguments: ["list", "--search"], text: "Missing value for '--search <text>'"),
        Row(
            arguments: ["status", "--json=1"],
            text: "The option '--json' does not take any value, but '1' was specified."
        ),
        Row(arguments: ["list", "extra"], text: "Unexpected argument 'extra'"),
        Row(arguments: ["watch", "extra"], text: "Unexpected argument 'extra'"),
        Row(arguments: ["import"], text: "Missing expected argument '<file>'"),
        Row(arguments: ["remove"], text: "Missing expected argument '<records> ...'"),
        Row(arguments: ["add", "X"], text: "Missing expected argument '--latitude <latitude>'"),
    ]

    /// Invalid values, and files and landmarks that do not exist.
    private let ofValues = [
        Row(
            arguments: ["add", "X", "--latitude", "abc", "--longitude", "1"],
            text: "The value 'abc' is invalid for '--latitude <latitude>'"
        ),
        Row(
            arguments: ["add", "X", "--latitude", "nan", "--longitude", "1"],
            text: "--latitude must be -90 to 90, got 'nan'"
        ),
        Row(
            arguments: ["add", "X", "--latitude", "91", "--longitude", "1"],
            text: "--latitude must be -90 to 90, got '91.0'"
        ),
        Row(
            arguments: ["add", "X", "--latitude", "1", "--longitude", "-181"],
            text: "--longitude must be -180 to 180, got '-181.0'"
        ),
        Row(arguments: ["add", " ", "--latitude", "1", "--longitude", "1"], text: "the name is empty"),
        Row(
            arguments: ["edit", "x"],
            text:
                "nothing to edit: give --name, --note, --no-note, --rating, --favorite or --no-favorite"
        ),
        Row(arguments: ["edit", "x", "--rating", "6"], text: "--rating must be 0 to 5, got '6'"),
        Row(arguments: ["edit", "x", "--rating", "-1"], text: "--rating must be 0 to 5, got '-1'"),
        Row(
            arguments: ["edit", "x", "--rating", "99999999999999999999"],
            text: "The value '99999999999999999999' is invalid for '--rating <rating>'"
        ),
        Row(
            arguments: ["edit", "x", "--note", "a", "--no-note"],
            text: "use either --note or --no-note"
        ),
        Row(
            arguments: ["edit", "x", "--favorite", "--no-favorite"],
            text: "Value to be set with flag '--no-favorite' had already been set with flag '--favorite'"
        ),
        Row(
            arguments: ["edit", "x\ny", "--rating", "1"],
            status: 66,
            text: "there is no landmark 'x\\u{a}y' on this device, which has no landmarks; "
                + EmptyList.remedy
        ),
        Row(
            arguments: ["remove", "x", "y"],
            status: 66,
            text: "there is no landmark 'x' on this device, which has no landmarks; \(EmptyList.remedy); "
                + "there is no landmark 'y' on this device, which has no landmarks; \(EmptyList.remedy)"
        ),
        Row(
            arguments: ["import", "no\nwhere"],
            status: 66,
            text: "'no\\u{a}where' cannot be read: No such file or directory"
        ),
        Row(arguments: ["import", "."], status: 66, text: "'.' cannot be read: Is a directory"),
    ]

    // F2, F3
    func testEveryInvalidInputGivesAnExitCodeAndOneClearLine() throws {
        let rows =
            ofDevices.map { ($0, $0.arguments) }
            + (ofCommands + ofValues).map { ($0, device("phone", $0.arguments)) }
        for (row, arguments) in rows {
            let run = try run(arguments)
            XCTAssertEqual(run.status, row.status, "\(row.arguments)")
            XCTAssertEqual(run.errors, "landmarks: \(row.text)\n", "\(row.arguments)")
            XCTAssertEqual(run.output, "", "\(row.arguments)")
        }
    }

    // F1
    func testWithoutArgumentsTheUsageIsOnStandardError() throws {
        let usage = try run(["--help"])
        for arguments in [[], ["--device", "phone"], ["--home=x"]] {
            let run = try run(arguments)
            XCTAssertEqual(run.status, 64, "\(arguments)")
            XCTAssertEqual(run.output, "", "\(arguments)")
            XCTAssertEqual(run.errors, usage.output, "\(arguments)")
        }
        XCTAssertTrue(usage.output.contains("USAGE: landmarks [--device <name>]"), usage.output)
    }

    func testADamagedStateIsReportedAndTheCommandContinues() throws {
        for name in ["A", "B"] { try runs("phone", "add", name, "--latitude", "1", "--longitude", "2") }
        let devices = home.appending(path: "state/devices/phone")
        let cloud = try FileManager.default.contentsOfDirectory(atPath: devices.path)[0]
        let journal = devices.appending(path: "\(cloud)/users/1/journal-1.jsonl")
        let text = String(decoding: try Data(contentsOf: journal), as: UTF8.self)
        try Data(text.replacing("\"A\"", with: "\"X\"").utf8).write(to: journal)
        let damaged = try run(device("phone", ["list", "--json"]))
        XCTAssertEqual(damaged.status, 0, damaged.errors)
        XCTAssertTrue(damaged.output.contains("\"B\""), damaged.output)
        let beginning = "landmarks: recovered the damaged state of this device: journal-1.jsonl:"
        XCTAssertTrue(damaged.errors.hasPrefix(beginning), damaged.errors)
        XCTAssertEqual(damaged.errors.count { $0 == "\n" }, 1, damaged.errors)
        XCTAssertEqual(try run(device("phone", ["list"])).errors, "")
    }

    func testHelpIsOnStandardOutput() throws {
        for arguments in [["--help"], ["list", "--help"], ["help", "import"]] {
            let run = try run(arguments)
            XCTAssertEqual(run.status, 0, "\(arguments)")
            XCTAssertTrue(run.output.contains("USAGE: landmarks"), "\(arguments)")
            XCTAssertEqual(run.errors, "", "\(arguments)")
        }
    }

    func testTheHelpOfEveryCommandHasTheOptionsOfTheDevice() throws {
        let lines = try run(["--help"]).output.split(separator: "\n")
        let first = try XCTUnwrap(lines.firstIndex { $0.hasPrefix("  --device <name> ") })
        let last = try XCTUnwrap(lines.firstIndex { $0.hasPrefix("  -h, --help ") })
        let options = lines[first..<last].joined(separator: "\n")
        XCTAssertTrue(options.contains("\n  --home <dir> "), options)
        XCTAssertTrue(options.contains("\n  --cloud <dir|url> "), options)
        for command in ArgumentCheck.commands where command != "help" {
            let help = try run([command, "--help"]).output
            XCTAssertTrue(help.contains(options), help)
        }
    }

    // F12
    func testWithJSONAnErrorIsOneObjectOnStandardOutputAndTextOnStandardError() throws {
        let file = try write("", to: "file")
        let rows: [(arguments: [String], status: Int32, code: String, message: String)] = [
            (["list", "--json", "--bogus"], 64, "usage", "Unknown option '--bogus'"),
            (["lits", "--json"], 64, "usage", "unknown command 'lits'; did you mean 'list'?"),
            (["li\nst", "--json"], 64, "usage", "unknown command 'li\\u{a}st'; did you mean 'list'?"),
            (["list", "--json", "--json"], 64, "usage", "'--json' is given twice"),
            (["watch", "--json"], 64, "usage", "Unknown option '--json'"),
            (
                ["--home", file, "list", "--json"], 74, "inputOutput",
                "the directory of the cloud can't be used: Cannot look up \"\(file)/cloud/cloud.json\": "
                    + "Not a directory. Use another path."
            ),
            (
                ["--home", "h", "--cloud", file, "sync", "--json"], 69, "cloudUnreachable",
                "the directory of the cloud can't be used: Cannot look up \"\(file)/cloud.json\": Not a directory. "
                    + "Use another path."
            ),
        ]
        for row in rows {
            let run = try run(["--device", "phone"] + row.arguments)
            XCTAssertEqual(run.status, row.status, "\(row.arguments)")
            let shown = abbreviated(row.message, file)
            XCTAssertEqual(abbreviated(run.errors, file), "landmarks: \(shown)\n", "\(row.arguments)")
            let object = try json(run.output, as: [String: [String: Any]].self)
            XCTAssertEqual(Array(object.keys), ["error"], "\(row.arguments)")
            let error = try XCTUnwrap(object["error"])
            XCTAssertEqual(error.keys.sorted(), ["code", "exit", "message"], "\(row.arguments)")
            XCTAssertEqual(error["code"] as? String, row.code, "\(row.arguments)")
            XCTAssertEqual(error["exit"] as? Int32, row.status, "\(row.arguments)")
            XCTAssertEqual(
                (error["message"] as? String).map { abbreviated($0, file) },
                shown,
                "\(row.arguments)"
            )
            XCTAssertEqual(run.output.count { $0 == "\n" }, 1, "\(row.arguments)")
        }
    }

    /// The library shows at most 80 characters of a path, so the visible part differs from run to run.
    private func abbreviated(_ text: String, _ path: String) -> String {
        text.replacing(/"[^"]*(\/file[^"]*)"/) { "\"…\($0.output.1)\"" }
    }

    // F12
    func testWithJSONAndNoCommandTheUsageIsOnStandardErrorAndTheErrorOnStandardOutput() throws {
        let run = try run(["--json"])
        XCTAssertEqual(run.status, 64)
        XCTAssertEqual(run.errors, try self.run(["--help"]).output)
        XCTAssertEqual(
            run.output,
            #"{"error":{"code":"usage","exit":64,"message":"no command is given"}}"# + "\n"
        )
    }

    func testAFileThatIsNotJSONIsNamed() throws {
        let run = try run(device("phone", ["import", "/dev/null"]))
        XCTAssertEqual(run.status, 65)
        XCTAssertEqual(run.output, "")
        XCTAssertTrue(
            run.errors.hasPrefix("landmarks: '/dev/null' isn't a feature collection: it is not JSON: "),
            run.errors
        )
        XCTAssertEqual(run.errors.count { $0 == "\n" }, 1, run.errors)
    }

    func testAnEndlessInputEndsWithAnError() throws {
        let run = try run(device("phone", ["import", "/dev/zero"]))
        XCTAssertEqual(run.status, 65)
        XCTAssertEqual(run.errors, "landmarks: '/dev/zero' isn't text\n")
    }

    func testANumberOutsideOfTheRangeIsNamed() throws {
        let file = try write(
            #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"A"},"#
                + #""geometry":{"type":"Point","coordinates":[1e999,2]}}]}"#,
            to: "large.geojson"
        )
        let run = try run(device("phone", ["import", file]))
        XCTAssertEqual(run.status, 65)
        XCTAssertTrue(run.errors.contains("the number 1e999 is too large\n"), run.errors)
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

    func testADeviceCanHaveAnyName() throws {
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
