import RecordCoding

public import struct Foundation.Date
public import protocol Foundation.LocalizedError

/// Why a call to an engine failed.
public enum SyncError: Error, Hashable, Sendable {
    /// A model that cannot be uploaded, and the reason.
    public struct InvalidModel: Hashable, Sendable {
        /// The model's record name; empty if it has none.
        public var recordName: String
        /// What is wrong with the model, and what to do.
        public var reason: String

        /// Makes a description of an invalid model.
        ///
        /// - Parameters:
        ///   - recordName: The model's record name.
        ///   - reason: What is wrong with the model.
        public init(recordName: String, reason: String) {
            self.recordName = recordName
            self.reason = reason
        }
    }

    /// Some of the call's models are invalid; nothing was queued.
    case invalidModels([InvalidModel])
    /// This device has no record with this name; nothing was queued.
    case recordNotFound(String)
    /// This version of the app cannot read the record with this name, and must not change it; nothing was
    /// queued.
    case recordUndecodable(String, reason: String)
    /// The disk is full; the call queued nothing, and everything that could not be stored was undone.
    case storageFull(String)
    /// Another engine uses the state directory; the text names its process.
    case stateInUse(by: String)
    /// The state was written by a newer version of the library; nothing was changed.
    case stateTooNew(String)
    /// The state cannot be read or written; the text names the place and the reason.
    case stateUnreadable(String)
    /// The configuration is invalid; the text names the setting.
    case configuration(String)
    /// The server ordered a wait until this date.
    case waiting(until: Date)
    /// The engine waits for a decision by the app; after a purge, call `resolvePurge` first.
    case waitingForDecision(DecisionReason)
    /// The cloud could not be used.
    case cloud(CloudError)
    /// The engine is stopped; call `start` first.
    case stopped
    /// The engine is closed.
    case closed
}

extension SyncError: CustomStringConvertible, LocalizedError {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .invalidModels(let models):
            "Nothing was queued: "
                + models.map {
                    "\($0.recordName.isEmpty ? "a model" : $0.recordName.abbreviated): \($0.reason)"
                }.joined(separator: " ")
        case .recordNotFound(let name):
            "There is no record \(name.quoted) on this device. Upload the model to create it."
        case .recordUndecodable(let name, let reason):
            "This version of the app cannot read the record \(name.quoted), so it cannot edit it: \(reason)"
        case .storageFull(let detail):
            "The disk of this device's state is full: \(detail)"
        case .stateInUse(let owner):
            "The state is in use by \(owner). Close that engine first, or give this one another directory."
        case .stateTooNew(let detail):
            "The state is of a newer version, and nothing was touched: \(detail)"
        case .stateUnreadable(let detail):
            "The state cannot be used: \(detail)"
        case .configuration(let detail):
            "The configuration cannot be used: \(detail)"
        case .waiting(let date):
            "The server ordered a wait until \(date). Try again then."
        case .waitingForDecision(.purged):
            "The user removed the data from the cloud. Call resolvePurge to upload it again or to remove it here."
        case .cloud(let error):
            "The cloud could not be used: \(error)" + (Self.remedy(for: error).map { " \($0)" } ?? "")
        case .stopped:
            "The engine is stopped. Call start first."
        case .closed:
            "The engine is closed. Make a new one."
        }
    }

    /// What to do, if the error's own message does not say; no queued change is lost by any of these errors.
    private static func remedy(for error: CloudError) -> String? {
        // An error with a message of its own already says what to do.
        guard error.message == error.code.summary else { return nil }
        return switch error.recovery {
        case .retry: "Nothing is lost; try again later."
        case .waitForQuota: "Nothing is lost; it is sent when the user has made space."
        case .waitForAccount: "Nothing is lost; it is sent when the user has signed in."
        case .resolveConflict, .acceptDeletion, .recreateZone, .askUser, .uploadEverything, .refetch, .resend,
            .split, .park, .stop, .unwrap, .continueFetching, .retryThenPark:
            nil
        }
    }

    /// The same text as the description.
    public var errorDescription: String? { description }
}
