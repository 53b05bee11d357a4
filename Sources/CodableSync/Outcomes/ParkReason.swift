/// Why a change is parked.
///
/// A parked change is not sent until ``SyncEngine/retry(named:)`` is called or a new edit replaces it. It is
/// listed by ``SyncEngine/pendingChanges()`` and survives restarts.
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
        /// The server returned an unknown error in several attempts.
        case unknownError
        /// `resolveConflict` or `resolveDeletion` threw, or returned an invalid model.
        case resolverFailed
        /// The server's version cannot be decoded, so an edit does not overwrite it.
        ///
        /// If a newer version of the app wrote it, a deletion does not delete it either. Both are tried again
        /// when the app is updated or can read the record again.
        case serverValueUndecodable
        /// The stored model can no longer be read.
        case contentsUnreadable
    }

    /// The kind of reason.
    public var kind: Kind
    /// What happened, without the contents of the model.
    public var message: String
    /// How often sending was attempted, since the change was made or `retry` was called.
    public var attempts: Int

    /// Creates a reason.
    ///
    /// - Parameters:
    ///   - kind: The kind of reason.
    ///   - message: What happened.
    ///   - attempts: How often sending was attempted.
    public init(kind: Kind, message: String, attempts: Int = 1) {
        self.kind = kind
        self.message = message
        self.attempts = attempts
    }

    /// Whether the server's version was delivered instead, so that reads no longer show the edit.
    var isConflict: Bool {
        switch kind {
        case .resolverFailed, .serverValueUndecodable: true
        case .tooLarge, .refused, .unknownError, .contentsUnreadable: false
        }
    }
}
