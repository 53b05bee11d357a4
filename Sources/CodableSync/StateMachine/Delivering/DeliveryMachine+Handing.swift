import RecordCoding

/// Handing out elements, and storing what streams hold and accept.
extension DeliveryMachine {
    mutating func advance(_ context: inout SyncContext) {
        noteNumbered(&context)
        beginFollowing(&context)
        storeTrouble(&context)
        if mustCheckDeletions, !isDiskRefusing {
            mustCheckDeletions = false
            forgetDeletions(Array(context.state.deletionQueue.keys), &context)
        }
        if !context.isWaiting(.delivering) {
            for index in streams.indices where streams[index].stage == .asking {
                if streams[index].takeNext(context.state, trouble) { deliver(toStreamAt: index, &context) }
                undecodable += streams[index].passedOver
                streams[index].passedOver = []
            }
        }
        storeRow(&context)
    }

    /// Begins what the very first request of a stream of `changes` could not store.
    private mutating func beginFollowing(_ context: inout SyncContext) {
        guard hasFollowers, !context.state.summary.isFollowed else { return }
        follow(&context)
        guard context.state.summary.isFollowed else { return }
        // What the streams have told since may be deleted.
        postponed += context.state.deletionQueue.keys
        for index in streams.indices where streams[index].kind == .changes && streams[index].replay != .reset
        {
            streams[index].startOver(context.state, trouble)
        }
    }

    /// Delivers the chosen element.
    private mutating func deliver(toStreamAt index: Int, _ context: inout SyncContext) {
        isRowStale = true
        streams[index].arrived = 0
        streams[index].stage = .holding
        let stream = streams[index]
        if stream.kind == .changes, stream.mark == .reset { mustPostponeSuspects = true }
        context.actions.append(
            stream.mark.map { .mark(stream.id, $0) } ?? .deliver(stream.id, stream.handed.map(\.item))
        )
    }

    /// Stores how far the streams are, and which records they hold, so that the next opening knows which of them may
    /// have crashed the app.
    ///
    /// A crash of the process loses no written data, so no flush is needed.
    /// A full disk does not stop deliveries.
    mutating func storeRow(_ context: inout SyncContext) {
        storeTrouble(&context)
        guard isRowStale, !isDiskRefusing, !context.state.isFrozen else { return }
        isRowStale = false
        if streams.isEmpty, left.isEmpty, context.state.streams.elements.isEmpty { return }
        let row = row(context.state)
        if row == context.state.streams { return }
        context.began(.delivering)
        context.state.changeStreams { $0 = row }
    }

    private func row(_ state: SyncState) -> StreamRow {
        var row = state.streams
        let followers = streams.filter { $0.kind == .changes }
        if let least = followers.map(\.accepted).min() {
            row.accepted = max(row.accepted, least)
            row.replay = Self.replay(of: followers)
        }
        row.elements = left
        for stream in streams where !stream.handed.isEmpty {
            row.elements.append(StreamRow.Element(stream: stream.id, keys: stream.handed.map(\.key)))
        }
        row.suspects = trouble.suspects.keys.filter { state[$0] != nil }
        return row
    }

    /// What a later stream begins with.
    private static func replay(of followers: [StreamState]) -> StreamRow.Replay? {
        var places: [RecordKey?] = []
        for stream in followers {
            switch stream.replay {
            case .none: break
            case .everything(afterReset: false): places.append(stream.replayed)
            case .reset, .everything, .ending: return .reset
            }
        }
        if places.isEmpty { return nil }
        return .everything(after: places.contains(nil) ? nil : places.compactMap { $0 }.min())
    }
}
