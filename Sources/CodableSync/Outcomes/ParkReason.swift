/// Why a change is parked.
///
/// The engine doesn't send a parked change until you call ``SyncEngine/retry(named:)`` or a new edit replaces
/// it. ``SyncEngine/pendingChanges()`` lists it, and it survives restarts.
public struct ParkReason: Hashable, Sendable, Codable {
    /// The kinds of reasons.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The record is too large for the server.
        case tooLarge
        /// The server refuses the change.
        case refused
        /// The server returned an unknown error several times.
        case unknownError
        /// `resolveConflict` or `resolveDeletion` threw, or returned an invalid model.
        case resolverFailed
        /// This app can't decode the server's version, so an edit doesn't overwrite it.
        ///
        /// If a newer version of the app wrote it, the engine doesn't delete it either. It retries both once
        /// the app is updated or can read the record again.
        case serverValueUndecodable
        /// The engine can no longer read the stored model.
        case contentsUnreadable
    }

    /// The kind of reason.
    public var kind: Kind
    /// What happened, without the contents of the model.
    public var message: String
    /// The number of attempts to send the change since it was made or `retry` was called.
    public var attempts: Int

    /// Creates a reason.
    ///
    /// - Parameters:
    ///   - kind: The kind of reason.
    ///   - message: What happened.
    ///   - attempts: The number of attempts to send the change.
    package init(kind: Kind, message: String, attempts: Int = 1) {
        self.kind = kind
        self.message = message
        self.attempts = attempts
    }

    /// Whether the app got the server's version instead, so reads no longer show the edit.
    var isConflict: Bool {
        switch kind {
        case .resolverFailed, .serverValueUndecodable: true
        case .tooLarge, .refused, .unknownError, .contentsUnreadable: false
        }
    }
}
