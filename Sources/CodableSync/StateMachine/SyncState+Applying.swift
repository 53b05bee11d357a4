import RecordCoding

/// The one function from a fact to the state, used alike for what happens and for what is read back at opening.
extension SyncState {
    package mutating func apply(_ entry: JournalEntry) {
        switch entry {
        case .made(let identity): changeSummary { $0.identity = identity }
        case .claimed(let user): applyClaimed(by: user)
        case .signedOut(let removing): applySignedOut(removing: removing)
        case .queued(let name, let pending): applyQueued(name, pending)
        case .edited(let name, let pending): applyEdited(name, pending)
        case .initialModelsQueued: changeSummary { $0.hasInitialModels = true }
        case .sending(let contents): applySending(contents)
        case .saved(let name, let sent, let version): applySaved(name, sent, version)
        case .deletionConfirmed(let name): applyDeletionConfirmed(name)
        case .fetched(let name, let version): applyFetched(name, version)
        case .fetchedDeletion(let name): applyFetchedDeletion(name)
        case .unread(let names): for name in names { change(name) { $0.isUnread = true } }
        case .listed(let names): applyListed(names)
        case .page(let token, let isComplete): applyPage(token, isComplete: isComplete)
        case .listingBegan: applyListingBegan()
        case .resolved(let name, let client, let server, let resolution):
            applyResolved(name, client: client, server: server, resolution)
        case .parked(let name, let reason): applyParked(name, reason)
        case .retried(let name): applyRetried(name)
        case .discarded(let name): applyDiscarded(name)
        case .accepted(let changes): applyAccepted(changes)
        case .handedOut(let orders): changeSummary { $0.handedOut.hand(out: orders) }
        case .zoneReady: changeSummary { $0.zone = .ready }
        case .zoneLost(let reason): applyZoneLost(reason)
        case .purgeResolved(let uploadAgain): applyPurgeResolved(uploadAgain: uploadAgain)
        case .databaseToken(let token): applyDatabaseToken(token)
        case .subscribed: changeSummary { $0.isSubscribed = true }
        case .serverWait(let until): changeSummary { $0.serverWait = until }
        case .fetchCompleted(let date): changeSummary { $0.lastFetch = date }
        case .note(let note): keep(note)
        case .record(let name, let record): change(name) { $0 = record }
        case .summary(let summary): changeSummary { $0 = summary }
        }
    }

    // MARK: This device's changes

    private mutating func applyQueued(_ name: String, _ pending: LocalChange) {
        change(name) { record in
            // What was sent of the former change may still turn up on the server: `sent` stays.
            record.replacePending(with: pending)
            // Whatever the app has not been told yet is older than its own change; what comes of that is told.
            record.undelivered = nil
            if let handle = pending.handle { record.seen = handle }
        }
    }

    /// An undelivered update stays undelivered, and now shows the edited model.
    private mutating func applyEdited(_ name: String, _ pending: LocalChange) {
        guard let handle = pending.handle else { return }
        let order = nextDeliveryOrder()
        change(name) { record in
            record.replacePending(with: pending, isExact: true)
            switch record.undelivered?.kind {
            case .updated?:
                record.undelivered = Undelivered(kind: .updated(handle), seen: handle, order: order)
            // The edit's own outcome is delivered instead: its confirmation, or the decision about the deletion.
            case .saved?, .deleted?: record.undelivered = nil
            case nil: break
            }
        }
    }

    private mutating func applySending(_ contents: [SentContents]) {
        for content in contents {
            guard let handle = content.handle else {
                change(content.name) { record in
                    record.isDeletionSent = true
                    for index in record.sent.indices { record.sent[index].isBehindDeletion = false }
                }
                continue
            }
            change(content.name) { record in
                guard !record.sent.contains(where: { $0.handle == handle }) else { return }
                let base = record.pending?.handle == handle ? record.pending?.base : record.known?.handle
                record.sent.append(
                    SentVersion(handle: handle, base: base, isBehindDeletion: record.isDeletionSent)
                )
            }
        }
    }

    private mutating func applySaved(_ name: String, _ sent: ContentHandle, _ version: KnownVersion) {
        let order = nextDeliveryOrder()
        let listing = summary.listing
        change(name) { record in
            // A version that was known before says nothing of what the server has now.
            if record.known?.handle != version.handle { record.listing = listing }
            if record.lost?.handle == sent {
                record.confirmLost(as: version)
            } else {
                record.confirm(sent, as: version, order: order)
            }
        }
    }

    private mutating func applyDeletionConfirmed(_ name: String) {
        change(name) { record in
            record.known = nil
            record.seen = nil
            record.sent = []
            record.isDeletionSent = false
            record.undelivered = nil
            if record.pending?.isDeletion == true {
                record.pending = nil
            } else {
                // Uploaded again while the deletion was under way: created anew, without the old tag.
                record.pending?.base = nil
            }
        }
    }

    // MARK: The cloud's changes

    private mutating func applyFetched(_ name: String, _ version: KnownVersion) {
        let order = nextDeliveryOrder()
        let listing = summary.listing
        change(name) { record in
            record.listing = listing
            let wasUnread = record.isUnread
            record.isUnread = false
            if let known = record.known {
                if known.isSameVersion(as: version), wasUnread { record.takeCopy(of: version, order: order) }
                guard !known.isSameVersion(as: version), !known.isNewer(than: version) else { return }
            }
            if let lost = record.lost, lost.hash == version.hash { return record.confirmLost(as: version) }
            // Another device has uploaded its own. Where no edit is on the way, what was lost is one.
            record.queueLost()
            let former = record.known
            record.known = version
            if let former, former.hash == version.hash {
                // Touched, not changed: whatever was based on the former copy is based on this one.
                record.repoint(from: former.handle, to: version.handle)
                return
            }
            if record.pending == nil || record.pending?.parked != nil {
                record.undelivered = Undelivered(
                    kind: .updated(version.handle),
                    seen: version.handle,
                    order: order
                )
            } else if record.pending?.isDeletion == false {
                // In conflict now: only its outcome is delivered. A model that a conflict made, and that the app
                // has not accepted, stays news: confirmed as it is, it would pass for the app's own.
                if !record.isPendingNews { record.undelivered = nil }
            }
        }
    }

    private mutating func applyFetchedDeletion(_ name: String) {
        change(name) { $0.isUnread = false }
        guard let record = records[name] else { return }
        // An old deletion of a record that is about to be created is nobody's news.
        if record.known == nil, record.lost != nil || record.pending?.base == nil { return }
        // The echo of this device's own deletion, or the same wish of another one.
        if record.isOwnDeletion { return applyDeletionConfirmed(name) }
        let order = nextDeliveryOrder()
        change(name) { record in
            record.known = nil
            record.sent = []
            if record.pending?.isDeletion == true { record.pending = nil }
            if record.pending == nil || record.pending?.parked != nil {
                record.undelivered = Undelivered(kind: .deleted, seen: nil, order: order)
            } else {
                record.undelivered = nil
            }
        }
    }

    // MARK: Conflicts

    private mutating func applyResolved(
        _ name: String,
        client: ContentHandle,
        server: ContentHandle?,
        _ resolution: Resolution
    ) {
        // Decided for a conflict that is none any more: by a newer version, or by the loss of the zone.
        guard let record = records[name], record.isInConflict, record.known?.handle == server else { return }
        // Equal to what a deletion on its way may have taken.
        let isDoubtful =
            record.isDeletionSent && !record.sent.contains { resolution == .confirmed($0.handle) }
        if case .confirmed(let sent) = resolution, !isDoubtful, let known = record.known {
            return applySaved(name, sent, known)
        }
        // Decided for an edit that has been replaced since: the newer one is decided anew.
        guard record.pending?.handle == client else { return }
        let order = nextDeliveryOrder()
        let isConfirmed = if case .confirmed = resolution { true } else { false }
        change(name) { $0.resolve(isConfirmed ? .client : resolution, on: server, order: order) }
    }

    private mutating func applyParked(_ name: String, _ reason: ParkReason) {
        let order = nextDeliveryOrder()
        change(name) { record in
            // Where something was lost, it is what was sent; an edit beside it has been set aside before, or is now.
            if record.pending?.parked != nil, record.lost != nil {
                record.isLostRefused = true
            } else {
                if record.pending == nil { record.queueLost() }
                record.pending?.parked = reason
                // Not done: if the record goes now, somebody else has deleted it.
                if record.pending?.isDeletion == true { record.isDeletionSent = false }
                // Reads no longer show it.
                if reason.isConflict { record.deliverServerValue(order: order) }
            }
        }
    }

    private mutating func applyRetried(_ name: String) {
        change(name) { record in
            record.pending?.parked = nil
            record.isLostRefused = false
            // A record to be deleted is not uploaded again first.
            if record.pending?.isDeletion == true { record.lost = nil }
        }
    }

    private mutating func applyDiscarded(_ name: String) {
        let order = nextDeliveryOrder()
        change(name) { record in
            guard record.pending != nil else { return }
            // A model that a conflict has made, and that the app has still to be told of, goes with it.
            let wasOnTop = record.isPendingOnTop && (record.undelivered == nil || record.isPendingNews)
            record.pending = nil
            record.sent = []
            record.isDeletionSent = false
            // Reads showed the edit; from now on they show the cloud's last word.
            if wasOnTop { record.deliverServerValue(order: order) }
        }
    }

    // MARK: Delivery

    private mutating func applyAccepted(_ changes: [AcceptedChange]) {
        for accepted in changes {
            change(accepted.name) { record in
                if let undelivered = record.undelivered, undelivered.order == accepted.order {
                    // It may have been touched since it was handed out.
                    record.seen = undelivered.seen
                    record.undelivered = nil
                } else if accepted.order == 0 {
                    record.seen = accepted.seen
                } else {
                    record.seeLate(accepted.seen)
                }
            }
        }
    }
}

extension KnownVersion {
    /// By the change tag alone; two versions without one are never the same.
    package func isSameVersion(as other: KnownVersion) -> Bool {
        !changeTag.isEmpty && changeTag == other.changeTag
    }

    /// By the server's own clock; versions without a date are taken as they come.
    package func isNewer(than other: KnownVersion) -> Bool {
        guard let modified, let otherDate = other.modified else { return false }
        return modified > otherDate
    }
}
