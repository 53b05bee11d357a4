/// Undelivered changes as the streams hold them.
extension SyncState {
    /// The undelivered change of a record as a stream holds it, with the version that its model carries.
    func handing(of key: RecordKey) -> AcceptedChange? {
        self[key]?.undelivered.map { handing($0, of: key) }
    }

    func handing(_ undelivered: Undelivered, of key: RecordKey) -> AcceptedChange {
        let seen = undelivered.seen
        let isEdit = seen != nil && seen == self[key]?.pending?.handle
        let version = isEdit ? self[key]?.pending?.base : seen == nil ? nil : undelivered.kind.handle
        return AcceptedChange(key: key, order: undelivered.order, seen: seen, of: version)
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
