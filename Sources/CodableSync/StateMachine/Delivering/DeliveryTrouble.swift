/// The changes suspected of crashing the app, and the contents that couldn't be decoded since the engine
/// opened.
struct DeliveryTrouble: Sendable {
    /// Records that the previous process held when it ended, and earlier suspects; those handed out alone are last.
    private(set) var suspects = RecordQueue()
    /// Contents of changes that could not be decoded.
    private var undecodable = RecordTable<ShownVersion>()
    /// Cloud versions that a read could not decode.
    private var decodeFailed = RecordTable<ContentHandle>()
    /// Change tags of versions that were looked up because their stored copies are unreadable.
    private var lookedUp = RecordTable<String>()

    /// Finds the records that the previous process held when it ended.
    init(_ state: SyncState) {
        for key in state.streams.allSuspects where state[key] != nil { suspects.append(key) }
    }

    /// Clears the suspicion of changes that the app has accepted without crashing.
    mutating func clear(_ accepted: [RecordKey]) {
        if suspects.isEmpty { return }
        for key in accepted { suspects.remove(key) }
    }

    /// Whether what reads show of a record could not be decoded for a stream of `changes`.
    func isUndecodable(_ key: RecordKey, _ record: RecordState) -> Bool {
        undecodable[key].map { $0 == record.shown } ?? false
    }

    /// Notes and reports a change that could not be decoded.
    mutating func note(_ change: UndecodableChange, _ shown: ShownVersion, _ context: inout SyncContext) {
        if undecodable[change.key] == shown { return }
        undecodable[change.key] = shown
        // A read has already reported it.
        if decodeFailed[change.key] == shown.handle { return }
        context.emit(.undecodable(recordName: change.name, reason: change.reason))
    }

    /// Reports once that the cloud's version of a record cannot be decoded, even if no stream gets it.
    ///
    /// An edit that cannot be decoded is handled when it is sent; one whose contents are lost is reported at
    /// once.
    mutating func report(_ version: ReadVersion, of key: RecordKey, _ context: inout SyncContext) {
        guard let record = context.state[key],
            version.isLost
                ? record.holds(version.handle)
                : [record.known?.handle, record.readable?.handle].contains(version.handle),
            decodeFailed[key] != version.handle
        else { return }
        decodeFailed[key] = version.handle
        // The machine reported that it is too new when it arrived.
        if record.isTooNew, record.known?.handle == version.handle { return }
        if isUndecodable(key, record) { return }
        if version.isLost, let known = record.known, lookedUp[key] == known.changeTag { return }
        context.emit(.undecodable(recordName: version.name, reason: version.reason))
    }

    /// Notes the look-up that replaces an unreadable copy, once for each version.
    ///
    /// - Returns: Whether the record must be looked up.
    mutating func beginLookUp(of key: RecordKey, _ version: ReadVersion, _ state: SyncState) -> Bool {
        guard let known = state[key]?.known, known.handle == version.handle,
            lookedUp[key] != known.changeTag
        else { return false }
        lookedUp[key] = known.changeTag
        return true
    }

    /// The records that are too new for this app, or were found undecodable and have not changed since.
    ///
    /// Complexity: O(n log n) in the number of undecodable records.
    func undecodableNames(_ state: SyncState) -> [String] {
        var keys = RecordTable<Bool>()
        for key in undecodable.sortedKeys {
            if let record = state[key], isUndecodable(key, record) { keys[key] = true }
        }
        for key in decodeFailed.sortedKeys {
            guard let handle = decodeFailed[key], state[key]?.holds(handle) == true else { continue }
            keys[key] = true
        }
        for key in state.tooNewQueue.keys { keys[key] = true }
        return keys.sortedKeys.map(\.recordName)
    }
}
