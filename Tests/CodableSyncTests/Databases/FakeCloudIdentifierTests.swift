import CodableSync
import XCTest

final class FakeCloudIdentifierTests: XCTestCase {
    func testAllDevicesOfACloudHaveTheSameIdentifier() {
        let cloud = FakeCloud()
        let (phone, laptop) = (cloud.database(user: "alice"), cloud.database(user: "alice"))
        XCTAssertEqual(phone.identifier, laptop.identifier)
        XCTAssertNotEqual(phone.identifier, FakeCloud().identifier)
        XCTAssertTrue(phone.isInMemory)
    }
}
