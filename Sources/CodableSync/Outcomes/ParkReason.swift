/// Why a change is set aside: listed, kept over restarts, sent again by `retry` or replaced by a new edit.
public struct ParkReason: Hashable, Sendable, Codable {
    /// The kinds of reasons.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The server finds the record too large.
        case tooLarge
        /// The server refuses the change.
        case refused
        /// The server's answer is not understood, after several tries.
        case unknownError
        /// `resolveConflict` or `resolveDeletion` threw, or gave a model that cannot be kept.
        case resolverFailed
        /// The server's value cannot be decoded, so an edit does not overwrite it; if a newer version of the app
        /// wrote it, a deletion does not delete it either.
        case serverValueUndecodable
        /// The stored model can no longer be read.
        case contentsUnreadable
    }

    /// The kind of reason.
    public var kind: Kind
    /// What happened, in words, without the contents of the model.
    public var message: String
    /// How often the change was tried before it was set aside, since it was made or tried again by `retry`.
    public var attempts: Int

    /// Makes a reason.
    ///
    /// - Parameters:
    ///   - kind: The kind of reason.
    ///   - message: What happened, in words.
    ///   - attempts: How often the change was tried.
    public init(kind: Kind, message: String, attempts: Int = 1) {
        self.kind = kind
        self.message = message
        self.attempts = attempts
    }

    /// Whether the server's value was delivered instead, so that the edit is no longer on top of reads.
    var isConflict: Bool {
        switch kind {
        case .resolverFailed, .serverValueUndecodable: true
        case .tooLarge, .refused, .unknownError, .contentsUnreadable: false
        }
    }
}
