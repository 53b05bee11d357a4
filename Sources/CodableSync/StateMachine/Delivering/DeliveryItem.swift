import RecordCoding

/// One record in an element of a stream; all records in an element have the same kind of change.
package struct DeliveryItem: Equatable, Sendable, RecordKeyed {
    package enum Kind: Equatable, Sendable {
        /// Changed by another device or by a conflict, or shown again; carries the contents to show.
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

        func isSameKind(as other: Self) -> Bool {
            switch (self, other) {
            case (.updated, .updated), (.saved, .saved), (.deleted, .deleted): true
            default: false
            }
        }
    }

    package var key: RecordKey
    package var kind: Kind

    package init(key: RecordKey, kind: Kind) {
        self.key = key
        self.kind = kind
    }
}

/// One record of the element that a stream holds or gets next.
struct HandedItem: Sendable, RecordKeyed {
    var item: DeliveryItem
    /// What reads show of the record; `nil` if they show nothing.
    var shown: ShownVersion?
    /// The number of the change; 0 if it has none.
    var number: UInt64
    /// Whether a live stream tells a change that is not the app's own.
    var isForeign = false

    init(_ item: DeliveryItem, _ state: SyncState) {
        self.item = item
        // A deletion of what a loop shows may have newer contents beside it, which cannot be decoded.
        shown = item.kind == .deleted ? nil : state[item.key]?.shown
        number = state.untoldNews(of: item.key)?.number ?? 0
    }

    var key: RecordKey { item.key }
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
