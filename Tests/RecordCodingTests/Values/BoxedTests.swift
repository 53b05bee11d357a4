import RecordCoding
import XCTest

/// Rare parts of a value are on the heap.
final class BoxedTests: XCTestCase {
    private typealias Large = (Int, Int, Int, Int)

    func testABoxAndAnOptionalBoxAreAsLargeAsAPointer() {
        XCTAssertEqual(MemoryLayout<Boxed<Large>>.size, MemoryLayout<UnsafeRawPointer>.size)
        XCTAssertEqual(MemoryLayout<Boxed<Large>?>.size, MemoryLayout<UnsafeRawPointer>.size)
    }

    func testAChangedCopyOfABoxLeavesTheOriginal() {
        let first = Boxed.value("a")
        var second = first
        second.value += "b"
        XCTAssertEqual(first.value, "a")
        XCTAssertEqual(second.value, "ab")
        XCTAssertNotEqual(first, second)
        second.value = "a"
        XCTAssertEqual(first, second)
        XCTAssertEqual(Set([first, second]).count, 1)
    }

    func testARecordIsSmallAndKeepsItsRareParts() {
        XCTAssertLessThanOrEqual(MemoryLayout<Record>.size, 11 * MemoryLayout<Int>.size)
        var record = Record(recordType: "T", recordID: someID)
        XCTAssertNil(record.systemFields)
        record.parent = RecordReference(recordName: "p")
        XCTAssertNil(record.systemFields)
        record.systemFields = SystemFields(recordChangeTag: "1")
        let copy = record
        record.parent = nil
        XCTAssertEqual(record.recordChangeTag, "1")
        XCTAssertEqual(copy.parent?.recordName, "p")
        record.systemFields = nil
        XCTAssertEqual(record, Record(recordType: "T", recordID: someID))
    }
}
