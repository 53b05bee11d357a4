/// Undelivered changes as the streams hold them.
extension SyncState {
    /// The undelivered change of a record as a stream holds it, with the version that its model carries.
    func handing(of name: String) -> AcceptedChange? {
        self[name]?.undelivered.map { handing($0, of: name) }
    }

    func handing(_ undelivered: Undelivered, of name: String) -> AcceptedChange {
        let seen = undelivered.seen
        let isEdit = seen != nil && seen == self[name]?.pending?.handle
        let version = isEdit ? self[name]?.pending?.base : seen == nil ? nil : undelivered.kind.handle
        return AcceptedChange(name: name, order: undelivered.order, seen: seen, of: version)
    }

    /// Whether a change is still undelivered, and no newer one of its record has taken its place.
    func isOpen(_ change: AcceptedChange) -> Bool {
        change.order != 0 && self[change.name]?.undelivered?.order == change.order
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
