/// One item of a send request: the machine names stored contents, and the engine builds a record from them.
package struct SendItem: Equatable, Sendable, RecordKeyed {
    package var key: RecordKey
    /// The model to save; `nil` deletes.
    package var handle: ContentHandle?
    /// The version that the save is based on.
    package var known: KnownVersion?
    /// Whether an earlier request has no answer, so that the server may have another version, or none.
    package var isBehindUnanswered = false

    package init(key: RecordKey, handle: ContentHandle?, known: KnownVersion?) {
        self.key = key
        self.handle = handle
        self.known = known
    }
}

/// The result for one item of a send request.
package struct SendResult: Equatable, Sendable, RecordKeyed {
    package enum Outcome: Equatable, Sendable {
        /// The server's new version, staged.
        case saved(KnownVersion)
        /// The record is no longer on the server.
        case deleted
        /// The edit equals the server's version; nothing was sent.
        case unchanged
        /// The server reported a conflict; its version is staged if the response contained it.
        case conflict(server: KnownVersion?)
        case failed(CloudError)
        /// The response does not mention the item, so its outcome is unknown.
        case unmentioned
        /// The server has a version that this app cannot decode and must not overwrite; nothing was sent.
        case undecodable(String)
        /// The stored model could not be read.
        case unreadable(String)
        /// The stored copy of the server's version could not be read; nothing was sent.
        case copyUnreadable(String)
    }

    package var key: RecordKey
    package var handle: ContentHandle?
    package var outcome: Outcome
    /// The wait that the server orders with a conflict.
    package var retryAfter: Duration?

    package init(key: RecordKey, handle: ContentHandle?, outcome: Outcome, retryAfter: Duration? = nil) {
        self.key = key
        self.handle = handle
        self.outcome = outcome
        self.retryAfter = retryAfter
    }

    /// The wait that the server orders with the result.
    var orderedWait: Duration? {
        if case .failed(let error) = outcome { error.retryAfter } else { retryAfter }
    }
}
