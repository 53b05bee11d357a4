/// One record in an element of `changes`; all records in an element have the same kind of change.
package struct DeliveryItem: Equatable, Sendable {
    package var name: String
    package var kind: Undelivered.Kind

    package init(name: String, kind: Undelivered.Kind) {
        self.name = name
        self.kind = kind
    }
}

/// A change that could not be decoded, and why.
package struct UndecodableChange: Equatable, Sendable {
    package var name: String
    package var reason: String

    package init(name: String, reason: String) {
        self.name = name
        self.reason = reason
    }
}
