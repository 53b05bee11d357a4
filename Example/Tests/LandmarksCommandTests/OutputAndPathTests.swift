import Foundation
import XCTest

@testable import LandmarksCommand

/// OB-05: outputs that cannot be written, paths of any kind, and environment variables.
final class OutputAndPathTests: CommandTestCase {
    /// Runs a shell line with the command as `$0`, for setups that `Process` does not support.
    private func shell(_ line: String, _ arguments: String...) throws -> Run {
        let script = process([])
        script.executableURL = URL(filePath: "/bin/sh")
        script.arguments = ["-c", line, Self.executable.path] + arguments
        return try run(script)
    }

    // F11
    func testAClosedPipeEndsQuietly() throws {
        let file = try write(String(decoding: WorldLandmarks.geoJSON, as: UTF8.self), to: "world.geojson")
        try runs("phone", "import", file)
        for command in [["list", "--json"], ["list"], ["status"], ["sync"], ["--help"]] {
            let process = process(device("phone", command))
            let output = Pipe()
            let errors = Pipe()
            process.standardOutput = output
            process.standardError = errors
            try output.fileHandleForReading.close()
            try process.run()
            process.waitUntilExit()
            try errors.fileHandleForWriting.close()
            XCTAssertEqual(process.terminationReason, .exit, "\(command)")
            XCTAssertEqual(process.terminationStatus, 0, "\(command)")
            XCTAssertEqual(errors.fileHandleForReading.readDataToEndOfFile(), Data(), "\(command)")
        }
    }

    // F11
    func testAFullOutputDeviceIsAnOutputError() throws {
        if !FileManager.default.fileExists(atPath: "/dev/full") { throw XCTSkip("there is no /dev/full") }
        let run = try shell(#""$0" --home h --device phone status > /dev/full"#)
        XCTAssertEqual(run.status, 74)
        XCTAssertEqual(run.errors, "landmarks: can't write the output: No space left on device\n")
    }

    // F11: the next opened file gets the descriptor of the closed output; it must not be a file of the state.
    func testAClosedOutputIsAnErrorAndNeverOverwritesTheState() throws {
        let add = try shell(#""$0" --home h --device phone add X --latitude 1 --longitude 2 >&-"#)
        XCTAssertEqual(add.status, 74)
        XCTAssertEqual(add.errors, "landmarks: can't write the output: Bad file descriptor\n")
        let both = try shell(#""$0" --home h --device phone sync <&- >&- 2>&-"#)
        XCTAssertEqual(both.status, 74)
        let list = try runsAt("h", "list", "--json")
        XCTAssertEqual(try json(list, as: [[String: Any]].self).map { $0["name"] as? String }, ["X"])
        XCTAssertTrue(try runsAt("h", "sync").hasPrefix("0 sent"), "the sync was done without output")
    }

    private func runsAt(_ directory: String, _ arguments: String...) throws -> String {
        let run = try run(["--home", directory, "--device", "phone"] + arguments)
        XCTAssertEqual(run.status, 0, run.errors)
        XCTAssertEqual(run.errors, "")
        return run.output
    }

    // F13
    func testPathsOfAnyKindWorkAndAreShownEscaped() throws {
        let good =
            #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"ID","properties":{"name":"A"},"#
            + #""geometry":{"type":"Point","coordinates":[1,2]}}]}"#
        for (index, name) in ["sp ace", "new\nline", "-dash", "日本", "'quote"].enumerated() {
            _ = try write(good.replacing("ID", with: "p\(index)"), to: name)
            let run = try run(device("phone", ["import", "--", name]))
            XCTAssertEqual(run.status, 0, name)
            XCTAssertEqual(run.errors, "", name)
            XCTAssertEqual(run.output, "1 new, 0 changed, 0 unchanged\n", name)
        }
        let missing: [(name: String, shown: String)] = [
            ("no sp ace", "no sp ace"), ("no\nline", "no\\u{a}line"), ("-no", "-no"),
            ("no\u{202E}x", "no\\u{202e}x"),
        ]
        for (name, shown) in missing {
            let run = try run(device("phone", ["import", "--", name]))
            XCTAssertEqual(run.status, 66, shown)
            XCTAssertEqual(run.output, "", shown)
            XCTAssertEqual(run.errors, "landmarks: '\(shown)' cannot be read: No such file or directory\n")
        }
    }

    // F13
    func testAPathThatIsNotUTF8IsReadAndShownEscaped() throws {
        let good =
            #"{"type":"FeatureCollection","features":[{"type":"Feature","id":"p","properties":{"name":"A"},"#
            + #""geometry":{"type":"Point","coordinates":[1,2]}}]}"#
        let file = try write(good, to: "plain")
        let name = #"n=$(printf 'a\377b'); "#
        let read = try shell(name + #"cp "$1" "$n"; exec "$0" --home h import "$n""#, file)
        XCTAssertEqual(read.status, 0)
        XCTAssertEqual(read.output, "1 new, 0 changed, 0 unchanged\n")
        XCTAssertEqual(read.errors, "")
        let missing = try shell(name + #"exec "$0" --home h import "$n.no""#)
        XCTAssertEqual(missing.status, 66)
        XCTAssertEqual(missing.errors, "landmarks: 'a\\xffb.no' cannot be read: No such file or directory\n")
        // The directory is created, and a name that isn't UTF-8 would be created under another name.
        let rows = [
            (#"exec "$0" --home "$n" list"#, "--home"), (#"exec "$0" --home="$n" list"#, "--home"),
            (#"exec "$0" --home h --cloud "$n" sync"#, "--cloud"),
        ]
        for (line, option) in rows {
            let refused = try shell(name + line)
            XCTAssertEqual(refused.status, 64, line)
            XCTAssertEqual(
                refused.errors,
                "landmarks: the directory of \(option), 'a\\xffb', is not UTF-8\n",
                line
            )
            XCTAssertEqual(refused.output, "", line)
        }
    }

    // F13
    func testDirectoriesOfAnyKindWork() throws {
        for name in ["sp ace", "new\nline", "日本"] {
            let path = home.appending(path: name).path
            let add = [
                "--home", path, "--device", "phone", "add", "X", "--latitude", "1", "--longitude", "2",
            ]
            let added = try run(add)
            XCTAssertEqual(added.status, 0, added.errors)
            let synced = try run(["--home", path, "--cloud", path + "/c d", "--device", "tablet", "sync"])
            XCTAssertEqual(
                synced.output,
                "0 sent, 0 deleted, 0 fetched, 0 conflicts resolved\n",
                synced.errors
            )
            XCTAssertTrue(FileManager.default.fileExists(atPath: path + "/c d/journal-1.jsonl"), name)
            XCTAssertTrue(FileManager.default.fileExists(atPath: path + "/devices/phone"), name)
        }
        let dash = try run(["--home=-dash", "--device", "phone", "list"])
        XCTAssertEqual(dash.status, 0, dash.errors)
        XCTAssertTrue(FileManager.default.fileExists(atPath: home.appending(path: "-dash").path))
    }

    #if !canImport(Darwin)
        // F15
        func testAVariableWithAWrongValueIsNamed() throws {
            let home = #"HOME='rel' exec "$0" list"#
            let text = "set it to an absolute path, or give --home"
            let rows = [
                (#"XDG_DATA_HOME=rel exec "$0" list"#, "XDG_DATA_HOME, 'rel', is a relative path: \(text)"),
                (
                    #"XDG_DATA_HOME=$(printf '\n\nx') exec "$0" list"#,
                    "XDG_DATA_HOME, '\\u{a}\\u{a}x', is a relative path: \(text)"
                ),
                (
                    #"XDG_DATA_HOME=$(printf '/a\377b') exec "$0" list"#,
                    "XDG_DATA_HOME, '/a\\xffb', is not UTF-8: \(text)"
                ),
                (home, "HOME, 'rel', is a relative path: \(text)"),
                (
                    #"TMPDIR=rel exec "$0" demo"#,
                    "TMPDIR, 'rel', is a relative path: set it to an absolute path, or unset it"
                ),
            ]
            for (line, text) in rows {
                let run = try shell(line)
                XCTAssertEqual(run.status, 64, line)
                XCTAssertEqual(run.errors, "landmarks: the environment variable \(text)\n", line)
                XCTAssertEqual(run.output, "", line)
            }
            let json = try shell(#"XDG_DATA_HOME=rel exec "$0" list --json"#)
            XCTAssertEqual(
                json.output,
                #"{"error":{"code":"usage","exit":64,"message":"the environment variable XDG_DATA_HOME, 'rel', "#
                    + #"is a relative path: \#(text)"}}"# + "\n"
            )
            XCTAssertEqual(
                try FileManager.default.subpathsOfDirectory(atPath: self.home.path).filter {
                    !$0.contains(".")
                },
                []
            )
        }

        // F15
        func testAMissingTemporaryDirectoryIsNamed() throws {
            let run = try shell(#"TMPDIR=/no/where exec "$0" demo"#)
            XCTAssertEqual(run.status, 64)
            XCTAssertEqual(
                run.errors,
                "landmarks: can't create a directory in '/no/where': No such file or directory. "
                    + "Set the environment variable TMPDIR to a directory that you can write to\n"
            )
            XCTAssertEqual(run.output, "")
        }

        // F15: unneeded variables are not checked, and an empty variable counts as unset.
        func testAnUnneededOrEmptyVariableIsNotAnError() throws {
            let given = try shell(#"XDG_DATA_HOME=rel HOME=rel exec "$0" --home h --device phone list"#)
            XCTAssertEqual(given.status, 0, given.errors)
            let empty = try shell(#"XDG_DATA_HOME= exec "$0" --device phone status"#)
            XCTAssertEqual(empty.status, 0, empty.errors)
            XCTAssertTrue(
                empty.output.contains(
                    "\nstate      \(home.path)/.local/share/landmarks/devices/phone/"
                ),
                empty.output
            )
        }
    #endif
}
