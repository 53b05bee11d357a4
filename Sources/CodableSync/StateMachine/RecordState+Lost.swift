import RecordCoding

// What the cloud had of a record before its zone was lost goes up again, by itself and before any edit of it. So the
// edit is then sent as what it is, a difference to a version: fields that the model does not know stay, and another
// device that does the same meets a conflict with an ancestor. An edit that is set aside stays so.
extension RecordState {
    /// The cloud's last word: what it has, or had before its zone was lost.
    package var lastKnown: KnownVersion? { known ?? lost }

    /// Versions of a zone that is gone are nobody's ancestors.
    ///
    /// A request that is to create the record may still arrive, in the zone that comes next.
    mutating func loseVersions() {
        known = nil
        lost = nil
        isLostRefused = false
        if !isPendingSeen { seen = nil }
        sent.removeAll { $0.base != nil }
        isDeletionSent = false
        isUnread = false
        pending?.base = nil
        if undelivered?.seen != pending?.handle { undelivered?.seen = nil }
    }

    /// Uploads what is known once more, as a record that the server never saw.
    ///
    /// A record with a pending deletion is not; the deletion stays, in case another device has uploaded the record
    /// again.
    mutating func queueAgain() {
        let version = lastKnown
        let contested = pending?.contested
        let isBasedOnIt = pending?.base != nil && pending?.base == version?.handle
        loseVersions()
        if pending?.isDeletion == true, pending?.parked == nil { return undelivered = nil }
        lost = version
        if isBasedOnIt {
            pending?.base = version?.handle
            pending?.contested = contested
        }
    }

    /// The app changes a record of which something was lost.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - isExact: Whether the change states its base.
    mutating func replacePending(with change: LocalChange, isExact: Bool = false) {
        defer { isLostRefused = false }
        if isExact { return pending = change }
        guard let lost, !change.isDeletion else {
            lost = nil
            pending = change
            return
        }
        var isSeen = change.edited != nil
        if let pending {
            // An edit parked by a conflict is not what the app was shown.
            isSeen = pending.base == lost.handle || pending.parked?.isConflict == true
        }
        // What a conflict has made of the edit, or left of the cloud's value, may be news that the app has not taken.
        if undelivered != nil { isSeen = false }
        pending = change
        pending?.base = isSeen ? lost.handle : nil
    }

    /// The cloud has again what was lost.
    mutating func confirmLost(as version: KnownVersion) {
        guard let lost else { return }
        let isKnownToEdit = pending.map { $0.base == lost.handle || $0.parked?.isConflict == true } ?? true
        repoint(from: lost.handle, to: version.handle)
        // The app has been shown it, unless it is still to be told, or has made its edit without knowing of it.
        if undelivered == nil {
            if seen == nil, isKnownToEdit { seen = version.handle }
        } else if undelivered?.kind == .updated(lost.handle) {
            undelivered?.seen = version.handle
        }
        sent.removeAll { $0.handle == lost.handle }
        self.lost = nil
        isLostRefused = false
        known = version
    }

    /// What was lost becomes an edit like any other, as old as its last save, unless an edit of it is there.
    ///
    /// Nobody knows what another device has made its version from, so there is no ancestor.
    mutating func queueLost() {
        guard let lost else { return }
        if pending == nil {
            pending = LocalChange(
                kind: .save(lost.handle, size: lost.size),
                edited: lost.modified,
                base: nil
            )
        } else if pending?.base == lost.handle {
            pending?.base = nil
        }
        self.lost = nil
        isLostRefused = false
    }
}
