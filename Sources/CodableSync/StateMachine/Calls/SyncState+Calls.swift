import RecordCoding

/// What the app's calls change.
extension SyncState {
    /// Queues a change that the app makes.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - key: The record.
    ///   - isTelling: Whether a stream has yet to tell the app about a deletion of the record.
    mutating func queue(_ change: NewChange, of key: RecordKey, isTelling: Bool) {
        var queued = LocalChange(kind: change.kind, edited: change.edited, base: nil)
        queued.hash = change.hash
        if let basis = change.basis {
            queued.on = basis
            return edit(key, of: change.recordType, queued)
        }
        let basis =
            change.isInitial || change.isUnreadable ? nil : editBasis(of: change.name, isTelling: isTelling)
        queued.on = basis?.on ?? EditBase(nil)
        if change.kind == .delete { queued.on = EditBase(queued.on.version) }
        queue(key, of: change.recordType, queued)
    }

    /// Queues an upload or a deletion of a record as a whole.
    package mutating func queue(_ key: RecordKey, of type: ExactName, _ pending: LocalChange) {
        promise()
        change(key, of: type) { record in
            // The server may still save what was sent of the former change, so `sent` stays.
            record.replacePending(with: pending)
            // What was not told is older than the app's own change, whose outcome is told instead.
            record.tellNothing()
        }
    }

    /// Queues an edit of the contents that this device shows.
    ///
    /// An update that the app does not know is still told, and now shows the edited model.
    package mutating func edit(_ key: RecordKey, of type: ExactName, _ pending: LocalChange) {
        promise()
        change(key, of: type) { record in
            record.replacePending(with: pending)
            // Else the outcome of the edit is told: its confirmation, or the decision about the deletion.
            if record.server.isDeletion || record.news?.isSaved == true { record.tellNothing() }
        }
    }

    /// Notes that models of a type that the app had before its first sync are queued in this turn.
    mutating func noteQueued(_ models: InitialModels) {
        promise()
        changeSummary { $0.take(models) }
    }

    /// Lets a parked change be tried again.
    package mutating func retry(_ key: RecordKey) {
        promise()
        change(key) { record in
            record.pending?.parked = nil
            record.server.retryLost()
            // A record that is to be deleted is not uploaded again first.
            if record.pending?.isDeletion == true, !record.isTooNew { record.server.forgetLost() }
        }
    }

    /// Discards a pending change.
    package mutating func discard(_ key: RecordKey) {
        promise()
        let news = nextNews()
        change(key) { record in
            guard record.pending != nil else { return }
            let wasOnTop = record.isPendingOnTop
            let base = record.pending?.base
            record.pending = nil
            record.sent = []
            record.isDeletionSent = false
            // Refused while the edit was parked: without it, the next refusal parks the lost version.
            record.server.retryLost()
            // Reads showed the edit; from now on they show the cloud's latest version.
            if wasOnTop { record.tellServerValue(news, over: base) }
        }
    }
}

extension RecordState {
    /// The parked edit that a new edit or upload replaces without including it, since reads show the cloud's
    /// version instead.
    var setAside: ContentHandle? {
        pending?.parked == nil || isPendingOnTop ? nil : pending?.handle
    }
}
