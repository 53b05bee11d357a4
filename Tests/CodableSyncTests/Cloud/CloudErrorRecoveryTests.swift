import CodableSync
import XCTest

/// The recovery for each error code, written down independently.
final class CloudErrorRecoveryTests: XCTestCase {
    private let table: [(code: CloudError.Code, recovery: CloudRecovery)] = [
        // Transient errors.
        (.internalError, .retry),
        (.networkUnavailable, .retry),
        (.networkFailure, .retry),
        (.serviceUnavailable, .retry),
        (.requestRateLimited, .retry),
        (.zoneBusy, .retry),
        (.serverResponseLost, .retry),
        (.operationCancelled, .retry),
        // No usable account.
        (.notAuthenticated, .waitForAccount),
        (.accountTemporarilyUnavailable, .waitForAccount),
        // Another device or the user changed something.
        (.serverRecordChanged, .resolveConflict),
        (.unknownItem, .acceptDeletion),
        (.zoneNotFound, .recreateZone),
        (.userDeletedZone, .askUser),
        (.changeTokenExpired, .refetch),
        // Errors of the request, not of an item.
        (.batchRequestFailed, .resend),
        (.partialFailure, .unwrap),
        (.limitExceeded, .split),
        (.quotaExceeded, .waitForQuota),
        (.resultsTruncated, .continueFetching),
        // Rejected items.
        (.permissionFailure, .park),
        (.invalidArguments, .park),
        (.constraintViolation, .park),
        (.referenceViolation, .park),
        (.assetFileNotFound, .park),
        (.assetFileModified, .park),
        (.assetNotAvailable, .park),
        (.tooManyParticipants, .park),
        (.alreadyShared, .park),
        (.participantMayNeedVerification, .park),
        (.participantAlreadyInvited, .park),
        // Configuration errors.
        (.incompatibleVersion, .stop),
        (.managedAccountRestricted, .stop),
        (.badContainer, .stop),
        (.badDatabase, .stop),
        (.missingEntitlement, .stop),
        // An outage or a rejected item.
        (.serverRejectedRequest, .retryThenPark),
        // An unknown code.
        (.unknown("FUTURE_ERROR"), .retryThenPark),
    ]

    private let serverRecord = Record(recordType: "Note", recordID: RecordID(recordName: "a"))

    func testEveryCodeHasItsRecovery() {
        for row in table {
            XCTAssertEqual(CloudError(row.code).recovery, row.recovery, row.code.name)
        }
    }

    func testTheTableHasEveryKnownCodeOnce() {
        let codes = table.map(\.code)
        XCTAssertEqual(Set(codes).count, codes.count)
        XCTAssertEqual(Set(codes), Set(CloudError.Code.known + [.unknown("FUTURE_ERROR")]))
        XCTAssertEqual(CloudError.Code.known.count, 37)
    }

    func testAnEncryptionKeyResetUploadsEverythingAgain() {
        let error = CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        XCTAssertEqual(error.recovery, .uploadEverything)
    }

    func testARejectionWithTheServersRecordIsAConflict() {
        let error = CloudError(.serverRejectedRequest, serverRecord: serverRecord)
        XCTAssertEqual(error.recovery, .resolveConflict)
    }

    func testAConflictWithTheServersRecordIsAConflict() {
        let error = CloudError(.serverRecordChanged, serverRecord: serverRecord)
        XCTAssertEqual(error.recovery, .resolveConflict)
    }

    func testAnErrorWithAWaitIsTemporaryWhateverItsCode() {
        // What continues in another way, and gives nothing up.
        let continuing: Set<CloudError.Code> = [
            .serverRecordChanged, .batchRequestFailed, .partialFailure, .limitExceeded, .quotaExceeded,
            .resultsTruncated, .notAuthenticated, .accountTemporarilyUnavailable,
        ]
        for row in table {
            for wait in [Duration.zero, .seconds(30), .seconds(-1)] {
                let error = CloudError(row.code, retryAfter: wait, userDidResetEncryptedData: true)
                let recovery = continuing.contains(row.code) ? row.recovery : .retry
                XCTAssertEqual(error.recovery, recovery, row.code.name)
            }
        }
    }

    func testNumbersMatchCloudKit() {
        XCTAssertEqual(CloudError.Code(number: 1), .internalError)
        XCTAssertEqual(CloudError.Code(number: 14), .serverRecordChanged)
        XCTAssertEqual(CloudError.Code(number: 26), .zoneNotFound)
        XCTAssertEqual(CloudError.Code(number: 37), .participantAlreadyInvited)
        for number in [0, -1, 38, .min, .max] {
            XCTAssertEqual(CloudError.Code(number: number), .unknown(String(number)))
        }
    }
}
