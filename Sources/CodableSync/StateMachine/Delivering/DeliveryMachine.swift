import RecordCoding

/// Delivering changes to the app's streams, and accepting a change once every stream has taken it.
struct DeliveryMachine: Sendable {
    /// A stream is reported as stalled if this many changes arrive while it holds an element.
    private static var stallingCount: Int { 1000 }

    private(set) var streams: [StreamState] = []
    /// The generation of reads: it ends when versions are lost or batches undone, and what a read of an earlier
    /// generation returned cannot be an ancestor.
    private(set) var readGeneration = 0
    var lane = Lane(retry: .deliverRetry)
    /// What is suspected of crashing the app, or could not be decoded.
    private var trouble: DeliveryTrouble
    /// Acceptances that could not be stored.
    private var unstored: [AcceptedChange] = []
    /// Whether to accept, once, the changes that an earlier process left undelivered.
    private var mustAcceptLeftovers: Bool

    init(_ context: SyncContext) {
        trouble = DeliveryTrouble(context.state)
        mustAcceptLeftovers = !context.configuration.keepsUndelivered
    }

    /// Makes the machine that continues for the app after a switch from another user.
    init(goingOnFrom former: DeliveryMachine, _ context: SyncContext) {
        self.init(context)
        for former in former.streams {
            var stream = newStream(former.id, context.state)
            // The element that the loop holds is the former user's; the loop requests the next one when it is
            // done.
            stream.stage = former.stage == .holding ? .holding : .asking
            streams.append(stream)
        }
    }

    /// Whether every stream is waiting, so that no acceptance is about to come.
    var isIdle: Bool { streams.allSatisfy { $0.stage == .asking } }

    mutating func take(_ input: DeliveryInput, _ context: inout SyncContext) {
        switch input {
        case .streamRequested(let stream): takeRequest(stream, &context)
        case .streamEnded(let stream): takeEnd(stream, &context)
        case .undecodable(let stream, let changes, let isEmpty):
            takeUndecodable(stream, changes, isEmpty: isEmpty, &context)
        case .overtaken(let stream, let keys, let isEmpty):
            takeOvertaken(stream, keys, isEmpty: isEmpty)
        case .loadFailed(let stream, let keys, let isEmpty):
            takeLoadFailed(stream, keys, isEmpty: isEmpty, &context)
        }
    }

    // MARK: Requests of streams

    private mutating func takeRequest(_ id: StreamID, _ context: inout SyncContext) {
        guard let index = index(of: id) else { return streams.append(newStream(id, context.state)) }
        // A stream that is already waiting holds no element, so it accepts nothing.
        guard streams[index].stage == .holding else { return }
        let taken = streams[index].handed
        streams[index].handed = []
        streams[index].stage = .asking
        streams[index].arrived = 0
        if !taken.isEmpty { lane.resetBackoff() }
        if streams.count > 1 {
            for change in taken { streams[index].taken[change.key] = change.order }
        }
        accept(taken, by: id, &context)
    }

    private func index(of id: StreamID) -> Int? { streams.firstIndex { $0.id == id } }

    /// Makes a stream at its first request; it gets every change that has not been accepted.
    private func newStream(_ id: StreamID, _ state: SyncState) -> StreamState {
        var stream = StreamState(id: id)
        let isOpen = { (key: RecordKey) in trouble.deliverable(key, state) != nil }
        for key in state.deliveryQueue.keys where !trouble.suspects.contains(key) && isOpen(key) {
            stream.append(key, isSuspect: false)
        }
        for key in trouble.suspects.keys where isOpen(key) { stream.append(key, isSuspect: true) }
        return stream
    }

    /// Removes a stream that has ended, without accepting what it holds; accepts what only this stream held
    /// back.
    private mutating func takeEnd(_ id: StreamID, _ context: inout SyncContext) {
        guard let index = index(of: id) else { return }
        let ended = streams.remove(at: index)
        guard !streams.isEmpty || !context.configuration.keepsUndelivered else { return }
        let waiting = Array(ended.queue.keys) + Array(ended.suspects.keys)
        let open = ended.handed + waiting.compactMap { context.state.handing(of: $0) }
        if streams.isEmpty { acceptUnseen(open, &context) } else { accept(open, &context) }
    }

    // MARK: Accepting

    /// Accepts the changes that could be decoded and that no other live stream has yet to take.
    ///
    /// The stream that took them may have newer changes of the same records in its queue; these do not hold
    /// them back.
    private func accept(
        _ changes: [AcceptedChange],
        by id: StreamID? = nil,
        _ context: inout SyncContext
    ) {
        let free = changes.filter { change in
            !trouble.isUndecodable(change) && !streams.contains { $0.id != id && $0.holdsBack(change) }
        }
        if !free.isEmpty { context.append([.delivering(.accepted(free))]) }
    }

    /// Accepts changes that no stream takes, without marking them as seen: the app may still upload an older
    /// copy.
    private func acceptUnseen(_ changes: [AcceptedChange], _ context: inout SyncContext) {
        // The result of a conflict stays undelivered until it is confirmed; otherwise it would count as the
        // app's edit.
        let free = changes.filter { change in
            !trouble.isUndecodable(change) && context.state[change.key]?.isPendingNews != true
        }
        let skipped = free.map { change in
            var change = change
            if context.state[change.key]?.undelivered?.kind != .deleted { change.isSkipped = true }
            return change
        }
        if !skipped.isEmpty { context.append([.delivering(.accepted(skipped))]) }
    }

    /// Accepts what an earlier process left undelivered, if `keepsUndelivered` is off.
    mutating func acceptLeftovers(_ context: inout SyncContext) {
        guard mustAcceptLeftovers else { return }
        mustAcceptLeftovers = false
        acceptUnseen(context.state.deliveryQueue.keys.compactMap { context.state.handing(of: $0) }, &context)
    }

    /// Clears the suspicion of changes that the app has accepted without crashing, and drops their delivery
    /// orders.
    mutating func takeAccepted(_ changes: [AcceptedChange]) {
        trouble.clear(changes)
        for index in streams.indices { streams[index].forgetTaken(changes) }
    }

    /// Keeps acceptances that could not be stored, to store them later.
    mutating func keepUnstored(_ entries: [JournalEntry], _ state: SyncState) {
        for case .delivering(.accepted(let changes)) in entries {
            unstored += changes.filter { state.isOpen($0) }
        }
    }

    /// Stores acceptances that could not be stored before.
    mutating func acceptAgain(_ context: inout SyncContext) {
        if unstored.isEmpty { return }
        let changes = unstored.filter { context.state.isOpen($0) }
        unstored = []
        if !changes.isEmpty { context.append([.delivering(.accepted(changes))]) }
    }

    // MARK: What the journal has changed

    /// Queues changes that have become undelivered for every stream.
    mutating func takeRenewed(_ renewed: [RecordKey], _ context: inout SyncContext) {
        for index in streams.indices {
            for key in renewed {
                streams[index].append(key, isSuspect: trouble.suspects.contains(key))
            }
            noteArrival(of: renewed.count, atStreamAt: index, &context)
        }
        if streams.isEmpty, !context.configuration.keepsUndelivered {
            acceptUnseen(renewed.compactMap { context.state.handing(of: $0) }, &context)
        }
    }

    /// Keeps the acceptances among refused entries, and leaves their changes out of what is queued for the
    /// streams again.
    mutating func takeUndone(_ refused: [UncommittedBatch], _ context: inout SyncContext) {
        // A read may have returned contents that no longer exist.
        readGeneration += 1
        for batch in refused { keepUnstored(batch.entries, context.state) }
        var accepted = RecordTable<UInt64>()
        for change in unstored { accepted[change.key] = change.order }
        let state = context.state
        context.state.renewed = state.renewed.filter { key in
            let order = state[key]?.undelivered?.order
            return order != nil && accepted[key] != order
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

    /// Adjusts elements that streams hold to entries that are stored now.
    mutating func takeCommitted(_ batch: UncommittedBatch, _ context: inout SyncContext) {
        for one in batch.repointed {
            for index in streams.indices {
                streams[index].repoint(one.key, from: one.former, to: one.handle)
            }
        }
        // Includes elements that were handed out while the entry was being stored.
        for entry in batch.entries where entry.takesVersionsAway { forgetVersions() }
        // An empty batch succeeds even on a full disk, which would then refuse the acceptances again and
        // again.
        if !batch.entries.isEmpty { acceptAgain(&context) }
    }

    /// Clears the versions in elements that streams hold.
    ///
    /// A version from a lost zone can't be a common ancestor, even if its element is accepted later.
    mutating func forgetVersions() {
        readGeneration += 1
        unstored = []
        for index in streams.indices { streams[index].forgetVersions() }
    }

    /// Forgets what streams and readers hold: the sign-out may have removed it, so it must not be accepted or
    /// be an ancestor.
    mutating func takeSignedOut(_ state: SyncState) {
        guard state.summary.signOut == .removed else { return }
        readGeneration += 1
        unstored = []
        for index in streams.indices { streams[index].handed = [] }
    }

    // MARK: Handing out

    mutating func advance(_ context: inout SyncContext) {
        guard !lane.isWaiting(at: context.now) else { return }
        for index in streams.indices where streams[index].stage == .asking {
            let element = streams[index].takeNext(context.state, trouble)
            guard !element.isEmpty else { continue }
            streams[index].handed = element
            streams[index].stage = .handing
            let isKept = context.configuration.keepsUndelivered
            if !isKept, context.journal.uncommitted.isEmpty {
                deliver(to: streams[index].id, &context)
                continue
            }
            // Stored before it is handed out, so that the next opening knows which changes may have crashed
            // the app. A crash of the process loses no written data, so no flush is needed.
            let handedOut = JournalEntry.delivering(.handedOut(OrderRuns(element.map(\.order))))
            context.append(isKept ? [handedOut] : [], then: .deliver(streams[index].id))
        }
    }

    /// Delivers the chosen element, now that the journal records it as handed out.
    ///
    /// Also called if that could not be stored: a full disk does not stop deliveries.
    mutating func deliver(to id: StreamID, _ context: inout SyncContext) {
        guard let index = index(of: id), streams[index].stage == .handing else { return }
        let state = context.state
        // Changes that were renewed in the meantime are in the queue again.
        let handed = streams[index].handed.filter { state.isOpen($0) }
        let items = handed.compactMap { change in
            state[change.key]?.undelivered.map { DeliveryItem(key: change.key, kind: $0.kind) }
        }
        streams[index].handed = handed
        streams[index].stage = items.isEmpty ? .asking : .holding
        streams[index].arrived = 0
        if !items.isEmpty { context.actions.append(.deliver(id, items)) }
    }

    // MARK: Elements that cannot be delivered as they are

    /// The records in a stream's element that are outdated: during decoding, the app changed the record or a
    /// newer version arrived.
    func overtaken(in id: StreamID, _ state: SyncState) -> [RecordKey] {
        guard let index = index(of: id) else { return [] }
        return streams[index].handed.filter { state[$0.key]?.undelivered?.order != $0.order }.map(\.key)
    }

    /// Drops outdated changes; anything newer to deliver is in the stream's queue.
    private mutating func takeOvertaken(_ id: StreamID, _ keys: [RecordKey], isEmpty: Bool) {
        guard let index = index(of: id) else { return }
        streams[index].drop(keys, isEmpty: isEmpty)
    }

    /// Keeps changes that could not be decoded; they are tried again at the next opening.
    private mutating func takeUndecodable(
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
            guard let handed, context.state.isOpen(handed) else { continue }
            trouble.note(change, order: handed.order, &context)
        }
        streams[index].drop(changes.map(\.key), isEmpty: isEmpty)
    }

    /// Retries changes that cannot be loaded at the moment after a wait; the stream continues with the others.
    private mutating func takeLoadFailed(
        _ id: StreamID,
        _ keys: [RecordKey],
        isEmpty: Bool,
        _ context: inout SyncContext
    ) {
        guard let index = index(of: id) else { return }
        for key in keys { streams[index].append(key, isSuspect: trouble.suspects.contains(key)) }
        streams[index].drop(keys, isEmpty: isEmpty)
        lane.backOff(after: nil, &context)
    }

    // MARK: What reads could not decode

    /// Reports versions that a read could not decode, and looks records up whose stored copies are
    /// unreadable.
    ///
    /// - Returns: The entries for the look-ups.
    mutating func takeDecodeFailed(
        _ version: ReadVersion,
        of key: RecordKey,
        _ inFlight: InFlight,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        trouble.report(version, of: key, &context)
        guard version.isLost, !inFlight.contains(key),
            trouble.beginLookUp(of: key, version, context.state)
        else { return [] }
        return context.lookUpDurably(key)
    }

    /// The records that were found undecodable since the engine was opened and have not changed since.
    ///
    /// Complexity: O(n log n) in the number of undecodable records.
    func undecodableNames(_ state: SyncState) -> [String] { trouble.undecodableNames(state) }
}
