import RecordCoding

/// Tells the app's streams what has changed.
///
/// The durable row of the streams says how far all loops over `changes` are, and is made from the streams after each
/// change of them.
struct DeliveryMachine: Sendable {
    var streams: [StreamState] = []
    /// The changes suspected of crashing the app, and those that couldn't be decoded.
    var trouble: DeliveryTrouble
    /// What loops over `changes` held that have ended: they may have thrown.
    var left: [StreamRow.Element] = []
    /// Changes that streams left out of their elements, and that must get another place in the order.
    var postponed: [RecordKey] = []
    /// How many of them the streams tell before that, since the disk refuses it.
    var queuedCount = 0
    /// Changes that could not be decoded, which is yet to be stored.
    var undecodable: [RecordKey] = []
    /// How many changes had got a number.
    var changeCount: Int
    /// Whether the row of the streams may differ from them.
    var isRowStale = false
    /// Whether suspects must come behind all other changes.
    var mustPostponeSuspects: Bool
    /// Whether some deletions in the state may already be known to every stream.
    var mustCheckDeletions = true
    /// When what streams hold and accept is written again, if its last write failed and nothing was stored since.
    var storeAgainAt: Duration?
    var diskBackoff = Backoff()

    init(_ context: SyncContext) {
        trouble = DeliveryTrouble(context.state)
        changeCount = context.state.changeCount
        mustPostponeSuspects = !trouble.suspects.isEmpty
    }

    /// Creates the machine that continues for the app after a switch from another user.
    init(goingOnFrom former: DeliveryMachine, wasFollowed: Bool, _ context: SyncContext) {
        self.init(context)
        isRowStale = true
        for former in former.streams {
            var stream = newStream(former.id, former.kind, context.state)
            // The app shows the former user's records.
            if wasFollowed, stream.kind == .changes { stream.replay = .reset }
            // The element that the loop holds is the former user's; the loop requests the next one when it is
            // done.
            stream.stage = former.stage
            streams.append(stream)
        }
    }

    /// Whether the disk has refused what streams hold and accept.
    var isDiskRefusing: Bool { storeAgainAt != nil }

    /// Whether every stream is waiting, so no acceptance is imminent.
    var isIdle: Bool { streams.allSatisfy { $0.stage == .asking } }

    /// Whether a stream's loop has taken all changes of records so far.
    func hasTold(_ keys: some Sequence<RecordKey>, by id: StreamID, _ state: SyncState) -> Bool {
        guard let stream = streams.first(where: { $0.id == id }), stream.stage == .asking,
            stream.replay == .none
        else { return false }
        return keys.allSatisfy { stream.hasTold($0, state) }
    }

    /// Whether a stream of `changes` is open.
    var hasFollowers: Bool { streams.contains { $0.kind == .changes } }

    /// Whether the app has yet to be told that a record was deleted: by an open stream, or by the next one of `changes`.
    func isTelling(_ key: RecordKey, _ state: SyncState) -> Bool {
        guard state[key]?.server.isDeletion == true else { return false }
        if streams.isEmpty { return state.untoldNews(of: key) != nil }
        return streams.contains { $0.isTelling(key, state) }
    }

    /// The number of records of which streams of `changes` have yet to tell something.
    func undeliveredCount(_ state: SyncState) -> Int {
        guard state.summary.isFollowed else { return 0 }
        let followers = streams.filter { $0.kind == .changes }
        return state.untoldCount + (followers.map { $0.restCount(state) }.max() ?? state.replayCount)
    }

    func index(of id: StreamID) -> Int? { streams.firstIndex { $0.id == id } }

    mutating func take(_ input: DeliveryInput, _ context: inout SyncContext) {
        isRowStale = true
        switch input {
        case .streamRequested(let stream, let kind): takeRequest(stream, kind, &context)
        case .streamEnded(let stream): takeEnd(stream, &context)
        case .undecodable(let stream, let changes, let isEmpty):
            takeUndecodable(stream, changes, isEmpty: isEmpty, &context)
        case .overtaken(let stream, let keys, let isEmpty):
            leaveOut(keys, of: stream, isEmpty: isEmpty, context.state)
        case .loadFailed(let stream, let keys, let isEmpty):
            if leaveOut(keys, of: stream, isEmpty: isEmpty, context.state) {
                // All streams wait, since the disk may be busy.
                context.backOff(.delivering, after: nil)
            }
        // What is kept is stored as with every input about streams.
        case .storable: diskBackoff.reset()
        }
    }

    // MARK: Requests of streams

    private mutating func takeRequest(_ id: StreamID, _ kind: StreamKind, _ context: inout SyncContext) {
        guard let index = index(of: id) else { return begin(id, kind, &context) }
        // A stream that is already waiting holds no element, so it accepts nothing.
        guard streams[index].stage == .holding else { return }
        streams[index].stage = .asking
        streams[index].arrived = 0
        let isEnd = streams[index].mark == .replayed
        let accepted = streams[index].accept()
        if isEnd, streams[index].replay == .ending { streams[index].replay = .none }
        if accepted.isEmpty { return }
        context.waits[.delivering].backoff.reset()
        clear(accepted.map(\.key))
        if streams[index].kind == .live {
            forgetDeletions(accepted.map(\.key), &context)
        } else {
            endTrouble(accepted, &context)
        }
    }

    private mutating func begin(_ id: StreamID, _ kind: StreamKind, _ context: inout SyncContext) {
        if kind == .changes { follow(&context) }
        // It begins behind what others have accepted.
        storeRow(&context)
        streams.append(newStream(id, kind, context.state))
    }

    /// Notes the very first request of a stream of `changes`.
    mutating func follow(_ context: inout SyncContext) {
        if isDiskRefusing || context.state.summary.isFollowed { return }
        context.began(.delivering)
        context.state.follow()
        mustPostponeSuspects = true
    }

    /// Creates a stream at its first request.
    private mutating func newStream(_ id: StreamID, _ kind: StreamKind, _ state: SyncState) -> StreamState {
        var stream = StreamState(id: id, kind: kind)
        stream.begin(state, trouble)
        return stream
    }

    /// Removes a stream that has ended, without accepting what it holds.
    private mutating func takeEnd(_ id: StreamID, _ context: inout SyncContext) {
        guard let index = index(of: id) else { return }
        // What it has accepted before stays so.
        storeRow(&context)
        isRowStale = true
        let ended = streams.remove(at: index)
        let keys = ended.handed.map(\.key)
        switch ended.kind {
        case .live: forgetDeletions(Array(context.state.deletionQueue.keys), &context)
        case .changes:
            clearLeft(keys)
            if !keys.isEmpty { left.append(StreamRow.Element(stream: id, keys: keys)) }
        }
    }

    /// Ends the suspicion of changes that the app has accepted without crashing.
    private mutating func clear(_ keys: [RecordKey]) {
        trouble.clear(keys)
        clearLeft(keys)
    }

    private mutating func clearLeft(_ keys: [RecordKey]) {
        if left.isEmpty { return }
        for index in left.indices { left[index].keys.removeAll(where: keys.contains) }
        left.removeAll { $0.keys.isEmpty }
    }

    // MARK: What the state has changed

    /// Queues records whose contents changed in reads for every live stream.
    mutating func takeReshown(_ reshown: [Reshown], _ context: inout SyncContext) {
        for index in streams.indices where streams[index].kind == .live {
            for one in reshown {
                streams[index].view.note(one, context.state)
                streams[index].append(one.key, isSuspect: trouble.suspects.contains(one.key))
            }
            let waiting = streams[index].queue.count + streams[index].suspects.count
            noteArrival(of: reshown.count, waiting: waiting, atStreamAt: index, &context)
        }
    }

    /// Counts changes that have got a number.
    mutating func noteNumbered(_ context: inout SyncContext) {
        let count = context.state.changeCount - changeCount
        if count == 0 { return }
        changeCount += count
        for index in streams.indices where streams[index].kind == .changes {
            let waiting = context.state.untoldCount - streams[index].handed.count { $0.number > 0 }
            noteArrival(of: count, waiting: waiting, atStreamAt: index, &context)
        }
    }

    /// Reports, once for each element, that a stream has stopped requesting more.
    ///
    /// Changes are counted since the stream got its element: a long queue alone is no sign of a stall.
    private mutating func noteArrival(
        of count: Int,
        waiting: Int,
        atStreamAt index: Int,
        _ context: inout SyncContext
    ) {
        guard streams[index].stage == .holding else { return }
        let before = streams[index].arrived
        streams[index].arrived += count
        guard before < Self.stallingCount, streams[index].arrived >= Self.stallingCount else { return }
        context.emit(.streamStalled(waiting: waiting))
    }

    /// A stream is reported as stalled if this many changes arrive while it holds an element.
    private static var stallingCount: Int { 1000 }

    /// Forgets deletions that every stream has told: those of `changes` are past them, or none ever made a request, and
    /// no live stream shows the record.
    mutating func forgetDeletions(_ keys: [RecordKey], _ context: inout SyncContext) {
        let state = context.state
        // It is yet to be stored that somebody asked.
        if hasFollowers, !state.summary.isFollowed { return mustCheckDeletions = true }
        let told = keys.filter { key in
            guard state[key]?.server.isDeletion == true, state.untoldNews(of: key) == nil else {
                return false
            }
            return !streams.contains { $0.kind == .live && $0.isTelling(key, state) }
        }
        if told.isEmpty { return }
        if isDiskRefusing {
            mustCheckDeletions = true
        } else {
            context.began(.delivering)
            for key in told { context.state.endTelling(key) }
        }
    }

    /// Forgets what streams hold: the sign-out may have removed it, so it must not be accepted.
    mutating func takeSignedOut(_ state: SyncState) {
        guard state.summary.signOut == .removed else { return }
        isRowStale = true
        (postponed, undecodable, left, queuedCount) = ([], [], [], 0)
        for index in streams.indices { streams[index].startOver(state, trouble) }
    }

    // MARK: The disk

    /// Hands out and accepts without storing it until something else could be stored, or until the next attempt.
    mutating func takeRefused(_ context: inout SyncContext) {
        storeAgainAt = context.nextTry(after: &diskBackoff)
        queuePostponed(context.state)
    }

    /// Stores again what is handed out and accepted.
    mutating func takeStored() {
        storeAgainAt = nil
    }
}
