/// What calls of the app read off the state.
extension SyncState {
    /// The contents that reads show: a pending edit on top of the cloud's last word, or nothing.
    package func shownHandle(of name: String) -> ContentHandle? {
        guard let record = self[name] else { return nil }
        if record.isPendingOnTop { return record.pending?.handle }
        return record.lastKnown?.handle
    }

    /// What an edit of a record would be based on now.
    package func editBasis(of name: String) -> EditBasis {
        var basis = EditBasis(name: name)
        guard let record = self[name] else { return basis }
        basis.known = record.lastKnown?.handle
        basis.shown = shownHandle(of: name)
        if basis.shown != nil {
            basis.base = record.isPendingOnTop ? record.pending?.base : basis.known
            basis.contested = record.isPendingOnTop ? record.pending?.contested : nil
        } else if let pending = record.pending, pending.isDeletion {
            basis.base = pending.base
        } else {
            basis.base = record.seen
            basis.isDeletionNews = record.seen != nil
        }
        return basis
    }

    /// Every name of which a read may show something, in order.
    ///
    /// Complexity: O(n log n).
    package var sortedNames: [String] { records.sortedNames }

    /// The names with an unconfirmed change: first what can be sent, in order, then what cannot.
    package var pendingNames: [String] {
        // A change that is set aside has its place at the end, also where its record is sent once more.
        sendQueue.names.filter { !parkedQueue.contains($0) } + Array(conflictQueue.names)
            + Array(parkedQueue.names)
    }
}

/// What an edit of a record is based on; it changes with the record.
package struct EditBasis: Equatable, Sendable {
    package var name: String
    /// The contents that reads show; `nil` if they show none.
    package var shown: ContentHandle?
    /// The common ancestor of the edit and the cloud's last word.
    package var base: ContentHandle?
    /// Field values of the ancestor that differ from those in `base`.
    package var contested: ContentHandle?
    /// The cloud's last word.
    package var known: ContentHandle?
    /// Whether another device has deleted the record and the app does not know yet.
    package var isDeletionNews = false

    package init(name: String) {
        self.name = name
    }
}
