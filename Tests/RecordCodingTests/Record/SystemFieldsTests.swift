import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

final class SystemFieldsTests: XCTestCase {
    private let systemFields = SystemFields(
        recordChangeTag: "tag",
        creationDate: Date(timeIntervalSince1970: 1),
        modificationDate: Date(timeIntervalSince1970: 2),
        creatorUserRecordName: "_a",
        lastModifiedUserRecordName: "_b",
        archive: Data([1, 2])
    )

    private struct Stored: SystemFieldsStoring, Equatable {
        var recordName = "s"
        var title = ""
        var systemFields: Data?
        static func resolveConflict(_ conflict: Conflict<Stored>) throws -> Stored? { try conflict.merged() }
    }

    private struct Unlisted: SystemFieldsStoring {
        var recordName = "s"
        var systemFields: Data?
        private enum CodingKeys: CodingKey { case recordName }
        static func resolveConflict(_ conflict: Conflict<Unlisted>) throws -> Unlisted? { nil }
    }

    private struct Plain: Codable { var systemFields: Data? }

    func testTheBlobRoundTrips() throws {
        XCTAssertEqual(try SystemFields(blob: systemFields.encodedBlob), systemFields)
        XCTAssertEqual(try SystemFields(blob: systemFields.encodedBlob).archive, systemFields.archive)
        let small = SystemFields(recordChangeTag: "")
        XCTAssertEqual(try SystemFields(blob: small.encodedBlob), small)
    }

    func testFieldsAreEqualWhateverTheirArchives() {
        var other = systemFields
        other.archive = Data([3])
        XCTAssertEqual(other, systemFields)
        XCTAssertEqual(Set([other, systemFields]).count, 1)
        var changed: [SystemFields] = Array(repeating: systemFields, count: 5)
        changed[0].recordChangeTag = "next"
        changed[1].creationDate = nil
        changed[2].modificationDate = nil
        changed[3].creatorUserRecordName = nil
        changed[4].lastModifiedUserRecordName = nil
        for changed in changed { XCTAssertNotEqual(changed, systemFields) }
    }

    /// B9, P-34.
    func testAMalformedBlobIsRejected() {
        let good = systemFields.encodedBlob
        var blobs = [
            Data(), Data("{}".utf8), Data("[]".utf8), Data([0xFF]), good + Data("x".utf8),
            Data(#"{"tag":"a"}"#.utf8),
        ]
        blobs.append(Data(#"{"codableSyncSystemFields":2,"tag":"a"}"#.utf8))
        blobs.append(Data(#"{"codableSyncSystemFields":1}"#.utf8))
        for length in 0..<good.count { blobs.append(good.prefix(length)) }
        for blob in blobs {
            XCTAssertThrowsError(try SystemFields(blob: blob), String(decoding: blob, as: UTF8.self)) {
                guard case .unreadableSystemFields? = $0 as? RecordCodingError else {
                    return XCTFail("\($0)")
                }
            }
        }
    }

    func testTheSystemFieldsKeyIsNeverAFieldAndTheBlobIsDecoded() throws {
        var record = try RecordEncoder().encode(Stored(title: "a", systemFields: Data([1])))
        XCTAssertEqual(record.fields, ["recordName": "s", "title": "a"])
        XCTAssertNil(try RecordDecoder().decode(Stored.self, from: record).systemFields)
        record.systemFields = systemFields
        record.fields["systemFields"] = "an enemy's"
        let model = try RecordDecoder().decode(Stored.self, from: record)
        XCTAssertEqual(model.systemFields, systemFields.encodedBlob)
        XCTAssertEqual(model.lastModified, systemFields.modificationDate)
        XCTAssertEqual(
            try RecordDecoder().decode(Unlisted.self, from: record).lastModified,
            systemFields.modificationDate
        )
    }

    func testAModelHasTheSystemFieldsOfItsRecordAfterEachChange() throws {
        var record = Record(
            recordType: "Stored",
            recordID: RecordID(recordName: "s"),
            systemFields: systemFields
        )
        record.fields = ["recordName": "s", "title": ""]
        func blob(_ record: Record) throws -> Data? {
            try RecordDecoder().decode(Stored.self, from: record).systemFields
        }
        XCTAssertEqual(try blob(record), systemFields.encodedBlob)
        let old = record
        // The record stays equal, but a model needs the new archive to be saved again.
        record.systemFields?.archive = Data([3])
        XCTAssertEqual(record, old)
        XCTAssertEqual(try SystemFields(blob: XCTUnwrap(blob(record))).archive, Data([3]))
        XCTAssertEqual(try blob(old), systemFields.encodedBlob)
        record.parent = RecordReference(recordName: "p")
        XCTAssertEqual(try SystemFields(blob: XCTUnwrap(blob(record))).archive, Data([3]))
        record.systemFields = nil
        XCTAssertNil(try blob(record))
    }

    func testTheBlobIsMadeOnceForARecordAndItsCopies() throws {
        let record = Record(
            recordType: "Stored",
            recordID: RecordID(recordName: "s"),
            fields: ["recordName": "s", "title": ""],
            systemFields: systemFields
        )
        func bytes(_ record: Record) throws -> UnsafeRawPointer? {
            try XCTUnwrap(RecordDecoder().decode(Stored.self, from: record).systemFields)
                .withUnsafeBytes(\.baseAddress)
        }
        let first = try RecordDecoder().decode(Stored.self, from: record)
        var copy = record
        copy.fields["title"] = "b"
        try withExtendedLifetime(first) {
            let address = first.systemFields?.withUnsafeBytes(\.baseAddress)
            XCTAssertEqual(try bytes(record), address)
            XCTAssertEqual(try bytes(copy), address)
        }
    }

    func testTheKeyIsAnOrdinaryFieldInOtherTypes() throws {
        XCTAssertEqual(try fields(Plain(systemFields: Data([1])))["systemFields"], .bytes(Data([1])))
        XCTAssertEqual(try fields(Box(value: Stored(systemFields: Data([1]))))["value"]?.kind, .bytes)
        XCTAssertEqual(
            try decoded(Box<Stored>.self, fields(Box(value: Stored(systemFields: Data([1]))))).value
                .systemFields,
            Data([1])
        )
    }

    func testLastModifiedIsNilWithoutAReadableBlob() {
        XCTAssertNil(Stored().lastModified)
        XCTAssertNil(Stored(systemFields: Data("x".utf8)).lastModified)
    }

    func testAMergedModelHasTheServersSystemFields() throws {
        let blob = systemFields.encodedBlob
        let conflict = Conflict(
            client: Stored(title: "mine"),
            server: Stored(title: "theirs", systemFields: blob),
            clientEdited: Date(timeIntervalSince1970: 9),
            serverEdited: Date(timeIntervalSince1970: 1)
        )
        XCTAssertEqual(try conflict.merged(), Stored(title: "mine", systemFields: blob))
    }
}
