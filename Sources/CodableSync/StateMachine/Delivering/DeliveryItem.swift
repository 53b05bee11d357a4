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

    package init(key: RecordKey, reason: String) {
        self.key = key
        self.reason = reason
    }
}
