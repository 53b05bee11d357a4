import RecordCoding

/// Handling elements that can't be delivered as they are, and contents that reads couldn't decode.
extension DeliveryMachine {
    /// The records in a stream's element that are outdated: during decoding, the app changed the record or a
    /// newer version arrived.
    func overtaken(in id: StreamID, _ state: SyncState) -> [RecordKey] {
        guard let stream = streams.first(where: { $0.id == id }) else { return [] }
        return stream.handed.filter { state[$0.key]?.undelivered?.order != $0.order }.map(\.key)
            + stream.view.handed.filter { !stream.view.isCurrent($0, state) }.map(\.key)
    }

    /// Drops outdated changes; anything newer to deliver is in the stream's queue.
    mutating func takeOvertaken(_ id: StreamID, _ keys: [RecordKey], isEmpty: Bool, _ state: SyncState) {
        guard let index = index(of: id) else { return }
        // What has replaced them may not have been stored.
        let outdated = overtaken(in: id, state)
        for key in keys where !outdated.contains(key) {
            streams[index].append(key, isSuspect: trouble.suspects.contains(key))
        }
        streams[index].drop(keys, isEmpty: isEmpty)
    }

    /// Keeps changes that could not be decoded; they are tried again at the next opening.
    mutating func takeUndecodable(
        _ id: StreamID,
        _ changes: [UndecodableChange],
        isEmpty: Bool,
        _ context: inout SyncContext
    ) {
        guard let index = index(of: id) else { return }
        for change in changes {
            let handed = streams[index].handed.first { $0.key == change.key }
            // If it is not open, a newer change is in the queue, and this one's contents may no longer be on
            // disk.
            if let handed, context.state.isOpen(handed) {
                trouble.note(change, order: handed.order, &context)
            }
            takeUndecodableShown(change, ofStreamAt: index, &context)
        }
        streams[index].drop(changes.map(\.key), isEmpty: isEmpty)
    }

    /// Removes the record from what the loop shows, since reads don't show it either.
    private mutating func takeUndecodableShown(
        _ change: UndecodableChange,
        ofStreamAt index: Int,
        _ context: inout SyncContext
    ) {
        guard let item = streams[index].view.handed.first(where: { $0.key == change.key }),
            let shown = item.shown
        else { return }
        let version = ReadVersion(name: change.name, handle: shown.handle, reason: change.reason)
        trouble.report(version, of: change.key, &context)
        if streams[index].view.noteUndecodable(change.key, shown) {
            streams[index].append(change.key, isSuspect: trouble.suspects.contains(change.key))
        }
    }

    /// Retries changes that can't be loaded right now, after a delay for all streams.
    mutating func takeLoadFailed(
        _ id: StreamID,
        _ keys: [RecordKey],
        isEmpty: Bool,
        _ context: inout SyncContext
    ) {
        guard let index = index(of: id) else { return }
        for key in keys { streams[index].append(key, isSuspect: trouble.suspects.contains(key)) }
        streams[index].drop(keys, isEmpty: isEmpty)
        context.backOff(.delivering, after: nil)
    }

    /// Reports a version that a read could not decode.
    ///
    /// - Returns: Whether to look the record up, since its stored copy is unreadable.
    mutating func takeDecodeFailed(
        _ version: ReadVersion,
        of key: RecordKey,
        _ inFlight: InFlight,
        _ context: inout SyncContext
    ) -> Bool {
        trouble.report(version, of: key, &context)
        guard version.isLost, !inFlight.contains(key) else { return false }
        return trouble.beginLookUp(of: key, version, context.state)
    }

    /// Whether to look up a record because the stored copy of its version cannot be read: once for each version.
    mutating func looksUpCopy(of key: RecordKey, _ reason: String, _ state: SyncState) -> Bool {
        guard let known = state[key]?.known else { return false }
        let version = ReadVersion(name: key.recordName, handle: known.handle, reason: reason, isLost: true)
        return trouble.beginLookUp(of: key, version, state)
    }

    /// The records found undecodable since the engine opened and unchanged since.
    ///
    /// Complexity: O(n log n) in the number of undecodable records.
    func undecodableNames(_ state: SyncState) -> [String] { trouble.undecodableNames(state) }
}
