import RecordCoding

/// Handling elements that can't be delivered as they are, and contents that reads couldn't decode.
extension DeliveryMachine {
    /// The records in a stream's element that are outdated: during decoding, the app changed the record or a
    /// newer version arrived.
    func overtaken(in id: StreamID, _ state: SyncState) -> [RecordKey] {
        guard let stream = streams.first(where: { $0.id == id }) else { return [] }
        return stream.handed.filter { !stream.isCurrent($0, state) }.map(\.key)
    }

    /// Drops changes from a stream's element that are outdated or can't be loaded right now; the stream tells them
    /// again.
    ///
    /// - Returns: Whether the stream is still open.
    @discardableResult
    mutating func leaveOut(
        _ keys: [RecordKey],
        of id: StreamID,
        isEmpty: Bool,
        _ state: SyncState
    ) -> Bool {
        guard let index = index(of: id) else { return false }
        for key in keys { tellAgain(key, atStreamAt: index, state) }
        streams[index].drop(keys, isEmpty: isEmpty)
        return true
    }

    /// Has a stream tell what it left out of its element, unless a newer change of the record is ahead of it.
    private mutating func tellAgain(_ key: RecordKey, atStreamAt index: Int, _ state: SyncState) {
        let stream = streams[index]
        if stream.kind == .live {
            return streams[index].append(key, isSuspect: trouble.suspects.contains(key))
        }
        if let news = state.untoldNews(of: key), news.number > max(stream.accepted, stream.reached) { return }
        guard state.untoldNews(of: key) != nil || stream.replay != .none else { return }
        postponed.append(key)
        if isDiskRefusing { queuePostponed(state) }
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
            guard let item = streams[index].handed.first(where: { $0.key == change.key }) else { continue }
            if streams[index].kind == .live {
                takeUndecodableShown(change, item, ofStreamAt: index, &context)
            } else if let shown = item.shown, streams[index].isCurrent(item, context.state) {
                trouble.note(change, shown, &context)
                undecodable.append(change.key)
            } else {
                // The contents of this one may no longer be on disk.
                tellAgain(change.key, atStreamAt: index, context.state)
            }
        }
        streams[index].drop(changes.map(\.key), isEmpty: isEmpty)
    }

    /// Removes the record from what the loop shows, since reads don't show it either.
    private mutating func takeUndecodableShown(
        _ change: UndecodableChange,
        _ item: HandedItem,
        ofStreamAt index: Int,
        _ context: inout SyncContext
    ) {
        guard let shown = item.shown else { return }
        let version = ReadVersion(name: change.name, handle: shown.handle, reason: change.reason)
        trouble.report(version, of: change.key, &context)
        if streams[index].view.noteUndecodable(change.key, shown) {
            streams[index].append(change.key, isSuspect: trouble.suspects.contains(change.key))
        }
    }

    /// Ends that accepted changes count as undecodable.
    mutating func endTrouble(_ accepted: [HandedItem], _ context: inout SyncContext) {
        let keys = accepted.filter { item in
            guard let news = context.state.untoldNews(of: item.key), news.isUndecodable else { return false }
            return news.number == item.number
        }.map(\.key)
        // Another stream tells them in their new places.
        if streams.count(where: { $0.kind == .changes }) > 1 { return postponed += keys }
        if keys.isEmpty || isDiskRefusing { return }
        for key in keys { context.state.endTelling(key) }
    }

    /// Lets streams tell what they left out although it cannot be numbered, once.
    mutating func queuePostponed(_ state: SyncState) {
        for key in postponed[queuedCount...] where !trouble.suspects.contains(key) {
            let number = state.untoldNews(of: key)?.number ?? 0
            for index in streams.indices where streams[index].kind == .changes {
                if number <= max(streams[index].accepted, streams[index].reached) {
                    streams[index].queue.append(key)
                }
            }
        }
        queuedCount = postponed.count
    }

    /// Lets suspects come alone, behind all others.
    private mutating func postponeSuspects(_ state: SyncState) {
        let followers = streams.filter { $0.kind == .changes }
        guard mustPostponeSuspects, !followers.isEmpty else { return }
        mustPostponeSuspects = false
        let isReplayed = followers.contains { $0.replay != .none }
        postponed += trouble.suspects.keys.filter { isReplayed || state.untoldNews(of: $0) != nil }
    }

    /// Stores what streams left out of their elements, before they are past it.
    mutating func storeTrouble(_ context: inout SyncContext) {
        postponeSuspects(context.state)
        if isDiskRefusing || context.state.isFrozen { return }
        if !postponed.isEmpty || !undecodable.isEmpty { context.began(.delivering) }
        for key in postponed { context.state.renew(key) }
        for key in undecodable { context.state.markUndecodable(key) }
        (postponed, undecodable, queuedCount) = ([], [], 0)
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
}
