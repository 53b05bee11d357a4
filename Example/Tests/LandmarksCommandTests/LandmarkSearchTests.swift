import CodableSync
import LandmarkModel
import XCTest

@testable import LandmarksCommand

final class LandmarkSearchTests: XCTestCase {
    private let search = LandmarkSearch(
        landmarks: [
            ("p1", "One"), ("p10", "Ten"), ("p11", "p1"), ("eiffel-tower", "Eiffel Tower"),
            ("sagrada-familia", "Sagrada Família"), ("table-mountain", "Table Mountain"),
            ("taj-mahal", "Taj Mahal"), ("a-bridge", "Bridge"), ("b-bridge", "Bridge"), ("u\u{e9}", "U"),
        ].map { LandmarkSearchTests.landmark($0, $1) }
    )

    private static func landmark(_ id: String, _ name: String) -> Landmark {
        Landmark(id: id, name: name, coordinate: Coordinate(latitude: 1, longitude: 2))
    }

    private func failure(_ word: String, in search: LandmarkSearch) -> Failure? {
        do {
            let landmark = try search.landmark(word)
            XCTFail("\(word) is \(landmark.recordName)")
            return nil
        } catch {
            return error as? Failure
        }
    }

    func testALandmarkIsFoundByRecordNameNameOrBeginning() throws {
        let rows = [
            ("p1", "p1"), ("p10", "p10"), ("Ten", "p10"), ("Eiffel Tower", "eiffel-tower"),
            ("e", "eiffel-tower"),
            ("taj", "taj-mahal"), ("Sagrada Fami\u{301}lia", "sagrada-familia"), ("a-", "a-bridge"),
        ]
        for (word, recordName) in rows {
            XCTAssertEqual(try search.landmark(word).recordName, recordName, word)
        }
    }

    /// A script that removes p1 twice must not remove p10 the second time.
    func testAnExactSearchOnlySuggestsBeginnings() throws {
        XCTAssertEqual(try search.landmark("p10", isExact: true).recordName, "p10")
        XCTAssertEqual(try search.landmark("Ten", isExact: true).recordName, "p10")
        let left = LandmarkSearch(landmarks: [Self.landmark("p10", "Ten")])
        XCTAssertThrowsError(try left.landmark("p1", isExact: true)) { error in
            let message = "there is no landmark 'p1' on this device; did you mean p10 (Ten)?"
            XCTAssertEqual(error as? Failure, Failure(.noInput, message))
        }
    }

    func testAnAmbiguousWordListsTheCandidates() {
        let remedy = "give more of the record name"
        let rows = [
            ("ta", "'ta' matches table-mountain (Table Mountain), taj-mahal (Taj Mahal); \(remedy)"),
            ("Bridge", "'Bridge' matches a-bridge (Bridge), b-bridge (Bridge); \(remedy)"),
        ]
        for (word, message) in rows { XCTAssertEqual(failure(word, in: search), Failure(.usage, message)) }
        let many = LandmarkSearch(landmarks: (10..<22).map { Self.landmark("m\($0)", "M") })
        XCTAssertEqual(failure("m", in: many)?.message.hasSuffix(", m19 (M) and 2 more; \(remedy)"), true)
    }

    func testTheNearestLandmarksAreSuggested() {
        let rows = [
            ("Eifel Towr", "did you mean eiffel-tower (Eiffel Tower)?"),
            ("SAGRADA FAMILIA", "did you mean sagrada-familia (Sagrada Família)?"),
            ("bridgee", "did you mean a-bridge (Bridge) or b-bridge (Bridge)?"),
            ("xyzzy", "'landmarks list' shows all"),
            ("", "'landmarks list' shows all"),
        ]
        for (word, remedy) in rows {
            let message = "there is no landmark '\(word)' on this device; \(remedy)"
            XCTAssertEqual(failure(word, in: search), Failure(.noInput, message))
        }
    }

    func testAtMostThreeLandmarksAreSuggestedNearestFirst() {
        let landmarks = ["abcdxx", "abcdyy", "abcdex", "axcdey"].map { Self.landmark($0, $0) }
        XCTAssertEqual(
            failure("abcdef", in: LandmarkSearch(landmarks: landmarks))?.message,
            "there is no landmark 'abcdef' on this device; did you mean abcdex (abcdex), abcdxx (abcdxx) or "
                + "abcdyy (abcdyy)?"
        )
    }

    func testRecordNamesAreComparedByTheirBytes() {
        XCTAssertEqual(try search.landmark("u\u{e9}").recordName, "u\u{e9}")
        XCTAssertEqual(failure("ue\u{301}", in: search)?.status, .noInput)
    }

    func testOnAnEmptyDeviceTheRemedyIsAnother() {
        XCTAssertEqual(
            failure("x", in: LandmarkSearch(landmarks: []))?.message,
            "there is no landmark 'x' on this device, which has no landmarks; \(EmptyList.remedy)"
        )
    }
}
