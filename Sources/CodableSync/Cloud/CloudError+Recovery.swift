/// What a sync engine does about a failure.
package enum CloudRecovery: Hashable, Sendable {
    /// The failure is temporary: keep the change, wait and try again, without counting it against the item.
    case retry
    /// Another device changed the record: look up the server's version if the error has none, and resolve the
    /// conflict.
    case resolveConflict
    /// The record is gone: ask the model about a save; a deletion has succeeded.
    case acceptDeletion
    /// The zone is missing: find out why, then create it again.
    case recreateZone
    /// The user removed the app's data: send nothing until the app has decided.
    case askUser
    /// The server's copy is unreadable: create the zone again and upload everything.
    case uploadEverything
    /// The change token is unusable: fetch everything.
    case refetch
    /// Another item caused the failure: keep this one, and send it again without that item.
    case resend
    /// The request is too large: halve it; a single item is parked.
    case split
    /// The storage is full: keep the change, notify the app once, and retry at long intervals.
    case waitForQuota
    /// There is no usable account: keep everything and wait for one.
    case waitForAccount
    /// The server will never accept the change: park it with the reason, and continue with the others.
    case park
    /// The app is configured incorrectly: stop with a clear error, and keep everything.
    case stop
    /// The error contains the errors of items: handle each of them.
    case unwrap
    /// The response was truncated: continue fetching.
    case continueFetching
    /// The failure may be temporary: wait and try again, and park the change after a few attempts.
    case retryThenPark

    /// What to do if the server says when to try again.
    ///
    /// The failure is then temporary, whatever its code, so nothing is parked, deleted or created again because of it.
    /// Other recoveries stay as they are, and wait as long as the server asks.
    fileprivate var withWait: CloudRecovery {
        switch self {
        case .acceptDeletion, .recreateZone, .askUser, .uploadEverything, .refetch, .park, .stop,
            .retryThenPark:
            .retry
        case .retry, .resolveConflict, .resend, .split, .waitForQuota, .waitForAccount, .unwrap,
            .continueFetching:
            self
        }
    }
}

extension CloudError {
    /// What a sync engine does about this failure: the only mapping from codes to reactions.
    ///
    /// Complexity: O(1).
    package var recovery: CloudRecovery {
        retryAfter == nil ? recoveryOfCode : recoveryOfCode.withWait
    }

    /// Whether the server may refuse one item of a request with this error, whether or not it orders a wait.
    var mayBeDueToAnItem: Bool {
        switch recoveryOfCode {
        case .resolveConflict, .acceptDeletion, .split, .park, .retryThenPark: true
        case .retry, .recreateZone, .askUser, .uploadEverything, .refetch, .resend, .waitForQuota,
            .waitForAccount, .stop, .unwrap, .continueFetching:
            false
        }
    }

    /// Whether nothing of the request has left the device.
    var hasNotLeft: Bool { code == .networkUnavailable }

    private var recoveryOfCode: CloudRecovery {
        switch code {
        // Nothing is wrong with the change; the server cannot be reached for a while.
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
            .operationCancelled, .internalError:
            .retry
        // The change may have been made; sending it again shows whether it was.
        case .serverResponseLost:
            .retry
        // Change tags differ, or the record exists although this device did not know of it.
        case .serverRecordChanged:
            .resolveConflict
        // Some servers reject the creation of an existing record with this code, and attach the record. Others
        // report an outage with it.
        case .serverRejectedRequest:
            serverRecord == nil ? .retryThenPark : .resolveConflict
        // The record was deleted by another device, or never existed.
        case .unknownItem:
            .acceptDeletion
        // The zone was not created yet, or was deleted, or its keys were reset.
        case .zoneNotFound:
            userDidResetEncryptedData ? .uploadEverything : .recreateZone
        // The user deleted the app's data in Settings; creating the zone again would undo that.
        case .userDeletedZone:
            .askUser
        // The token is too old, or its zone was deleted since.
        case .changeTokenExpired:
            .refetch
        // An item of an atomic batch in which another item failed.
        case .batchRequestFailed:
            .resend
        // Too many items or too many bytes.
        case .limitExceeded:
            .split
        // Only the user can free space.
        case .quotaExceeded:
            .waitForQuota
        // No user is signed in, or the account has a problem; a signal reports when this changes.
        case .notAuthenticated, .accountTemporarilyUnavailable:
            .waitForAccount
        // The server has examined this item and refuses it.
        case .permissionFailure, .invalidArguments, .constraintViolation, .referenceViolation:
            .park
        // The bytes of an asset are missing or changing; the item waits for the user or for `retry`.
        case .assetFileNotFound, .assetFileModified, .assetNotAvailable:
            .park
        // Sharing is refused; repeating the request does not help.
        case .tooManyParticipants, .alreadyShared, .participantMayNeedVerification,
            .participantAlreadyInvited:
            .park
        // The app or container is configured incorrectly, so every request would fail.
        case .badContainer, .missingEntitlement, .incompatibleVersion, .badDatabase,
            .managedAccountRestricted:
            .stop
        // The error contains the errors of the items.
        case .partialFailure:
            .unwrap
        // Deprecated by CloudKit; there is more to fetch.
        case .resultsTruncated:
            .continueFetching
        // A code that this version does not know.
        case .unknown:
            .retryThenPark
        }
    }
}
