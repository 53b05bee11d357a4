import CodableSync
import Foundation
import LandmarkModel
import XCTest

@testable import LandmarksCommand

final class TextTests: XCTestCase {
    // F13: no text can forge a line or change the direction of the text after it.
    func testInvisibleCharactersAreEscaped() {
        let rows = [
            ("plain", "plain"), ("a\nb", "a\\u{a}b"), ("\u{1B}[2J", "\\u{1b}[2J"),
            ("a\u{202E}b", "a\\u{202e}b"),
            ("می\u{200C}خواهم", "می\u{200C}خواهم"), ("👩\u{200D}👧", "👩\u{200D}👧"), ("མཁར", "མཁར"),
            ("\0", "\\u{0}"),
        ]
        for (text, shown) in rows { XCTAssertEqual(text.shown, shown) }
    }

    func testAnErrorIsOneLine() {
        XCTAssertEqual("a\n\n  b \r\nc\u{7}".oneLine, "a b c\\u{7}")
        XCTAssertEqual(Failure(.usage, "x\ny").text, "landmarks: x y")
    }

    // F12
    func testAnErrorIsOneJSONObject() throws {
        let json = Failure(SyncError(.stateInUse, message: "It is in use by process 7.")).json
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: [String: Any]]
        XCTAssertEqual(object?["error"]?["exit"] as? Int, 75)
        XCTAssertEqual(object?["error"]?["code"] as? String, "stateInUse")
        XCTAssertEqual((object?["error"]?["message"] as? String)?.contains("process 7"), true)
    }

    func testEveryErrorOfAnEngineHasItsExitCode() {
        let rows: [(SyncError.Code, Int32)] = [
            (.invalidModels, 65), (.recordUndecodable, 65), (.recordNotFound, 66), (.storageFull, 74),
            (.stateInUse, 75), (.stateTooNew, 74), (.storageFailed, 74), (.configuration, 64),
            (.waiting, 69), (.waitingForDecision, 69), (.cloud, 69), (.stopped, 70), (.closed, 70),
        ]
        for (code, status) in rows {
            XCTAssertEqual(Failure(SyncError(code)).status.rawValue, status, "\(code)")
        }
        XCTAssertEqual(Failure(CloudError(.networkUnavailable)).status.rawValue, 69)
        XCTAssertEqual(Failure(OutputError.failed("x")).status.rawValue, 74)
    }

    func testTheProgressBarFillsUp() {
        let rows = [
            (0, 10, 0), (5, 10, 15), (10, 10, 30), (11, 10, 30), (-1, 10, 0), (0, 0, 30), (1, 7343, 0),
        ]
        for (done, total, filled) in rows {
            let line = ProgressBar.line("x", done: done, of: total)
            XCTAssertEqual(line.count { $0 == "█" }, filled, "\(done) of \(total)")
            XCTAssertEqual(line.count { $0 == "█" || $0 == "░" }, 30, "\(done) of \(total)")
        }
        XCTAssertEqual(
            ProgressBar.line("importing", done: .max, of: .max).hasSuffix("of \(Int.max)"),
            true
        )
    }

    func testFileNamesAreValidAndUnique() {
        let texts = [
            "phone", "Phone 2", "/", "..", ".", "a/b", "a%2Fb", "", "%", "手机", "a\nb", "a\0b",
            String(repeating: "x", count: 300), String(repeating: "x", count: 301),
        ]
        let names = texts.map(FileName.of)
        XCTAssertEqual(Set(names).count, texts.count)
        for name in names {
            XCTAssertFalse(name.isEmpty || name.contains("/") || name.hasPrefix("."), name)
            XCTAssertLessThanOrEqual(name.utf8.count, 120)
        }
        XCTAssertEqual(FileName.of("phone"), "phone")
    }

    func testTheDataDirectoryFollowsXDG() {
        let rows = [
            ("/data", "/data/landmarks"), (nil, "/home/u/.local/share/landmarks"),
            ("", "/home/u/.local/share/landmarks"),
        ]
        for (dataHome, path) in rows {
            let environment = Environment { name in
                name == "XDG_DATA_HOME" ? dataHome.map { Array($0.utf8) } : nil
            }
            XCTAssertEqual(try DataDirectory.path(in: environment, userHome: "/home/u").path, path)
        }
    }

    func testAnotherCloudHasAnotherState() {
        let home = URL(filePath: "/tmp/nowhere", directoryHint: .isDirectory)
        let phone = Device(name: "phone", home: home)
        let tablet = Device(name: "tablet", home: home)
        XCTAssertEqual(phone.cloud.place, "/tmp/nowhere/cloud")
        XCTAssertEqual(phone.stateDirectory(for: "k3").path, "/tmp/nowhere/devices/phone/k3")
        XCTAssertNotEqual(phone.stateDirectory(for: "k3"), phone.stateDirectory(for: "k4"))
        XCTAssertNotEqual(phone.stateDirectory(for: "k3"), tablet.stateDirectory(for: "k3"))
    }

    func testAListedLandmarkHasAllKeys() throws {
        let landmark = Landmark(id: "x", name: "X", coordinate: Coordinate(latitude: 1.5, longitude: -2))
        XCTAssertEqual(
            List.json(of: [landmark, landmark]).split(separator: "\n").count,
            4,
            "an element on each line"
        )
        let object = try JSONSerialization.jsonObject(with: Data(List.json(of: [landmark]).utf8))
        XCTAssertEqual(
            (object as? [[String: Any]])?.first?.keys.sorted(),
            [
                "alternateNames", "capital", "category", "country", "elevation", "favorite", "latitude",
                "longitude", "name", "names", "note", "opened", "population", "rating", "recordName",
                "region", "timeZone", "website", "wikidata", "year",
            ]
        )
        XCTAssertEqual(List.json(of: []), "[]\n")
    }

    func testSearchCoversNamesNoteCountryAndRegion() {
        var landmark = Landmark(
            id: "x",
            name: "Chichén Itzá",
            coordinate: Coordinate(latitude: 1, longitude: 2)
        )
        landmark.names = ["ru": "Чичен-Ица"]
        landmark.alternateNames = ["Well of the Itza"]
        landmark.note = "Go early"
        landmark.country = "Mexico"
        landmark.region = "Yucatán"
        for text in ["chichen", "ЧИЧЕН", "well", "early", "mexi", "yucatan"] {
            XCTAssertTrue(landmark.mentions(text), text)
        }
        XCTAssertFalse(landmark.mentions("petra"))
    }

    func testAnEmptyListSaysWhatToDoNext() {
        XCTAssertTrue(EmptyList.landmarks(outOf: 0).contains("'landmarks import'"))
        XCTAssertTrue(
            EmptyList.landmarks(outOf: 7).hasSuffix("leave out --search and --favorites to see all 7")
        )
    }
}
