import RecordCoding

// What the cloud had of a record before its zone was lost goes up again. It is queued like any other edit, except
// where an edit has its place that is set aside, or that does not know of it: then it stands beside that, as `lost`,
// and is sent by itself, so that both sides stay until the edit is decided.
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
        seen = nil
        sent.removeAll { $0.base != nil }
        isDeletionSent = false
        isUnread = false
        pending?.base = nil
        undelivered?.seen = nil
    }

    /// Uploads what is known once more, as a record that the server never saw.
    mutating func queueAgain() {
        let version = lastKnown
        let isBasedOnIt = pending?.base != nil && pending?.base == version?.handle
        loseVersions()
        guard let pending else {
            if let version {
                self.pending = LocalChange(kind: .save(version.handle, size: 0), edited: nil, base: nil)
            }
            return
        }
        if pending.isDeletion {
            self.pending = nil
            undelivered = nil
        } else if let version, pending.parked != nil || !isBasedOnIt {
            lost = version
            if isBasedOnIt { self.pending?.base = version.handle }
        }
    }

    /// The cloud has again what was lost.
    mutating func confirmLost(as version: KnownVersion) {
        guard let lost else { return }
        repoint(from: lost.handle, to: version.handle)
        // The app has been shown it, unless it is still to be told.
        if undelivered == nil, seen == nil { seen = version.handle }
        sent.removeAll { $0.handle == lost.handle }
        self.lost = nil
        isLostRefused = false
        known = version
    }

    /// The edit beside it is given up: what was lost is now a change like any other.
    mutating func queueLost(isNews: Bool, order: UInt64) {
        guard let lost else { return }
        pending = LocalChange(kind: .save(lost.handle, size: 0), edited: nil, base: nil)
        self.lost = nil
        isLostRefused = false
        if isNews { undelivered = Undelivered(kind: .updated(lost.handle), seen: nil, order: order) }
    }
}
