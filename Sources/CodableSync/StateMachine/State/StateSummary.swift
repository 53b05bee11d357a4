import RecordCoding

import struct Foundation.Date

/// The parts of the state that don't belong to a record or a zone.
package struct StateSummary: Equatable, Sendable {
    /// The position in the database's change feed.
    package var databaseToken: ChangeToken?
    package var serverWait: Date?
    package var lastFetch: Date?
    /// The number of the last change that `changes` tells.
    package var lastNumber: UInt64 = 0
    /// How far the models from before the first sync are queued, which happens once for each type.
    package var initialModels: [InitialModels] = []
    /// What this app can read of each type, unless that is the default.
    package var schemas: [ReadableSchema] = []
    /// What the state belongs to; `nil` if the journal does not record it.
    package var identity: StateIdentity?
    /// The user who owns the state; `nil` until one is confirmed.
    package var user: String?
    /// How many switches of users have led to this one; the state with the greatest number is the current one.
    package var switchCount: UInt64 = 0
    /// The last switch, until the app was notified of it.
    package var untoldSwitch: UntoldSwitch?
    /// What happened to the records at the sign-out; `nil` if the user has not signed out or is back.
    package var signOut: SignOut?
    /// Whether a stream of `changes` ever made a request.
    package var isFollowed = false

    package init() {}
}

/// A switch to this state that the app may not know of, because the process may have ended before notifying it.
package struct UntoldSwitch: Equatable, Sendable {
    /// The former user; `nil` if the app was notified of their sign-out.
    package var from: String?
}
