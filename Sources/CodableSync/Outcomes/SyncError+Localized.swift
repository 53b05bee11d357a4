public import protocol Foundation.LocalizedError

extension SyncError: LocalizedError {
    /// One sentence for the app's user, which depends only on the code, and for `cloud` and `configuration` on the code
    /// of the ``cloudError``; `localizedDescription` returns it.
    ///
    /// It is in English. An app in other languages has sentences of its own for these codes.
    public var errorDescription: String? {
        switch code {
        case .invalidModels: "This item can't be saved, because some of its contents aren't valid."
        case .recordNotFound: "This item isn't on this device, or was deleted."
        case .recordUndecodable: "This item can't be changed until you update the app."
        case .storageFull: "There isn't enough free space on this device."
        case .stateInUse: "Your data is being used by another window or copy of the app."
        case .stateTooNew: "Your data was saved by a newer version of the app; update the app to use it."
        case .storageFailed: "Your data on this device can't be read or saved."
        case .configuration: cloudError?.errorDescription ?? CloudError.misconfigured
        case .waiting: "The cloud is busy; your changes will sync later."
        case .waitingForDecision: "Your data was removed from the cloud, and syncing has paused."
        case .cloud: cloudError?.errorDescription ?? "The cloud isn't available right now."
        case .stopped: "Syncing is paused."
        case .closed: "Your data isn't open right now."
        case .userChanged: "This change wasn't saved, because another user has signed in."
        }
    }
}
