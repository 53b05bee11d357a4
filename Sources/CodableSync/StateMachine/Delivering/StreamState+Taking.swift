/// Choosing the element that a stream gets next.
extension StreamState {
    /// The maximum number of records in one element.
    static var maximumElement: Int { 200 }

    /// Chooses the next element: a mark; the longest run of changes of one kind at the front of the queue; or
    /// one suspect.
    ///
    /// - Returns: Whether there is an element.
    mutating func takeNext(_ state: SyncState, _ trouble: DeliveryTrouble) -> Bool {
        if replay == .reset {
            replay = .records(until: queue.endPosition)
            mark = .reset
            return true
        }
        if takeRun(state, trouble) { return true }
        if case .records = replay {
            // Before the suspects: the others are shown even if the app dies over one of these again.
            replay = .ending
            mark = .replayed
            return true
        }
        return takeSuspect(state, trouble)
    }

    /// Everything that is known is handed out in one run, in which no change takes part that came later.
    private var runEnd: Int {
        if case .records(let end) = replay { end } else { queue.endPosition }
    }

    private mutating func takeRun(_ state: SyncState, _ trouble: DeliveryTrouble) -> Bool {
        let end = runEnd
        var kind: Undelivered.Kind?
        while handed.count + view.handed.count < Self.maximumElement, queue.firstPosition < end,
            let key = queue.first
        {
            if let next = self.kind(of: key, state, trouble) {
                if let kind, !kind.isSameKind(as: next) { break }
                kind = next
                hand(key, next, state)
            } else {
                skip(key)
            }
            queue.remove(key)
        }
        return kind != nil
    }

    private mutating func takeSuspect(_ state: SyncState, _ trouble: DeliveryTrouble) -> Bool {
        while let key = suspects.first {
            suspects.remove(key)
            guard let kind = kind(of: key, state, trouble) else {
                skip(key)
                continue
            }
            hand(key, kind, state)
            return true
        }
        return false
    }

    /// What the stream gets of a record; `nil` if it already has the record's current contents.
    private func kind(of key: RecordKey, _ state: SyncState, _ trouble: DeliveryTrouble) -> Undelivered.Kind?
    {
        switch kind {
        case .changes:
            guard let change = trouble.deliverable(key, state), taken[key] != change.order else {
                return nil
            }
            return change.kind
        case .live: return view.kind(of: key, state)
        }
    }

    private mutating func skip(_ key: RecordKey) {
        if kind == .live { view.skipped.append(key) }
    }

    private mutating func hand(_ key: RecordKey, _ kind: Undelivered.Kind, _ state: SyncState) {
        switch self.kind {
        case .changes: handed += [state.handing(of: key)].compactMap { $0 }
        case .live: view.hand(key, kind, state)
        }
    }
}
