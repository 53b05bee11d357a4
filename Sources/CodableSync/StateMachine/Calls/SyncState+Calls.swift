import RecordCoding

/// Applying the app's calls to the state.
extension SyncState {
    /// The entries for a change that the app makes; none for an initial model that the user has changed
    /// since.
    func entries(for change: NewChange, to key: RecordKey) -> [JournalEntry] {
        if change.isInitial, self[key]?.pending != nil { return [] }
        if change.isSeenOnly, case .save(let handle, _) = change.kind {
            return [.calls(.seen([SeenContents(key: key, handle, of: handle, kind: .copy)]))]
        }
        if let basis = change.basis {
            var edit = LocalChange(
                kind: change.kind,
                edited: change.edited,
                base: basis.handle,
                contested: basis.contested
            )
            edit.sides = basis.sides
            edit.isMerged = basis.isMerged
            return [.calls(.edited(key, type: change.recordType, edit, copy: basis.copy, given: basis.given))]
        }
        var pending = LocalChange(kind: change.kind, edited: change.edited, base: nil)
        if !change.isInitial { self[key]?.give(baseTo: &pending) }
        return [.calls(.queued(key, type: change.recordType, pending))]
    }

    /// Whether a change replaces an edit that was parked by a conflict.
    ///
    /// Reads do not show such an edit, so the new change does not include it.
    func replacesSetAside(_ change: NewChange, of key: RecordKey) -> Bool {
        guard change.kind != .delete else { return false }
        return self[key]?.replaced(byEdit: change.basis != nil) != nil
    }

    /// The event about the edit that an entry discards or replaces, and the edit's contents.
    func eventOfReplaced(_ entry: JournalEntry) -> (event: ContentsEvent, contents: ContentHandle)? {
        guard case .calls(let entry) = entry else { return nil }
        return switch entry {
        case .discarded(let key): self[key]?.pending?.handle.map { discarded(key, $0, .discarded) }
        case .queued(let key, _, let change):
            change.isDeletion ? nil : self[key]?.replaced(byEdit: false).map { discarded(key, $0, .replaced) }
        case .edited(let key, _, _, _, _):
            self[key]?.replaced(byEdit: true).map { discarded(key, $0, .replaced) }
        case .initialModelsQueued, .retried, .seen: nil
        }
    }

    private func discarded(
        _ key: RecordKey,
        _ contents: ContentHandle,
        _ reason: DiscardReason
    ) -> (event: ContentsEvent, contents: ContentHandle) {
        (.discarded(name: key.recordName, contents, reason), contents)
    }

    /// What a read has shown the app, if the state doesn't know it yet.
    func newlySeen(_ contents: GivenContents) -> SeenContents? {
        let key = key(contents.name)
        return self[key]?.newlySeen(contents, of: key)
    }
}

extension RecordState {
    /// What a read has shown the app, unless the app has seen it or newer contents since.
    func newlySeen(_ contents: GivenContents, of key: RecordKey) -> SeenContents? {
        // A lost version cannot be an ancestor.
        if lost != nil { return nil }
        guard let handle = contents.handle else {
            // The read showed the app that the record was deleted, so a later upload is based on the deletion.
            let isNews = pending == nil && known == nil && seen != nil
            return isNews ? SeenContents(key: key, nil, of: nil, kind: .read) : nil
        }
        let isKnown = known?.changeTag == contents.changeTag && contents.changeTag?.isEmpty == false
        let shown = isKnown ? known?.handle ?? handle : handle
        let version = isKnown ? shown : contents.version
        // An edit on top of what the app has seen is newer than that, even if the edit has been replaced since.
        let wasOnTop = contents.known != nil && contents.known == seen
        var after = self
        after.give(shown, of: version)
        guard after != self, wasOnTop || newer(seen, shown) == shown else { return nil }
        return SeenContents(key: key, shown, of: version, kind: .read)
    }
}

extension RecordState {
    /// Sets the base of an upload or a deletion of the whole record to what the app saw last.
    fileprivate func give(baseTo change: inout LocalChange) {
        change.base = seen
        guard let pending, pending.parked == nil || isPendingSeen else { return }
        if pending.isDeletion || isPendingSeen {
            // The change replaces a pending deletion, or an edit that the app has seen: it has the same base.
            change.base = pending.base
            if !change.isDeletion {
                change.contested = pending.contested
                change.sides = pending.sides
                change.isMerged = pending.isMerged
            }
        } else if change.isDeletion {
            // The app has not seen the edit, so it deletes the version that it has, or the base of the edit if
            // that is older. Its own copy is newer than that version, but is none of the cloud's.
            let version = copy == readableAncestor?.handle ? copy : given
            change.base = pending.base.flatMap { base in version.map { min(base, $0) } }
        }
    }

    /// The parked edit that a new edit or upload replaces without including it, since reads show the cloud's
    /// version instead.
    ///
    /// An upload includes a refused edit that the app has seen.
    fileprivate func replaced(byEdit isEdit: Bool) -> ContentHandle? {
        guard let pending, let reason = pending.parked, !isPendingOnTop else { return nil }
        return reason.isConflict || isEdit || !isPendingSeen ? pending.handle : nil
    }
}

extension JournalEntry {
    /// Whether the entry queues a change of this device.
    var isQueued: Bool { queuedKey != nil }

    /// The record of which the entry queues a change of this device.
    var queuedKey: RecordKey? {
        switch self {
        case .calls(.queued(let key, _, _)), .calls(.edited(let key, _, _, _, _)): key
        default: nil
        }
    }
}
