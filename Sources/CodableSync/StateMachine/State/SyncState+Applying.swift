import RecordCoding

/// Applying journal entries to the state, both as they happen and when the journal is read at opening.
extension SyncState {
    package mutating func apply(_ entry: JournalEntry) {
        switch entry {
        case .made(let identity): changeSummary { $0.identity = identity }
        case .claimed(let user): applyClaimed(by: user)
        case .signedOut(let removing): applySignedOut(removing: removing)
        case .queued(let name, let pending): applyQueued(name, pending)
        case .edited(let name, let pending, let copy, let given): applyEdited(name, pending, copy, given)
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
            // The server may still save what was sent of the former change, so `sent` stays.
            record.replacePending(with: pending)
            // Undelivered changes are older than the app's own change, whose outcome is delivered instead.
            record.undelivered = nil
            if let handle = pending.handle { record.copy = handle }
        }
    }

    /// An undelivered update stays undelivered, and now shows the edited model.
    private mutating func applyEdited(
        _ name: String,
        _ pending: LocalChange,
        _ copy: ContentHandle?,
        _ given: ContentHandle?
    ) {
        guard let handle = pending.handle else { return }
        let order = nextDeliveryOrder()
        change(name) { record in
            record.replacePending(with: pending, isExact: true)
            if let given { record.given = given }
            if let copy { record.copy = copy }
            switch record.undelivered?.kind {
            case .updated?:
                record.undelivered = Undelivered(kind: .updated(handle), seen: handle, order: order)
            // The outcome of the edit is delivered instead: its confirmation, or the decision about the
            // deletion.
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
            // A version that was already known does not show what the server has now.
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
            record.forgetGivenVersion()
            record.sent = []
            record.isDeletionSent = false
            record.undelivered = nil
            if record.pending?.isDeletion == true {
                record.pending = nil
            } else {
                // Uploaded again while the deletion was in flight: created as a new record, without the old
                // change tag.
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
            // Another device has uploaded its own version. If there is no edit, the lost version becomes one.
            record.queueLost()
            let former = record.known
            record.known = version
            if let former, former.hash == version.hash {
                // Saved without a change: what was based on the former version is now based on this one.
                return record.rebase(from: former.handle, to: version.handle)
            }
            if record.pending == nil || record.pending?.parked != nil {
                record.undelivered = Undelivered(
                    kind: .updated(version.handle),
                    seen: version.handle,
                    order: order
                )
            } else if record.pending?.isDeletion == false {
                // There is a conflict now, and only its outcome is delivered. An unaccepted model made by an
                // earlier conflict stays undelivered; if it were confirmed as it is, it would count as the
                // app's own.
                if !record.isPendingNews { record.undelivered = nil }
            }
        }
    }

    private mutating func applyFetchedDeletion(_ name: String) {
        change(name) { $0.isUnread = false }
        guard let record = records[name] else { return }
        // An old deletion of a record that is about to be created does not matter.
        if record.known == nil, record.lost != nil || record.pending?.base == nil { return }
        // This device deleted the record, or wants to and another device did it first.
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
        // The conflict no longer exists, because of a newer version or the loss of the zone.
        guard let record = records[name], record.isInConflict, record.known?.handle == server else { return }
        // The edit equals a version that a deletion in flight may have removed.
        let isDoubtful =
            record.isDeletionSent && !record.sent.contains { resolution == .confirmed($0.handle) }
        if case .confirmed(let sent) = resolution, !isDoubtful, let known = record.known {
            return applySaved(name, sent, known)
        }
        // The edit has been replaced since; the conflict of the newer one is resolved again.
        guard record.pending?.handle == client else { return }
        let order = nextDeliveryOrder()
        let isConfirmed = if case .confirmed = resolution { true } else { false }
        change(name) { $0.resolve(isConfirmed ? .client : resolution, on: server, order: order) }
    }

    private mutating func applyParked(_ name: String, _ reason: ParkReason) {
        let order = nextDeliveryOrder()
        change(name) { record in
            // If a version was lost with its zone, that version was sent; a pending edit is parked already,
            // or now.
            if record.pending?.parked != nil, record.lost != nil {
                record.isLostRefused = true
            } else {
                if record.pending == nil { record.queueLost() }
                record.pending?.parked = reason
                // The deletion was not done; if the record disappears now, another device has deleted it.
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
            // A record that is to be deleted is not uploaded again first.
            if record.pending?.isDeletion == true { record.lost = nil }
        }
    }

    private mutating func applyDiscarded(_ name: String) {
        let order = nextDeliveryOrder()
        change(name) { record in
            guard record.pending != nil else { return }
            // A model made by a conflict that the app has not accepted is discarded with the edit.
            let wasOnTop = record.isPendingOnTop && (record.undelivered == nil || record.isPendingNews)
            // A creation that never left is forgotten: the next upload is another one.
            if record.lastKnown == nil, record.pending?.base == nil { record.give(nil, of: nil) }
            record.pending = nil
            record.sent = []
            record.isDeletionSent = false
            // Reads showed the edit; from now on they show the cloud's latest version.
            if wasOnTop { record.deliverServerValue(order: order) }
        }
    }

    // MARK: Delivery

    private mutating func applyAccepted(_ changes: [AcceptedChange]) {
        for accepted in changes {
            change(accepted.name) { record in
                switch accepted.kind {
                case .read: record.give(accepted.seen, of: accepted.version)
                case .copy: record.copy = accepted.seen
                case .skipped:
                    if record.undelivered?.order == accepted.order { record.undelivered = nil }
                case .delivered:
                    guard let undelivered = record.undelivered, undelivered.order == accepted.order else {
                        return record.seeLate(accepted.seen, of: accepted.version)
                    }
                    // The server may have saved it again unchanged since it was handed out.
                    record.give(undelivered.seen, of: accepted.version)
                    record.undelivered = nil
                }
            }
        }
    }
}

extension KnownVersion {
    /// Whether both have the same change tag; two versions without a tag are never the same.
    package func isSameVersion(as other: KnownVersion) -> Bool {
        !changeTag.isEmpty && changeTag == other.changeTag
    }

    /// Whether this version is newer by the server's clock; false if either has no date.
    package func isNewer(than other: KnownVersion) -> Bool {
        guard let modified, let otherDate = other.modified else { return false }
        return modified > otherDate
    }
}
