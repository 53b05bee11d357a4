extension CloudError {
    /// The kinds of failure: CloudKit's (`CKError.Code`), and codes that this version does not know.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Code: Hashable, Sendable {
        /// The service had an internal error.
        case internalError
        /// Some items failed.
        case partialFailure
        /// There is no network.
        case networkUnavailable
        /// The network failed.
        case networkFailure
        /// The container does not exist, or the app may not use it.
        case badContainer
        /// The service is not available.
        case serviceUnavailable
        /// The client sent too many requests.
        case requestRateLimited
        /// The app lacks an entitlement.
        case missingEntitlement
        /// No user is signed in.
        case notAuthenticated
        /// The user may not do this.
        case permissionFailure
        /// The item does not exist.
        case unknownItem
        /// The request is malformed.
        case invalidArguments
        /// The results were cut short.
        case resultsTruncated
        /// The server has another version of the record.
        case serverRecordChanged
        /// The server rejected the request.
        case serverRejectedRequest
        /// The file of an asset is missing.
        case assetFileNotFound
        /// The file of an asset changed while it was saved.
        case assetFileModified
        /// This version of the app is too old for the container.
        case incompatibleVersion
        /// A field that must be unique is not.
        case constraintViolation
        /// The request was cancelled.
        case operationCancelled
        /// The change token can no longer be used.
        case changeTokenExpired
        /// Another item of the same atomic request failed.
        case batchRequestFailed
        /// The zone is busy.
        case zoneBusy
        /// This database cannot do that.
        case badDatabase
        /// The user's storage is full.
        case quotaExceeded
        /// The zone does not exist.
        case zoneNotFound
        /// The request is too large.
        case limitExceeded
        /// The user removed the app's data from the cloud.
        case userDeletedZone
        /// The share has too many participants.
        case tooManyParticipants
        /// The record is shared already.
        case alreadyShared
        /// A reference points at a missing record, or a record is still referenced.
        case referenceViolation
        /// A managed account may not use the service.
        case managedAccountRestricted
        /// The user must verify an address to take part in the share.
        case participantMayNeedVerification
        /// The response was lost; the change may have been made.
        case serverResponseLost
        /// The bytes of an asset are not available at the moment.
        case assetNotAvailable
        /// The user must resolve a problem with the account.
        case accountTemporarilyUnavailable
        /// The participant is invited already.
        case participantAlreadyInvited
        /// A code that this version does not know, with the server's name or number.
        case unknown(String)
    }
}

extension CloudError.Code {
    /// Every code that CloudKit documents, in the order of CloudKit's numbers.
    package static let known: [CloudError.Code] = [
        .internalError,
        .partialFailure,
        .networkUnavailable,
        .networkFailure,
        .badContainer,
        .serviceUnavailable,
        .requestRateLimited,
        .missingEntitlement,
        .notAuthenticated,
        .permissionFailure,
        .unknownItem,
        .invalidArguments,
        .resultsTruncated,
        .serverRecordChanged,
        .serverRejectedRequest,
        .assetFileNotFound,
        .assetFileModified,
        .incompatibleVersion,
        .constraintViolation,
        .operationCancelled,
        .changeTokenExpired,
        .batchRequestFailed,
        .zoneBusy,
        .badDatabase,
        .quotaExceeded,
        .zoneNotFound,
        .limitExceeded,
        .userDeletedZone,
        .tooManyParticipants,
        .alreadyShared,
        .referenceViolation,
        .managedAccountRestricted,
        .participantMayNeedVerification,
        .serverResponseLost,
        .assetNotAvailable,
        .accountTemporarilyUnavailable,
        .participantAlreadyInvited,
    ]

    /// Creates a code from CloudKit's number.
    ///
    /// - Parameter number: The raw value of a `CKError.Code`; any other becomes ``unknown(_:)``.
    public init(number: Int) {
        let index = number &- 1
        self = Self.known.indices.contains(index) ? Self.known[index] : .unknown(String(number))
    }

    /// The name of the case, or the server's name.
    public var name: String {
        if case .unknown(let name) = self { return name }
        return String(describing: self)
    }

    /// What happened, in one sentence.
    package var summary: String {
        switch self {
        case .internalError: "The service had an internal error."
        case .partialFailure: "Some items failed."
        case .networkUnavailable: "There is no network."
        case .networkFailure: "The network failed."
        case .badContainer: "The container is unknown, or the app may not use it."
        case .serviceUnavailable: "The service is not available."
        case .requestRateLimited: "There were too many requests."
        case .missingEntitlement: "The app lacks an entitlement."
        case .notAuthenticated: "No user is signed in."
        case .permissionFailure: "The user may not do this."
        case .unknownItem: "The item does not exist."
        case .invalidArguments: "The request is malformed."
        case .resultsTruncated: "The results were cut short."
        case .serverRecordChanged: "The server has another version of the record."
        case .serverRejectedRequest: "The server rejected the request."
        case .assetFileNotFound: "The file of an asset is missing."
        case .assetFileModified: "The file of an asset changed while it was saved."
        case .incompatibleVersion: "This version of the app is too old for the container."
        case .constraintViolation: "A field that must be unique is not."
        case .operationCancelled: "The request was cancelled."
        case .changeTokenExpired: "The change token can no longer be used."
        case .batchRequestFailed: "Another item of the same atomic request failed."
        case .zoneBusy: "The zone is busy."
        case .badDatabase: "This database cannot do that."
        case .quotaExceeded: "The user's storage is full."
        case .zoneNotFound: "The zone does not exist."
        case .limitExceeded: "The request is too large."
        case .userDeletedZone: "The user removed the app's data from the cloud."
        case .tooManyParticipants: "The share has too many participants."
        case .alreadyShared: "The record is shared already."
        case .referenceViolation:
            "A reference points at a missing record, or the record is still referenced."
        case .managedAccountRestricted: "A managed account may not use the service."
        case .participantMayNeedVerification: "The user must verify an address to take part in the share."
        case .serverResponseLost: "The response was lost; the change may have been made."
        case .assetNotAvailable: "The data of an asset isn't available right now."
        case .accountTemporarilyUnavailable: "The user must resolve a problem with the account."
        case .participantAlreadyInvited: "The participant is invited already."
        case .unknown(let name): "The server returned the unknown code \(name)."
        }
    }
}
