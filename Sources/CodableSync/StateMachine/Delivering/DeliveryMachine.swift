import RecordCoding

/// Delivers changes to the app's streams, and accepts a change once every stream has taken it.
struct DeliveryMachine: Sendable {
    var streams: [StreamState] = []
    /// The changes suspected of crashing the app, and those that couldn't be decoded.
    var trouble: DeliveryTrouble
    /// Acceptances that could not be stored.
    var unstored: [AcceptedChange] = []
    /// Whether the last write failed of what streams hold and accept, and nothing was stored since.
    var isDiskRefusing = false
    var diskBackoff = Backoff()
    /// When that is written again.
    var storeAgainAt: Duration?
    /// Whether streams of `changes` must deliver everything again after a `.reset`.
    var mustStartOver = false
    /// Whether the state has what the former process's streams held, which is yet to be stored as suspects.
    var hasFormerElements: Bool

    init(_ context: SyncContext) {
        trouble = DeliveryTrouble(context.state)
        hasFormerElements = !context.state.held.elements.isEmpty
    }

    /// Creates the machine that continues for the app after a switch from another user.
    init(goingOnFrom former: DeliveryMachine, wasFollowed: Bool, _ context: SyncContext) {
        self.init(context)
        // The app shows the former user's records.
        mustStartOver = wasFollowed && context.state.summary.reset == nil
        for former in former.streams {
            var stream = newStream(former.id, former.kind, context.state)
            // The element that the loop holds is the former user's; the loop requests the next one when it is
            // done.
            stream.stage = former.stage == .holding ? .holding : .asking
            streams.append(stream)
        }
    }

    /// Whether every stream is waiting, so no acceptance is imminent.
    var isIdle: Bool { streams.allSatisfy { $0.stage == .asking } }

    /// Whether a stream's loop has taken all changes of records so far.
    func hasTold(_ keys: some Sequence<RecordKey>, by id: StreamID) -> Bool {
        guard let stream = streams.first(where: { $0.id == id }), stream.stage == .asking else {
            return false
        }
        return keys.allSatisfy { !stream.queue.contains($0) && !stream.suspects.contains($0) }
    }

    /// Whether the app has yet to be told that a record was deleted: by an open stream, or by the next one of `changes`.
    func isTelling(_ key: RecordKey, _ state: SyncState) -> Bool {
        guard let undelivered = state[key]?.undelivered, undelivered.kind == .deleted else { return false }
        let change = AcceptedChange(key: key, order: undelivered.order)
        return streams.isEmpty ? state.summary.isFollowed : streams.contains { $0.holdsBack(change) }
    }

    /// Drops deletions that nobody asks for: no stream of `changes` ever was, and no live stream shows the record.
    mutating func dropUnasked(_ renewed: [RecordKey], _ context: inout SyncContext) {
        if context.state.summary.isFollowed || streams.contains(where: { $0.kind == .changes }) { return }
        let unasked = renewed.filter { key in
            context.state[key]?.undelivered?.kind == .deleted
                && !streams.contains { $0.view.shows(key) || $0.view.handed.contains { $0.key == key } }
        }
        let changes = unasked.compactMap { context.state.handing(of: $0) }
        store(changes, &context)
    }

    func index(of id: StreamID) -> Int? { streams.firstIndex { $0.id == id } }

    mutating func take(_ input: DeliveryInput, _ context: inout SyncContext) {
        switch input {
        case .streamRequested(let stream, let kind): takeRequest(stream, kind, &context)
        case .streamEnded(let stream): takeEnd(stream, &context)
        case .undecodable(let stream, let changes, let isEmpty):
            takeUndecodable(stream, changes, isEmpty: isEmpty, &context)
        case .overtaken(let stream, let keys, let isEmpty):
            takeOvertaken(stream, keys, isEmpty: isEmpty, context.state)
        case .loadFailed(let stream, let keys, let isEmpty):
            takeLoadFailed(stream, keys, isEmpty: isEmpty, &context)
        // What is kept is stored as with every input about streams.
        case .storable: diskBackoff.reset()
        }
    }

    // MARK: Requests of streams

    private mutating func takeRequest(_ id: StreamID, _ kind: StreamKind, _ context: inout SyncContext) {
        guard let index = index(of: id) else { return begin(id, kind, &context) }
        // A stream that is already waiting holds no element, so it accepts nothing.
        guard streams[index].stage == .holding else { return }
        let (mark, taken) = (streams[index].mark, streams[index].handed)
        streams[index].mark = nil
        streams[index].handed = []
        streams[index].stage = .asking
        streams[index].arrived = 0
        if mark == .replayed, streams[index].replay == .ending { endReplay(ofStreamAt: index, &context) }
        let shown = streams[index].view.takeElement()
        if !taken.isEmpty || !shown.isEmpty { context.waits[.delivering].resetBackoff() }
        if streams.count > 1 {
            for change in taken { streams[index].taken[change.key] = change.order }
            for item in shown where item.order != 0 { streams[index].taken[item.key] = item.order }
        }
        accept(taken, by: id, &context)
        accept(shown, by: id, &context)
    }

    private mutating func begin(_ id: StreamID, _ kind: StreamKind, _ context: inout SyncContext) {
        // What the app had got of it may have been lost with the former loop.
        if kind == .changes, context.state.summary.reset == .begun { mustStartOver = true }
        streams.append(newStream(id, kind, context.state))
    }

    /// Creates a stream at its first request; it gets every change that has not been accepted, or everything
    /// that reads show.
    private func newStream(_ id: StreamID, _ kind: StreamKind, _ state: SyncState) -> StreamState {
        var stream = StreamState(id: id, kind: kind)
        stream.fill(state, trouble)
        return stream
    }

    /// Removes a stream that has ended, without accepting what it holds; accepts what only this stream held
    /// back.
    private mutating func takeEnd(_ id: StreamID, _ context: inout SyncContext) {
        guard let index = index(of: id) else { return }
        let ended = streams.remove(at: index)
        if ended.kind == .live, !context.state.held.keys(of: id).isEmpty {
            store([.delivering(.ended(id))], &context)
        }
        guard !streams.isEmpty else { return }
        let waiting = Array(ended.queue.keys) + Array(ended.suspects.keys)
        let open = ended.handed + waiting.compactMap { context.state.handing(of: $0) }
        let shown = ended.view.handed.compactMap { context.state.handing(of: $0.key) }
        accept(open + shown, &context)
        endReplay(&context)
    }

    // MARK: What the journal has changed

    /// Queues newly undelivered changes for every stream of `changes`.
    mutating func takeRenewed(_ renewed: [RecordKey], _ context: inout SyncContext) {
        for index in streams.indices where streams[index].kind == .changes {
            for key in renewed {
                streams[index].append(key, isSuspect: trouble.suspects.contains(key))
            }
            noteArrival(of: renewed.count, atStreamAt: index, &context)
        }
    }

    /// Queues records whose contents changed in reads for every live stream.
    mutating func takeReshown(_ reshown: [Reshown], _ context: inout SyncContext) {
        for index in streams.indices where streams[index].kind == .live {
            for one in reshown {
                streams[index].view.note(one, context.state)
                streams[index].append(one.key, isSuspect: trouble.suspects.contains(one.key))
            }
            noteArrival(of: reshown.count, atStreamAt: index, &context)
        }
    }

    /// Reports, once for each element, that a stream has stopped requesting more.
    ///
    /// Changes are counted since the stream got its element: a long queue alone is no sign of a stall.
    private mutating func noteArrival(
        of count: Int,
        atStreamAt index: Int,
        _ context: inout SyncContext
    ) {
        guard streams[index].stage == .holding else { return }
        let before = streams[index].arrived
        streams[index].arrived += count
        guard before < Self.stallingCount, streams[index].arrived >= Self.stallingCount else { return }
        context.emit(.streamStalled(waiting: streams[index].waitingCount))
    }

    /// A stream is reported as stalled if this many changes arrive while it holds an element.
    private static var stallingCount: Int { 1000 }

    /// Forgets what streams hold: the sign-out may have removed it, so it must not be accepted.
    mutating func takeSignedOut(_ state: SyncState) {
        guard state.summary.signOut == .removed else { return }
        unstored = []
        for index in streams.indices { streams[index].startOver(state, trouble) }
    }
}
