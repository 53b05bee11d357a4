import Foundation
import XCTest

@testable import RecordCoding

/// Assets are the same if their bytes are.
final class RecordAssetTests: XCTestCase {
    private let (here, there) = (URL(fileURLWithPath: "/a"), URL(fileURLWithPath: "/b"))

    private func assertSame(_ isSame: Bool, _ first: RecordAsset, _ second: RecordAsset, line: UInt = #line) {
        XCTAssertEqual(first == second, isSame, line: line)
        XCTAssertEqual(Set([first, second]).count, isSame ? 1 : 2, line: line)
        let fields = [first, second].map { ["a": RecordValue.asset($0)] }
        XCTAssertEqual(fields[0].contentHash == fields[1].contentHash, isSame, line: line)
    }

    func testAssetsWithOneChecksumAreTheSameWhereverTheirFilesAre() {
        let asset = RecordAsset(fileURL: here, fileChecksum: "c", size: 1)
        assertSame(true, asset, RecordAsset(fileURL: there, fileChecksum: "c", size: 1))
        assertSame(true, asset, RecordAsset(fileChecksum: "c", size: 1))
        assertSame(false, asset, RecordAsset(fileURL: here, fileChecksum: "d", size: 1))
        assertSame(false, asset, RecordAsset(fileURL: here, fileChecksum: "c", size: 2))
        assertSame(false, asset, RecordAsset(fileURL: here, size: 1))
    }

    func testAssetsWithoutAChecksumAreTheSameIfTheirFilesAre() {
        assertSame(true, RecordAsset(fileURL: here), RecordAsset(fileURL: here))
        assertSame(false, RecordAsset(fileURL: here), RecordAsset(fileURL: there))
        assertSame(false, RecordAsset(fileURL: here), RecordAsset())
    }
}
