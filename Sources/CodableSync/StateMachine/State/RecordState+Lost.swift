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
        server = server.isDeletion ? .deleted(nil) : .none
        carried = CarriedTags()
        sent.removeAll { $0.base != nil }
        isDeletionSent = false
        late = LateRequests()
        mustLookUp = false
    }

    /// Ends that the base of the pending edit is an ancestor; it still tells what the edit changed.
    private mutating func loseBase(isUploadedAgain: Bool) {
        if pending?.isDeletion == true {
            pending?.on.forgetVersion()
        } else {
            pending?.on.lose(isUploadedAgain: isUploadedAgain)
        }
    }

    /// Queues the known version to be uploaded again as a new record.
    ///
    /// A record with a pending deletion is not uploaded; the deletion stays pending, in case another device
    /// has uploaded the record again.
    mutating func queueAgain() {
        let (version, kept, carried) = (lastKnown, kept, carried.ofLatest)
        let (on, base) = (pending?.on, readable?.handle)
        let isBasedOnIt = on?.version != nil && on?.version == base
        loseVersions()
        if pending?.isDeletion == true, pending?.parked == nil { return tellNothing() }
        if let version { server = .lost(version) }
        self.kept = kept
        self.carried = carried
        if isBasedOnIt, let on { pending?.on = on }
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
        pending?.on.forgetVersion()
    }

    /// Records that the cloud has the lost version again.
    mutating func confirmLost(as version: KnownVersion, keepsTags: Bool, _ news: RecordNews?) {
        guard let lost else { return }
        if lost.isTooNew { return confirmLostTooNew(as: version, news) }
        repoint(from: lost.handle, to: version.handle)
        sent.removeAll { $0.handle == lost.handle }
        replaceKnown(by: version, isOwn: true, keepsTags: keepsTags)
    }

    /// Turns the lost version into a pending edit, dated by its last save, unless there is an edit already.
    ///
    /// It is unknown what another device's version was based on, so there is no ancestor. An edit is laid over what the
    /// lost version and the other device's make; one that was made on something else is decided against the lost
    /// version first.
    mutating func queueLost() {
        guard let lost else { return }
        if let pending {
            loseBase(isUploadedAgain: true)
            let isBasedOnIt = [lost.handle, kept?.handle].contains(pending.base)
            if !pending.isDeletion, pending.base == nil || !isBasedOnIt {
                self.pending?.on.sides.insert(EditBase.Side(edit: lost.handle, ancestor: nil), at: 0)
            }
        } else {
            let kind = LocalChange.Kind.save(lost.handle, size: lost.size)
            let on = EditBase(.lost(EditBase.Lost(lost.handle, isUploadedAgain: true)))
            pending = LocalChange(kind: kind, edited: lost.modified, on: on)
        }
        server = .none
        kept = nil
        carried = CarriedTags()
    }
}
