/// What a sync engine does about a failure.
public enum CloudRecovery: Hashable, Sendable {
    /// It passes: keep the change, wait, try again, and never count it against the item.
    case retry
    /// Another device changed the record: look the server's version up if it is not there, and resolve.
    case resolveConflict
    /// The record is gone: ask the model on a save; a deletion has what it wants.
    case acceptDeletion
    /// The zone is missing: find out why, then make it anew.
    case recreateZone
    /// The user removed the app's data: send nothing until the app has decided.
    case askUser
    /// The server's copy can no longer be read: make the zone anew and upload everything.
    case uploadEverything
    /// The position in the change feed is lost: fetch everything.
    case refetch
    /// Another item is to blame: keep this one and send it again without the offender.
    case resend
    /// The request is too large: halve it; a single item is refused.
    case split
    /// There is no space: keep the change, tell the app once, try again rarely.
    case waitForQuota
    /// There is no user to act for: keep everything and wait for the account.
    case waitForAccount
    /// The server will never take it: park the change with the reason, and go on with the others.
    case park
    /// The app is set up wrongly: stop with a clear error, and keep everything.
    case stop
    /// A container for the errors of items: look at each.
    case unwrap
    /// The answer was cut short: go on fetching.
    case continueFetching
    /// Nobody knows: wait and try again, and park the change after a few tries.
    case retryThenPark
}

extension CloudError {
    /// What a sync engine does about this failure: the one table from code to reaction.
    ///
    /// Complexity: O(1).
    public var recovery: CloudRecovery {
        switch code {
        // Nothing is wrong with the change; the way to the server is closed for a while.
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
            .operationCancelled, .internalError:
            .retry
        // The change may have been made; sending it again finds out.
        case .serverResponseLost:
            .retry
        // Change tags differ, or the record exists although this device did not know of it.
        case .serverRecordChanged:
            .resolveConflict
        // Some servers answer a create of an existing record with this, and attach the record.
        case .serverRejectedRequest:
            serverRecord == nil ? .park : .resolveConflict
        // Deleted elsewhere, or never there.
        case .unknownItem:
            .acceptDeletion
        // Either nobody made the zone yet, or somebody deleted it, or its keys are gone.
        case .zoneNotFound:
            userDidResetEncryptedData ? .uploadEverything : .recreateZone
        // The user wiped the app's data in Settings; making it anew would undo that.
        case .userDeletedZone:
            .askUser
        // Too old, or of a zone that was deleted since.
        case .changeTokenExpired:
            .refetch
        // An innocent item of an atomic batch.
        case .batchRequestFailed:
            .resend
        // Too many items or too many bytes.
        case .limitExceeded:
            .split
        // Only the user can make space.
        case .quotaExceeded:
            .waitForQuota
        // Nobody is signed in, or the account needs attention; both end with a signal.
        case .notAuthenticated, .accountTemporarilyUnavailable:
            .waitForAccount
        // The server has looked at this item and will not take it.
        case .permissionFailure, .invalidArguments, .constraintViolation, .referenceViolation:
            .park
        // The bytes of an asset are missing or moving; the item waits for a person or for `retry`.
        case .assetFileNotFound, .assetFileModified, .assetNotAvailable:
            .park
        // Sharing is refused; nothing that repeats would help.
        case .tooManyParticipants, .alreadyShared, .participantMayNeedVerification,
            .participantAlreadyInvited:
            .park
        // Wrong set-up of app or container: every request would fail alike.
        case .badContainer, .missingEntitlement, .incompatibleVersion, .badDatabase,
            .managedAccountRestricted:
            .stop
        // The errors of the items are inside.
        case .partialFailure:
            .unwrap
        // Deprecated by CloudKit; there is more to fetch.
        case .resultsTruncated:
            .continueFetching
        // A code of tomorrow.
        case .unknown:
            .retryThenPark
        }
    }
}
