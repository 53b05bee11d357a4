import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// A file inside a nested value cannot be an asset: it is rejected with its full path, never stored as the
/// text of a path.
final class NestedFileTests: XCTestCase {
    private struct Attachment: Codable {
        var title = "scan"
        var location: URL
    }

    private enum Cover: Codable {
        case none
        case picture(at: URL)
    }

    private struct Wrapped: Codable {
        var inner: [String: [Attachment]]
    }

    private let file = URL(fileURLWithPath: "/tmp/scan.pdf")

    private func field(_ value: some Codable) -> String? {
        do {
            _ = try fields(Box(value: value))
            return nil
        } catch EncodingError.invalidValue(_, let context) {
            guard case .nestedFile(let field)? = context.underlyingError as? RecordCodingError else {
                return "\(context)"
            }
            return field
        } catch {
            return "\(error)"
        }
    }

    func testANestedFileIsRejectedAtAnyDepthWithItsPath() throws {
        let attachment = Attachment(location: file)
        let rows: [(String?, String)] = [
            (field(attachment), "value.location"),
            (field([attachment]), "value[0].location"),
            (field([attachment] as [Attachment]?), "value[0].location"),
            (field(["front": file]), "value.front"),
            (field(["front": [file]]), "value.front[0]"),
            (field([1: file]), "value.1"),
            (field([file: "front"]), "value"),
            (field(Set([[file]])), "value[0]"),
            (field([file as URL?, nil]), "value[0]"),
            (field([[file]]), "value[0][0]"),
            (field(Cover.picture(at: file)), "value.picture.at"),
            (field(Wrapped(inner: ["a": [Attachment(location: file)]])), "value.inner.a[0].location"),
        ]
        for (found, expected) in rows { XCTAssertEqual(found, expected) }
    }

    func testANestedAssetIsRejected() {
        XCTAssertEqual(field(["a": RecordAsset(fileChecksum: "c", size: 3)]), "value.a")
        XCTAssertEqual(field([[RecordAsset(fileURL: file)]]), "value[0][0]")
    }

    func testATopLevelFileIsStillAnAsset() throws {
        XCTAssertEqual(try fields(Box(value: file))["value"], .asset(RecordAsset(fileURL: file)))
        XCTAssertEqual(
            try fields(Box(value: [file]))["value"],
            .list([.asset(RecordAsset(fileURL: file))])
        )
    }

    func testAStoredNestedFileCanStillBeDecoded() throws {
        let json = Data(#"{"location":"file:///tmp/scan.pdf","title":"scan"}"#.utf8)
        let read = try decoded(Box<Attachment>.self, ["value": .bytes(json)]).value
        XCTAssertEqual(read.location, file)
    }
}
