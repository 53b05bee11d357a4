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
    /// What happened to the records at the sign-out; `nil` if the user has not signed out or is back.
    package var signOut: SignOut?
    /// Whether a stream of `changes` ever made a request.
    package var isFollowed = false

    package init() {}
}
