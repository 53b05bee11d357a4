/// Undelivered changes as the streams hold them.
extension SyncState {
    /// The undelivered change of a record as a stream holds it.
    func handing(of key: RecordKey) -> AcceptedChange? {
        self[key]?.undelivered.map { AcceptedChange(key: key, order: $0.order) }
    }

    /// Whether a change is still undelivered, and no newer one of its record has taken its place.
    func isOpen(_ change: AcceptedChange) -> Bool {
        self[change.key]?.undelivered?.order == change.order
    }
}

extension Undelivered.Kind {
    func isSameKind(as other: Undelivered.Kind) -> Bool {
        switch (self, other) {
        case (.updated, .updated), (.saved, .saved), (.deleted, .deleted): true
        default: false
        }
    }
}
