/// One record in an element of a stream; all records in an element have the same kind of change.
package struct DeliveryItem: Equatable, Sendable, RecordKeyed {
    package var key: RecordKey
    package var kind: Undelivered.Kind

    package init(key: RecordKey, kind: Undelivered.Kind) {
        self.key = key
        self.kind = kind
    }
}

/// A change that could not be decoded, and why.
package struct UndecodableChange: Equatable, Sendable, RecordKeyed {
    package var key: RecordKey
    package var reason: String
    /// Its contents, if those cannot be read from the files.
    package var lost: ContentHandle?

    package init(key: RecordKey, reason: String, lost: ContentHandle? = nil) {
        self.key = key
        self.reason = reason
        self.lost = lost
    }

    /// The same as what a read meets.
    var lostVersion: ReadVersion? {
        lost.map { ReadVersion(name: key.recordName, handle: $0, reason: reason, isLost: true) }
    }
}
