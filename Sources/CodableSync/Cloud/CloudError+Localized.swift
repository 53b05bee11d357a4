public import protocol Foundation.LocalizedError

extension CloudError: LocalizedError {
    /// One sentence for the app's user, which depends only on the code; `localizedDescription` returns it.
    ///
    /// It is in English. An app in other languages has a sentence of its own for each ``code``.
    public var errorDescription: String? {
        switch code {
        case .networkUnavailable: "This device isn't connected to the internet."
        case .networkFailure, .serverResponseLost: "The connection to the cloud was lost."
        case .serviceUnavailable, .requestRateLimited, .zoneBusy, .internalError, .resultsTruncated,
            .changeTokenExpired, .zoneNotFound:
            "The cloud isn't available right now."
        case .operationCancelled: "Syncing was interrupted."
        case .notAuthenticated: "You aren't signed in to the cloud."
        case .accountTemporarilyUnavailable: "Your account needs attention in the settings."
        case .managedAccountRestricted: "Your account doesn't allow this app to sync."
        case .quotaExceeded: "Your storage in the cloud is full."
        case .userDeletedZone: "Your data was removed from the cloud."
        case .unknownItem: "This item was deleted."
        case .serverRecordChanged: "This item was changed on another device."
        case .limitExceeded: "This item is too large to sync."
        case .assetFileNotFound, .assetFileModified, .assetNotAvailable:
            "A file of this item isn't available."
        case .permissionFailure: "You don't have permission to do this."
        case .tooManyParticipants: "This item can't be shared with more people."
        case .alreadyShared: "This item is already shared."
        case .participantAlreadyInvited: "This person is already invited."
        case .participantMayNeedVerification: "Your address must be verified first."
        case .incompatibleVersion: "Syncing needs a newer version of the app."
        case .badContainer, .missingEntitlement, .badDatabase: Self.misconfigured
        case .invalidArguments, .serverRejectedRequest, .constraintViolation, .referenceViolation,
            .partialFailure, .batchRequestFailed, .unknown:
            "The cloud didn't accept some changes."
        }
    }

    /// The sentence about a mistake of the app's developer.
    static let misconfigured = "This version of the app can't sync, because it isn't set up correctly."
}
