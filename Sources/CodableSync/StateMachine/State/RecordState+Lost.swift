import RecordCoding

// After the zone is lost, the version that the cloud had is uploaded again before any edit of the record. The
// edit is then sent as a difference to that version: fields that the model does not know are kept, and
// another device that does the same gets a conflict with an ancestor. A parked edit stays parked.
extension RecordState {
    /// The latest version that the cloud has, or had before the zone was lost.
    package var lastKnown: KnownVersion? { known ?? lost }

    /// Forgets the versions of a lost zone, which cannot be ancestors in the next zone.
    ///
    /// A request in flight that creates the record may still arrive in the next zone, so its contents are
    /// kept.
    mutating func loseVersions() {
        kept = nil
        known = nil
        lost = nil
        isLostRefused = false
        forgetGivenVersion()
        sent.removeAll { $0.base != nil }
        isDeletionSent = false
        mustLookUp = false
        pending?.base = nil
        if undelivered?.seen != pending?.handle { undelivered?.seen = nil }
    }

    /// Queues the known version to be uploaded again as a new record.
    ///
    /// A record with a pending deletion is not uploaded; the deletion stays pending, in case another device
    /// has uploaded the record again.
    mutating func queueAgain() {
        let (version, kept) = (lastKnown, kept)
        let base = readable?.handle
        let contested = pending?.contested
        let isBasedOnIt = pending?.base != nil && pending?.base == base
        loseVersions()
        if pending?.isDeletion == true, pending?.parked == nil { return undelivered = nil }
        lost = version
        self.kept = kept
        if isBasedOnIt {
            pending?.base = base
            pending?.contested = contested
        }
    }

    /// Replaces the pending change, taking into account a version lost with its zone.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - isExact: Whether the caller stated the base of the change.
    mutating func replacePending(with change: LocalChange, isExact: Bool = false) {
        defer { isLostRefused = false }
        if isExact { return pending = change }
        // A deletion is parked while the version is too new, which is then uploaded first.
        guard lost != nil, !change.isDeletion || isTooNew else {
            lost = nil
            pending = change
            return
        }
        var isSeen = change.edited != nil
        if let pending {
            // Reads do not show an edit that was parked by a conflict.
            isSeen = pending.base == readable?.handle || pending.parked?.isConflict == true
        }
        // The app may not have accepted the result of a conflict yet.
        if undelivered != nil { isSeen = false }
        pending = change
        let base = isSeen ? readable?.handle : nil
        pending?.base = base
    }

    /// Records that the cloud has the lost version again.
    mutating func confirmLost(as version: KnownVersion, order: UInt64) {
        guard let lost else { return }
        if lost.isTooNew { return confirmLostTooNew(as: version, order: order) }
        let isKnownToEdit = pending.map { $0.base == lost.handle || $0.parked?.isConflict == true } ?? true
        repoint(from: lost.handle, to: version.handle)
        // The app has seen it, unless it is still undelivered or the pending edit was made without it.
        if undelivered == nil {
            if given == nil, isKnownToEdit {
                // The app's models still carry the lost version.
                given = lost.handle
                copy = copy ?? version.handle
            }
        } else if undelivered?.kind == .updated(lost.handle) {
            undelivered?.seen = version.handle
        }
        sent.removeAll { $0.handle == lost.handle }
        self.lost = nil
        isLostRefused = false
        known = version
    }

    /// Turns the lost version into a pending edit, dated by its last save, unless there is an edit already.
    ///
    /// It is unknown what another device's version was based on, so the edit has no ancestor.
    mutating func queueLost() {
        guard let lost else { return }
        if pending == nil {
            pending = LocalChange(
                kind: .save(lost.handle, size: lost.size),
                edited: lost.modified,
                base: nil
            )
        } else if pending?.base == lost.handle || pending?.base == kept?.version.handle {
            pending?.base = nil
        }
        self.lost = nil
        isLostRefused = false
    }
}
