import RecordCoding

/// Journal entries about what the app's calls changed.
package enum CallEntry: Equatable, Sendable {
    /// The app uploaded or deleted a record as a whole.
    case queued(RecordKey, type: ExactName, LocalChange)
    /// The app edited the contents that this device shows.
    case edited(RecordKey, type: ExactName, LocalChange)
    /// Models of a type that the app had before its first sync are queued in this turn.
    case initialModelsQueued(InitialModels)
    /// The app asked to retry a parked change.
    case retried(RecordKey)
    /// The app discarded a pending change.
    case discarded(RecordKey)
}

extension SyncState {
    mutating func apply(calls entry: CallEntry) {
        switch entry {
        case .queued(let key, let type, let pending): applyQueued(key, type, pending)
        case .edited(let key, let type, let pending): applyEdited(key, type, pending)
        case .initialModelsQueued(let models): changeSummary { $0.take(models) }
        case .retried(let key): applyRetried(key)
        case .discarded(let key): applyDiscarded(key)
        }
    }

    private mutating func applyQueued(_ key: RecordKey, _ type: ExactName, _ pending: LocalChange) {
        change(key, of: type) { record in
            // The server may still save what was sent of the former change, so `sent` stays.
            record.replacePending(with: pending)
            // What was not told is older than the app's own change, whose outcome is told instead.
            record.tellNothing()
        }
    }

    /// An update that the app does not know is still told, and now shows the edited model.
    private mutating func applyEdited(_ key: RecordKey, _ type: ExactName, _ pending: LocalChange) {
        change(key, of: type) { record in
            record.replacePending(with: pending)
            // Else the outcome of the edit is told: its confirmation, or the decision about the deletion.
            if record.server.isDeletion || record.news?.isSaved == true { record.tellNothing() }
        }
    }

    private mutating func applyRetried(_ key: RecordKey) {
        change(key) { record in
            record.pending?.parked = nil
            record.server.retryLost()
            // A record that is to be deleted is not uploaded again first.
            if record.pending?.isDeletion == true, !record.isTooNew { record.server.forgetLost() }
        }
    }

    private mutating func applyDiscarded(_ key: RecordKey) {
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
