import RecordCoding

/// Delivering changes to the app's streams, and accepting a change once every stream has taken it.
extension SyncStateMachine {
    /// The maximum number of records in one element of `changes`.
    static var maximumElement: Int { 200 }
    /// A stream is reported as stalled if this many changes arrive while it holds an element.
    static var stallingCount: Int { 1000 }

    mutating func takeStreamRequested(_ id: StreamID) {
        guard let index = streams.firstIndex(where: { $0.id == id }) else {
            return streams.append(newStream(id))
        }
        // A stream that is already waiting holds no element, so it accepts nothing.
        guard streams[index].stage == .holding else { return }
        let taken = streams[index].handed
        streams[index].handed = []
        streams[index].stage = .asking
        streams[index].arrived = 0
        if !taken.isEmpty { delivering.backoff.reset() }
        if streams.count > 1 {
            for change in taken { streams[index].taken[change.name] = change.order }
        }
        accept(taken, by: id)
    }

    /// Makes a stream at its first request; it gets every change that has not been accepted.
    func newStream(_ id: StreamID) -> StreamState {
        var stream = StreamState(id: id)
        let isOpen = { (name: String) in
            guard let order = self.state[name]?.undelivered?.order else { return false }
            return self.undecodable[name] != order
        }
        for name in state.deliveryQueue.names where !suspects.contains(name) && isOpen(name) {
            stream.queue.append(name)
        }
        for name in suspects.names where isOpen(name) { stream.suspects.append(name) }
        return stream
    }

    /// Removes a stream that has ended, without accepting what it holds; accepts what only this stream held
    /// back.
    mutating func takeStreamEnded(_ id: StreamID) {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
        let ended = streams.remove(at: index)
        guard !streams.isEmpty || !configuration.keepsUndelivered else { return }
        let waiting = Array(ended.queue.names) + Array(ended.suspects.names)
        let open = ended.handed + waiting.compactMap { undelivered($0) }
        if streams.isEmpty { acceptUnseen(open) } else { accept(open) }
    }

    private func undelivered(_ name: String) -> AcceptedChange? {
        state[name]?.undelivered.map { handing($0, of: name) }
    }

    /// A change as a stream holds it, with the version that its model carries.
    private func handing(_ undelivered: Undelivered, of name: String) -> AcceptedChange {
        let seen = undelivered.seen
        let isEdit = seen != nil && seen == state[name]?.pending?.handle
        let version = isEdit ? state[name]?.pending?.base : seen == nil ? nil : undelivered.kind.handle
        return AcceptedChange(name: name, order: undelivered.order, seen: seen, of: version)
    }

    /// Accepts the changes that could be decoded and that no other live stream has yet to take.
    ///
    /// The stream that took them may have newer changes of the same records in its queue; these do not hold
    /// them back.
    private mutating func accept(_ changes: [AcceptedChange], by id: StreamID? = nil) {
        let free = changes.filter { change in
            undecodable[change.name] != change.order
                && !streams.contains { $0.id != id && $0.holdsBack(change) }
        }
        if !free.isEmpty { append([.accepted(free)], flush: false) }
    }

    /// Drops the delivery orders of accepted changes.
    mutating func forgetTaken(_ changes: [AcceptedChange]) {
        for index in streams.indices where !streams[index].taken.isEmpty {
            for change in changes {
                guard let order = streams[index].taken[change.name], order <= change.order else { continue }
                streams[index].taken[change.name] = nil
            }
        }
    }

    /// Accepts changes that no stream takes, without marking them as seen: the app may still upload an older
    /// copy.
    private mutating func acceptUnseen(_ changes: [AcceptedChange]) {
        // The result of a conflict stays undelivered until it is confirmed; otherwise it would count as the
        // app's edit.
        let free = changes.filter { change in
            undecodable[change.name] != change.order && state[change.name]?.isPendingNews != true
        }
        let skipped = free.map { change in
            var change = change
            if state[change.name]?.undelivered?.kind != .deleted { change.kind = .skipped }
            return change
        }
        if !skipped.isEmpty { append([.accepted(skipped)], flush: false) }
    }

    /// Clears the versions in elements that streams hold.
    ///
    /// A version from a lost zone can't be a common ancestor, even if its element is accepted later.
    mutating func forgetVersionsHandedOut() {
        losses += 1
        unstoredAcceptances = []
        for stream in streams.indices {
            for index in streams[stream].handed.indices {
                streams[stream].handed[index].seen = nil
                streams[stream].handed[index].version = nil
            }
        }
    }

    /// Queues changes that have become undelivered for every stream.
    mutating func passOnRenewed() {
        let renewed = state.renewed
        state.renewed = []
        guard !renewed.isEmpty else { return }
        for index in streams.indices {
            for name in renewed { streams[index].append(name, isSuspect: suspects.contains(name)) }
            noteArrival(of: renewed.count, atStreamAt: index)
        }
        if streams.isEmpty, !configuration.keepsUndelivered {
            acceptUnseen(renewed.compactMap { undelivered($0) })
        }
    }

    /// Queues changes for the streams that are undelivered again because entries were undone.
    mutating func passOnRestored() {
        var accepted = RecordTable<UInt64>()
        for change in unstoredAcceptances where change.order != 0 { accepted[change.name] = change.order }
        state.renewed = state.renewed.filter { name in
            let order = state[name]?.undelivered?.order
            return order != nil && accepted[name] != order
        }
        passOnRenewed()
        passOnUnsendable()
    }

    /// Reports, once for each element, that a stream has stopped requesting more.
    ///
    /// Changes are counted since the stream got its element: a long queue alone is no sign of a stall.
    private mutating func noteArrival(of count: Int, atStreamAt index: Int) {
        guard streams[index].stage == .holding else { return }
        let before = streams[index].arrived
        streams[index].arrived += count
        guard before < Self.stallingCount, streams[index].arrived >= Self.stallingCount else { return }
        emit(.streamStalled(waiting: streams[index].waitingCount))
    }

    /// Accepts what an earlier process left undelivered, if `keepsUndelivered` is off.
    mutating func acceptLeftovers() {
        guard mustAcceptLeftovers else { return }
        mustAcceptLeftovers = false
        acceptUnseen(state.deliveryQueue.names.compactMap { undelivered($0) })
    }

    // MARK: Handing out

    mutating func advanceDelivering() {
        guard !isWaiting(delivering) else { return }
        for index in streams.indices where streams[index].stage == .asking {
            let element = nextElement(ofStreamAt: index)
            guard !element.isEmpty else { continue }
            streams[index].handed = element
            streams[index].stage = .handing
            if !configuration.keepsUndelivered, uncommitted.isEmpty {
                deliverHanded(to: streams[index].id)
                continue
            }
            // Stored before it is handed out, so that the next opening knows which changes may have crashed
            // the app. A crash of the process loses no written data, so no flush is needed.
            let handedOut = JournalEntry.handedOut(OrderRuns(element.map(\.order)))
            append(
                configuration.keepsUndelivered ? [handedOut] : [],
                flush: false,
                then: .deliver(streams[index].id)
            )
        }
    }

    /// Delivers the chosen element, now that the journal records it as handed out.
    mutating func deliverHanded(to id: StreamID) {
        guard let index = streams.firstIndex(where: { $0.id == id && $0.stage == .handing }) else { return }
        // Changes that were renewed in the meantime are in the queue again.
        let handed = streams[index].handed.filter { state[$0.name]?.undelivered?.order == $0.order }
        let items = handed.compactMap { change in
            state[change.name]?.undelivered.map { DeliveryItem(name: change.name, kind: $0.kind) }
        }
        streams[index].handed = handed
        streams[index].stage = items.isEmpty ? .asking : .holding
        streams[index].arrived = 0
        if !items.isEmpty { actions.append(.deliver(id, items)) }
    }

    /// The longest run of changes of one kind at the front of a stream's queue, or one suspect.
    private mutating func nextElement(ofStreamAt index: Int) -> [AcceptedChange] {
        var element: [AcceptedChange] = []
        var kind: Undelivered.Kind?
        while element.count < Self.maximumElement, let name = streams[index].queue.first {
            if let undelivered = deliverable(name), streams[index].taken[name] != undelivered.order {
                if let kind, !kind.isSameKind(as: undelivered.kind) { break }
                kind = undelivered.kind
                element.append(handing(undelivered, of: name))
            }
            streams[index].queue.remove(name)
        }
        while element.isEmpty, let name = streams[index].suspects.first {
            streams[index].suspects.remove(name)
            guard let undelivered = deliverable(name) else { continue }
            element.append(handing(undelivered, of: name))
        }
        return element
    }

    /// The undelivered change of a record, unless it could not be decoded.
    private func deliverable(_ name: String) -> Undelivered? {
        guard let undelivered = state[name]?.undelivered, undecodable[name] != undelivered.order else {
            return nil
        }
        return undelivered
    }
}

extension Undelivered.Kind {
    func isSameKind(as other: Undelivered.Kind) -> Bool {
        switch (self, other) {
        case (.updated, .updated), (.saved, .saved), (.deleted, .deleted): true
        default: false
        }
    }
}
