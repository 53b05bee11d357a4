import RecordCoding

/// Applying the app's calls to the state.
extension SyncState {
    /// The entry for a change that the app makes.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - key: The record.
    ///   - isTelling: Whether a stream has yet to tell the app about a deletion of the record.
    /// - Returns: The entry; `nil` for an initial model that the user has changed since.
    func entry(for change: NewChange, to key: RecordKey, isTelling: Bool) -> JournalEntry? {
        if change.isInitial, self[key]?.pending != nil { return nil }
        if let basis = change.basis {
            let edit = LocalChange(kind: change.kind, edited: change.edited, on: basis)
            return .calls(.edited(key, type: change.recordType, edit))
        }
        let basis =
            change.isInitial || change.isUnreadable ? nil : editBasis(of: change.name, isTelling: isTelling)
        var on = basis?.on ?? EditBase(nil)
        if change.kind == .delete { on = EditBase(on.version) }
        let pending = LocalChange(kind: change.kind, edited: change.edited, on: on)
        return .calls(.queued(key, type: change.recordType, pending))
    }

    /// Whether a change replaces an edit that was parked by a conflict.
    ///
    /// Reads do not show such an edit, so the new change does not include it.
    func replacesSetAside(_ change: NewChange, of key: RecordKey) -> Bool {
        guard change.kind != .delete else { return false }
        return self[key]?.setAside != nil
    }

    /// The event about the edit that an entry discards or replaces, and the edit's contents.
    func eventOfReplaced(_ entry: JournalEntry) -> (event: ContentsEvent, contents: ContentHandle)? {
        guard case .calls(let entry) = entry else { return nil }
        return switch entry {
        case .discarded(let key): self[key]?.pending?.handle.map { discarded(key, $0, .discarded) }
        case .queued(let key, _, let change):
            change.isDeletion ? nil : self[key]?.setAside.map { discarded(key, $0, .replaced) }
        case .edited(let key, _, _): self[key]?.setAside.map { discarded(key, $0, .replaced) }
        case .initialModelsQueued, .retried: nil
        }
    }

    private func discarded(
        _ key: RecordKey,
        _ contents: ContentHandle,
        _ reason: DiscardReason
    ) -> (event: ContentsEvent, contents: ContentHandle) {
        (.discarded(name: key.recordName, contents, reason), contents)
    }
}

extension RecordState {
    /// The parked edit that a new edit or upload replaces without including it, since reads show the cloud's
    /// version instead.
    fileprivate var setAside: ContentHandle? {
        pending?.parked == nil || isPendingOnTop ? nil : pending?.handle
    }
}

extension JournalEntry {
    /// The record of which the entry queues a change of this device.
    var queuedKey: RecordKey? {
        switch self {
        case .calls(.queued(let key, _, _)), .calls(.edited(let key, _, _)): key
        default: nil
        }
    }
}
