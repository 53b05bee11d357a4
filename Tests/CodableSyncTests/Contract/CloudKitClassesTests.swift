#if canImport(CloudKit)
    import CloudKit
    import Foundation
    import RecordCoding
    import XCTest

    @testable import CodableSync

    /// What the adapter relies on in CloudKit's classes without a request: it runs on a Mac without iCloud, and
    /// elsewhere on the stand-in.
    final class CloudKitClassesTests: XCTestCase {
        private let zoneID = ZoneID(zoneName: "Note")
        private let writer = CloudKitWriter(savePolicy: .ifServerRecordUnchanged, scope: .private)

        private func record(_ fields: [String: RecordValue]) -> Record {
            Record(
                recordType: "Note",
                recordID: RecordID(recordName: "a", zoneID: zoneID),
                fields: fields
            )
        }

        private let values: [String: RecordValue] = [
            "text": "Bücher", "empty": "", "integer": 3, "lowest": .int64(.min), "highest": .int64(.max),
            "whole": .double(3), "negativeZero": .double(-0.0), "half": .double(0.5),
            "date": .date(Date(timeIntervalSince1970: 1.5)), "bytes": .bytes(Data([0, 255])),
            "texts": .list(["a", "b"]), "integers": .list([1, 2]),
            "wholes": .list([.double(1), .double(2)]),
            "place": .location(RecordLocation(latitude: 48.2, longitude: 16.4)),
        ]

        func testEveryKindOfValueIsReadAsItWasWritten() throws {
            var fields = values
            fields["reference"] = .reference(RecordReference(recordName: "b", action: .deleteSelf))
            fields["asset"] = .asset(RecordAsset(fileURL: URL(filePath: "/tmp/asset")))
            let read = CloudKitReader().record(try writer.record(record(fields)), in: zoneID)
            for (name, value) in fields { XCTAssertEqual(read.fields[name], value, name) }
            XCTAssertEqual(Set(read.fields.keys), Set(fields.keys))
            XCTAssertEqual(read.unknownFields, [:])
            XCTAssertEqual(read.recordID, RecordID(recordName: "a", zoneID: zoneID))
            XCTAssertNil(read.systemFields, "it was never saved")
        }

        func testEveryKindOfEncryptedValueIsReadAsItWasWritten() throws {
            var secret = record(values)
            secret.fields["open"] = "plain"
            secret.encryptedFields = Set(values.keys)
            let written = try writer.record(secret)
            XCTAssertEqual(Set(written.encryptedValues.changedKeys()), Set(values.keys))
            let read = CloudKitReader().record(written, in: zoneID)
            XCTAssertEqual(read.fields, secret.fields)
        }

        func testARestoredRecordHasItsIDAndNoFields() throws {
            let archive = try writer.record(record(values)).systemFieldsArchive
            let restored = try XCTUnwrap(CKRecord.restored(from: archive))
            XCTAssertEqual(restored.recordType, "Note")
            XCTAssertEqual(restored.recordID.recordName, "a")
            XCTAssertTrue(ZoneID(restored.recordID.zoneID).isSameZone(as: zoneID))
            XCTAssertEqual(restored.allKeys(), [])
            XCTAssertEqual(restored.changedKeys(), [])
        }

        func testClearingAFieldOfARestoredRecordChangesItsKey() throws {
            let archive = try writer.record(record([:])).systemFieldsArchive
            var clearing = record(["title": .null, "secret": .null])
            clearing.encryptedFields = ["secret"]
            clearing.systemFields = SystemFields(recordChangeTag: "1", archive: archive)
            let written = try writer.record(clearing)
            XCTAssertEqual(
                Set(written.changedKeys() + written.encryptedValues.changedKeys()),
                ["title", "secret"]
            )
        }

        func testBytesThatAreNoArchiveOfARecordRestoreNothing() throws {
            let text = try NSKeyedArchiver.archivedData(
                withRootObject: NSString(string: "no record"),
                requiringSecureCoding: true
            )
            for bytes in [Data(), Data([1, 2, 3]), text] {
                XCTAssertNil(CKRecord.restored(from: bytes))
                XCTAssertThrowsError(try ChangeToken(bytes).cloudKitToken) {
                    XCTAssertEqual(($0 as? CloudError)?.code, .changeTokenExpired)
                }
            }
        }

        func testAnErrorHasItsCodeItsWaitItsRecordAndItsItems() throws {
            let written = try writer.record(record(["title": "theirs"]))
            let item = CKError(.serverRecordChanged, userInfo: [CKRecordChangedErrorServerRecordKey: written])
            let items: [AnyHashable: any Error] = [written.recordID: item]
            let error = CloudKitReader().error(
                CKError(
                    .partialFailure,
                    userInfo: [CKPartialErrorsByItemIDKey: items, CKErrorRetryAfterKey: 2.5]
                )
            )
            XCTAssertEqual(error.code, .partialFailure)
            XCTAssertEqual(error.retryAfter, .milliseconds(2500))
            let found = error.itemErrors[RecordID(recordName: "a", zoneID: zoneID)]
            XCTAssertEqual(found?.code, .serverRecordChanged)
            XCTAssertEqual(found?.serverRecord?.fields, ["title": "theirs"])
        }

        #if os(macOS)
            func testAProcessWithoutEntitlementsGetsAnErrorAndNoTrap() async {
                do {
                    _ = try await CloudKitDatabase(containerIdentifier: "iCloud.none").accountStatus()
                    XCTFail("the process of these tests has no entitlements")
                } catch {
                    XCTAssertEqual((error as? CloudError)?.code, .missingEntitlement)
                }
            }
        #endif
    }
#endif
