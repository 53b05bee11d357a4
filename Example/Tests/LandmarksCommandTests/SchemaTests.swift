import CodableSync
import Foundation
import LandmarkModel
import XCTest

/// The record type of landmarks, as CloudKit must know it.
final class SchemaTests: CommandTestCase {
    func testTheSchemaHasEveryFieldOfALandmark() throws {
        let text = try runs("phone", "schema")
        XCTAssertTrue(text.hasPrefix("DEFINE SCHEMA\n\n    RECORD TYPE Landmark (\n"), text)
        let lines = Set(text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
        let landmark = Landmark(id: "a", name: "b", coordinate: Coordinate(latitude: 1, longitude: 2))
        let record = try RecordEncoder().encode(landmark)
        for name in record.fields.keys {
            XCTAssertEqual(lines.filter { $0.hasPrefix("\(name) ") }.count, 1, name)
        }
        for line in [
            #""___recordID" REFERENCE QUERYABLE,"#, "name STRING,", "isCapital INT64,", "elevation DOUBLE,",
            "opened TIMESTAMP,", "website STRING,", "alternateNames LIST<STRING>,", "coordinate BYTES,",
            "codableSyncEdited TIMESTAMP,",
        ] {
            XCTAssertTrue(lines.contains(line), line)
        }
    }

    func testTheSchemaTouchesNoDevice() throws {
        _ = try runs("phone", "schema")
        XCTAssertFalse(FileManager.default.fileExists(atPath: home.appending(path: "state").path))
    }
}
