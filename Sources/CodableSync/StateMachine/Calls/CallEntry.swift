import RecordCoding

/// Journal entries about what the app's calls changed and what its reads returned.
package enum CallEntry: Equatable, Sendable {
    /// The app uploaded or deleted a record, so it has seen these contents.
    case queued(RecordKey, type: ExactName, LocalChange)
    /// The app edited the contents that this device shows, which the app may not have seen.
    ///
    /// `copy` is what the app has now, if that changes: the edited contents, or others that are its own copy.
    /// `given` is the version that the app's model carried, if that is newer than the one it was given.
    case edited(
        RecordKey,
        type: ExactName,
        LocalChange,
        copy: ContentHandle?,
        given: ContentHandle? = nil
    )
    /// Models of a type that the app had before its first sync are queued in this batch.
    case initialModelsQueued(InitialModels)
    /// The app asked to retry a parked change.
    case retried(RecordKey)
    /// The app discarded a pending change.
    case discarded(RecordKey)
    /// The app has these contents.
    case seen([SeenContents])

    /// Whether losing it is harmless: a forgotten read at most leads to an extra call to the resolver.
    var isRepeatable: Bool {
        switch self {
        case .seen(let contents): contents.allSatisfy { $0.kind == .read }
        case .queued, .edited, .initialModelsQueued, .retried, .discarded: false
        }
    }

    /// The handles of new contents that the entry introduces.
    var introduced: [ContentHandle] {
        switch self {
        case .queued(_, _, let change): [change.handle, change.contested].compactMap { $0 }
        case .edited(_, _, let change, let copy, _):
            [
                change.handle, change.contested, change.sides.last?.ancestor,
                copy == change.handle ? nil : copy,
            ]
            .compactMap { $0 }
        case .initialModelsQueued, .retried, .discarded, .seen: []
        }
    }

    /// Every handle that the entry names.
    var named: [ContentHandle] {
        switch self {
        case .queued(_, _, let change):
            change.named
        case .edited(_, _, let change, let copy, let given):
            change.named + [copy, given].compactMap { $0 }
        case .seen(let contents): contents.flatMap { [$0.contents, $0.version].compactMap { $0 } }
        case .initialModelsQueued, .retried, .discarded: []
        }
    }
}

/// Contents that the app has from a source other than a stream.
package struct SeenContents: Equatable, Sendable, RecordKeyed {
    package enum Kind: String, Sendable {
        /// A read has returned these contents, or none.
        case read
        /// The app has these contents on top of the version that it was given.
        case copy
    }

    package var key: RecordKey
    /// The contents; `nil` if the record doesn't exist.
    package var contents: ContentHandle?
    /// The version whose system fields the app's model carries: the contents themselves, or the version below
    /// an edit.
    package var version: ContentHandle?
    package var kind: Kind

    package init(key: RecordKey, _ contents: ContentHandle?, of version: ContentHandle?, kind: Kind) {
        self.key = key
        self.contents = contents
        self.version = version
        self.kind = kind
    }
}

extension SyncState {
    mutating func apply(calls entry: CallEntry) {
        switch entry {
        case .queued(let key, let type, let pending): applyQueued(key, type, pending)
        case .edited(let key, let type, let pending, let copy, let given):
            applyEdited(key, type, pending, copy, given)
        case .initialModelsQueued(let models): changeSummary { $0.take(models) }
        case .retried(let key): applyRetried(key)
        case .discarded(let key): applyDiscarded(key)
        case .seen(let contents): for one in contents { applySeen(one) }
        }
    }

    private mutating func applyQueued(_ key: RecordKey, _ type: ExactName, _ pending: LocalChange) {
        change(key, of: type) { record in
            // The server may still save what was sent of the former change, so `sent` stays.
            record.replacePending(with: pending)
            // Undelivered changes are older than the app's own change, whose outcome is delivered instead.
            record.undelivered = nil
            if let handle = pending.handle { record.copy = handle }
        }
    }

    /// An undelivered update stays undelivered, and now shows the edited model.
    private mutating func applyEdited(
        _ key: RecordKey,
        _ type: ExactName,
        _ pending: LocalChange,
        _ copy: ContentHandle?,
        _ given: ContentHandle?
    ) {
        guard let handle = pending.handle else { return }
        let order = nextDeliveryOrder()
        change(key, of: type) { record in
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

    private mutating func applyRetried(_ key: RecordKey) {
        change(key) { record in
            record.pending?.parked = nil
            record.isLostRefused = false
            // A record that is to be deleted is not uploaded again first.
            if record.pending?.isDeletion == true, !record.isTooNew { record.lost = nil }
        }
    }

    private mutating func applyDiscarded(_ key: RecordKey) {
        let order = nextDeliveryOrder()
        change(key) { record in
            guard record.pending != nil else { return }
            // A model made by a conflict that the app has not accepted is discarded with the edit.
            let wasOnTop = record.isPendingOnTop && (record.undelivered == nil || record.isPendingNews)
            // A creation that never left is forgotten: the next upload is another one.
            if record.readable == nil, record.pending?.base == nil { record.give(nil, of: nil) }
            record.pending = nil
            record.sent = []
            record.isDeletionSent = false
            // Reads showed the edit; from now on they show the cloud's latest version.
            if wasOnTop { record.deliverServerValue(order: order) }
        }
    }

    private mutating func applySeen(_ seen: SeenContents) {
        change(seen.key) { record in
            switch seen.kind {
            case .read: record.give(seen.contents, of: seen.version)
            case .copy: record.copy = seen.contents
            }
        }
    }
}
