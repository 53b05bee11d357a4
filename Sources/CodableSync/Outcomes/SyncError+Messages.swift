import RecordCoding

import struct Foundation.Date

/// The library's own errors, and their messages.
extension SyncError {
    /// A model that cannot be uploaded, and the reason.
    package struct InvalidModel: Hashable, Sendable {
        /// The model's record name; empty if it has none.
        package var recordName: String
        /// What is wrong with the model, and what to do.
        package var reason: String

        package init(recordName: String, reason: String) {
            self.recordName = recordName
            self.reason = reason
        }
    }

    package static func invalidModels(_ models: [InvalidModel]) -> SyncError {
        let reasons = models.map { model in
            "\(model.recordName.isEmpty ? "a model" : model.recordName.abbreviated): \(model.reason)"
        }
        return SyncError(
            .invalidModels,
            message: "Nothing was queued: " + reasons.joined(separator: " "),
            recordNames: models.map(\.recordName).filter { !$0.isEmpty }
        )
    }

    package static func recordNotFound(_ name: String) -> SyncError {
        SyncError(.recordNotFound, recordNames: [name])
    }

    package static func recordUndecodable(_ name: String, reason: String) -> SyncError {
        SyncError(
            .recordUndecodable,
            message:
                "This version of the app cannot read the record \(name.quoted), so it cannot edit it: \(reason)",
            recordNames: [name]
        )
    }

    package static func storageFull(_ detail: String) -> SyncError {
        SyncError(
            .storageFull,
            message: "The disk is full, and the engine's state can't be stored: \(detail)"
        )
    }

    package static func stateInUse(by owner: String) -> SyncError {
        SyncError(
            .stateInUse,
            message:
                "The state is in use by \(owner). Close that engine first, or give this one another directory."
        )
    }

    package static func stateTooNew(_ detail: String) -> SyncError {
        SyncError(
            .stateTooNew,
            message: "The state was written by a newer version of the library; nothing was changed: \(detail)"
        )
    }

    package static func storageFailed(_ detail: String) -> SyncError {
        SyncError(.storageFailed, message: "The engine's state can't be read or written: \(detail)")
    }

    package static func configuration(_ detail: String) -> SyncError {
        SyncError(.configuration, message: "The configuration is invalid: \(detail)")
    }

    package static func waiting(until date: Date) -> SyncError { SyncError(.waiting, retryDate: date) }

    package static var waitingForDecision: SyncError { SyncError(.waitingForDecision) }

    /// The error of a request; an app that may not use its container is configured incorrectly.
    package static func cloud(_ error: CloudError) -> SyncError {
        switch error.code {
        case .badContainer, .missingEntitlement: SyncError(.configuration, cloudError: error)
        default: SyncError(.cloud, cloudError: error)
        }
    }

    package static var stopped: SyncError { SyncError(.stopped) }

    package static var closed: SyncError { SyncError(.closed) }
}

extension SyncError {
    /// The message of an error that was made without one.
    var summary: String {
        switch code {
        case .invalidModels:
            "Nothing was queued: a model is invalid\(records)."
        case .recordNotFound:
            "There is no record\(records) on this device. Upload the model to create it."
        case .recordUndecodable:
            "This version of the app cannot read the record\(records), so it cannot edit it. Update the app."
        case .storageFull:
            "The disk is full, and the engine's state can't be stored. Free some space."
        case .stateInUse:
            "The state is in use. Close the other engine first, or give this one another directory."
        case .stateTooNew:
            "The state was written by a newer version of the library; nothing was changed. Update the app."
        case .storageFailed:
            "The engine's state can't be read or written."
        case .configuration:
            "The configuration is invalid" + (cloudError.map { ": \($0)\(Self.remedy(for: $0))" } ?? ".")
        case .waiting:
            "The server asked to wait\(retryDate.map { " until \($0.text)" } ?? ""). Try again then."
        case .waitingForDecision:
            "The user removed the data from the cloud. Call resolvePurge to upload it again or to remove it here."
        case .cloud:
            "The cloud is unavailable" + (cloudError.map { ": \($0)\(Self.remedy(for: $0))" } ?? ".")
        case .stopped:
            "The engine is stopped. Call start first."
        case .closed:
            "The engine is closed. Create a new one."
        case .userChanged:
            "Another user has signed in, and the change\(records) was made to the former user's models. Nothing was "
                + "queued; show the current user's models."
        }
    }

    private var records: String {
        recordNames.isEmpty ? "" : " " + recordNames.map(\.quoted).joined(separator: ", ")
    }

    /// What to do, if the error's own message does not say; no queued change is lost by any of these errors.
    private static func remedy(for error: CloudError) -> String {
        // CloudKit's own messages do not say it.
        if [.badContainer, .missingEntitlement].contains(error.code) {
            return
                " No edit is lost; add the capability iCloud to the app's target, with CloudKit and the container."
        }
        // An error with a message of its own already says what to do.
        guard error.message == error.code.summary else { return "" }
        return switch error.recovery {
        case .retry: " No edit is lost; try again later."
        case .waitForQuota: " No edit is lost; sending resumes when the user has freed space."
        case .waitForAccount: " No edit is lost; sending resumes when the user signs in."
        case .resolveConflict, .acceptDeletion, .recreateZone, .askUser, .uploadEverything, .refetch, .resend,
            .split, .park, .stop, .unwrap, .continueFetching, .retryThenPark:
            ""
        }
    }
}
