/// Replaying everything known: at the very first request, and again after a `.reset`.
extension DeliveryMachine {
    /// Marks everything known as undelivered if a stream of `changes` needs it.
    mutating func beginReplay(_ context: inout SyncContext) {
        guard !isDiskRefusing, streams.contains(where: { $0.kind == .changes }) else { return }
        if mustStartOver {
            mustStartOver = false
            context.append([.fact(.startedOver)], by: .delivering)
            for index in streams.indices where streams[index].kind == .changes {
                streams[index].startOver(context.state, trouble)
            }
        } else if !context.state.summary.isFollowed {
            context.append([.fact(.followed)], by: .delivering)
            // The streams have had what was undelivered since their first request.
            takeRenewed(context.state.renewed, &context)
            context.state.renewed = []
        }
    }

    /// Ends the replay of a stream that has accepted `.replayed`.
    mutating func endReplay(ofStreamAt index: Int, _ context: inout SyncContext) {
        streams[index].replay = .none
        if streams[index].kind == .changes { endReplay(&context) }
    }

    /// Ends the replay once every stream of `changes` has accepted all of it.
    mutating func endReplay(_ context: inout SyncContext) {
        let followers = streams.filter { $0.kind == .changes }
        guard context.state.summary.reset != nil, !followers.isEmpty, !mustStartOver,
            followers.allSatisfy({ $0.replay == .none })
        else { return }
        store([.delivering(.replayed)], &context)
    }
}

extension StreamState {
    /// Fills a new stream with the records that it has yet to get.
    mutating func fill(_ state: SyncState, _ trouble: DeliveryTrouble) {
        switch kind {
        case .changes:
            replay = state.summary.reset == nil ? .none : .reset
            fill(state.deliveryQueue.keys, trouble) { trouble.deliverable($0, state) != nil }
        case .live:
            replay = .reset
            fill(state.records.sortedKeys, trouble) { state[$0]?.shown != nil }
        }
    }

    private mutating func fill(
        _ keys: some Sequence<RecordKey>,
        _ trouble: DeliveryTrouble,
        where isNews: (RecordKey) -> Bool
    ) {
        for key in keys where !trouble.suspects.contains(key) && isNews(key) { queue.append(key) }
        for key in trouble.suspects.keys where isNews(key) { suspects.append(key) }
    }

    /// Restarts with everything known; the loop's element is from a state that no longer exists.
    mutating func startOver(_ state: SyncState, _ trouble: DeliveryTrouble) {
        var fresh = StreamState(id: id, kind: kind)
        fresh.stage = stage
        fresh.arrived = arrived
        fresh.fill(state, trouble)
        self = fresh
    }
}
