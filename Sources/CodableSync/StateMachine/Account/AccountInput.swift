/// The steps of a switch to another user's state.
package enum AccountInput: Equatable, Sendable {
    /// A call needs the state of the user who is signed in.
    case switchWanted
    /// The calls that were made before a switch have ended.
    case formerCallsEnded
    /// The state of the user who is signed in could not be opened.
    case switchFailed(SyncError)
    /// This machine has replaced a former user's; `nil` if the app was already notified of that user's
    /// sign-out.
    case switched(from: String?)
    /// The app was notified of the switch.
    case switchTold
}
