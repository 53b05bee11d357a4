/// A change to a record that the app has not accepted yet.
package struct Undelivered: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// Changed by another device or by a conflict; carries the contents to show.
        case updated(ContentHandle)
        /// This device's upload was confirmed.
        case saved(ContentHandle)
        /// Deleted elsewhere.
        case deleted

        /// The contents to show; `nil` for a deletion.
        package var handle: ContentHandle? {
            switch self {
            case .updated(let handle), .saved(let handle): handle
            case .deleted: nil
            }
        }
    }

    package var kind: Kind
    /// The version that was deleted: the base of an upload until the app accepts the deletion.
    package var former: ContentHandle?
    /// Increases with every change to deliver, to distinguish a newer change from the one that was handed
    /// out.
    package var order: UInt64

    package init(kind: Kind, former: ContentHandle? = nil, order: UInt64) {
        self.kind = kind
        self.former = former
        self.order = order
    }
}
