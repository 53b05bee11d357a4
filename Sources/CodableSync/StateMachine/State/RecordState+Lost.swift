import RecordCoding

// After the zone is lost, the version that the cloud had is uploaded again before any edit of the record. The
// edit is then sent as a difference to that version: fields that the model does not know are kept, and
// another device that does the same gets a conflict with an ancestor. A parked edit stays parked.
extension RecordState {
    /// Forgets the versions of a lost zone, which cannot be ancestors in the next zone.
    ///
    /// A request in flight that creates the record may still arrive in the next zone, so its contents are
    /// kept.
    mutating func loseVersions() {
        loseBase(isUploadedAgain: false)
        kept = nil
        server = .none
        carried = CarriedTags()
        sent.removeAll { $0.base != nil }
        isDeletionSent = false
        mustLookUp = false
        undelivered?.former = nil
    }

    /// Ends that the base of the pending edit is an ancestor; it still tells what the edit changed.
    private mutating func loseBase(isUploadedAgain: Bool) {
        guard let base = pending?.base else { return }
        let contested = pending?.on.contested
        pending?.base = nil
        if pending?.isDeletion == false {
            pending?.on.lost = EditBase.Lost(base, contested: contested, isUploadedAgain: isUploadedAgain)
        }
    }

    /// Queues the known version to be uploaded again as a new record.
    ///
    /// A record with a pending deletion is not uploaded; the deletion stays pending, in case another device
    /// has uploaded the record again.
    mutating func queueAgain() {
        let (version, kept, carried) = (lastKnown, kept, carried.ofLatest)
        let base = readable?.handle
        let contested = pending?.on.contested
        let isBasedOnIt = pending?.base != nil && pending?.base == base
        loseVersions()
        if pending?.isDeletion == true, pending?.parked == nil { return undelivered = nil }
        server = version.map { .lost($0) } ?? .none
        self.kept = kept
        self.carried = carried
        if isBasedOnIt {
            pending?.base = base
            pending?.on.contested = contested
        }
    }

    /// Replaces the pending change, taking into account a version lost with its zone.
    mutating func replacePending(with change: LocalChange) {
        server.retryLost()
        let former = isPendingOnTop ? pending : nil
        pending = change
        if let former, former.base == change.base {
            pending?.earlier = former.earlier.prefix(1) + [former.handle].compactMap { $0 }
        }
        // A deletion is parked while the version is too new, which is then uploaded first.
        guard lost != nil, change.isDeletion, !isTooNew else { return }
        server = .none
        pending?.base = nil
    }

    /// Records that the cloud has the lost version again.
    mutating func confirmLost(as version: KnownVersion, keepsTags: Bool, order: UInt64) {
        guard let lost else { return }
        if lost.isTooNew { return confirmLostTooNew(as: version, order: order) }
        repoint(from: lost.handle, to: version.handle)
        sent.removeAll { $0.handle == lost.handle }
        replaceKnown(by: version, isOwn: true, keepsTags: keepsTags)
    }

    /// Turns the lost version into a pending edit, dated by its last save, unless there is an edit already.
    ///
    /// It is unknown what another device's version was based on, so there is no ancestor. An edit is laid over what the
    /// lost version and the other device's make.
    mutating func queueLost() {
        guard let lost else { return }
        if pending == nil {
            pending = LocalChange(
                kind: .save(lost.handle, size: lost.size),
                edited: lost.modified,
                base: nil
            )
        } else if pending?.base == lost.handle || pending?.base == kept?.version.handle {
            loseBase(isUploadedAgain: true)
        }
        server = .none
        kept = nil
        carried = CarriedTags()
    }
}
