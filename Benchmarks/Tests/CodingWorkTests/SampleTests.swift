import CodingWork
import RecordCoding
import XCTest

final class SampleTests: XCTestCase {
    /// What is compared does the same.
    func testTheCoderAndTheHandMakeTheSameRecord() throws {
        try checkByHand(Reminder.sample())
        try checkByHand(FlatLandmark.sample())
        try checkByHand(Document.sample())
    }

    func testTheModelWithoutItsNoteIsTheSameByHand() throws {
        var landmark = try FlatLandmark.sample()
        landmark.note = nil
        try checkByHand(landmark)
    }

    func testSystemFieldsAreReadIntoTheModel() throws {
        let model = try StoredLandmark.sample()
        XCTAssertNotNil(model.lastModified)
        XCTAssertEqual(
            try RecordEncoder().encode(model).fields,
            try RecordEncoder().encode(FlatLandmark.sample()).fields
        )
    }

    func testANameOfItsOwnIsTheOnlyDifferenceOfTheNamedLandmark() throws {
        let record = try RecordEncoder().encode(NamedLandmark.sample())
        let flat = try RecordEncoder().encode(FlatLandmark.sample())
        XCTAssertEqual(record.fields, flat.fields)
        XCTAssertEqual(record.recordID, flat.recordID)
    }

    func testTheDocumentIsAsLargeAsItsTitleSays() throws {
        let document = try Document.sample()
        XCTAssertGreaterThanOrEqual(document.text.utf8.count, 200_000)
        XCTAssertEqual(document.samples.count, 1000)
    }

    func testEveryWorkCanBeDoneAndHasANameOfItsOwn() throws {
        let works = try Work.coding()
        XCTAssertEqual(Set(works.map(\.name)).count, works.count)
        for work in works { try work.perform(1) }
    }

    private func checkByHand<Model: WrittenByHand>(_ model: Model, line: UInt = #line) throws {
        let record = try RecordEncoder().encode(model)
        XCTAssertEqual(model.recordByHand, record, line: line)
        XCTAssertEqual(try Model(byHand: record), model, line: line)
        XCTAssertEqual(try RecordDecoder().decode(Model.self, from: record), model, line: line)
    }
}
