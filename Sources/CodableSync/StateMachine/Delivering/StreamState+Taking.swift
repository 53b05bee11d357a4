/// Choosing the element that a stream gets next.
extension StreamState {
    /// The maximum number of records in one element.
    static var maximumElement: Int { 200 }

    /// Begins at the place that all streams of `changes` had reached, or with everything that reads show.
    mutating func begin(_ state: SyncState, _ trouble: DeliveryTrouble) {
        switch (kind, state.streams.replay) {
        case (.live, _):
            replay = .reset
            for key in trouble.suspects.keys { suspects.append(key) }
        case (.changes, .reset?): replay = .reset
        case (.changes, .everything(let last)?):
            accepted = state.streams.accepted
            replayed = last
            beginReplay(afterReset: false, state)
            if let last { rest = rest.drop { $0 <= last } }
        case (.changes, nil):
            accepted = state.streams.accepted
            // That it made the very first request could not be stored.
            if !state.summary.isFollowed { beginReplay(afterReset: false, state) }
        }
    }

    /// Restarts with everything known; the loop's element is from a state that no longer exists.
    mutating func startOver(_ state: SyncState, _ trouble: DeliveryTrouble) {
        var fresh = StreamState(id: id, kind: kind)
        fresh.stage = stage
        fresh.arrived = arrived
        fresh.begin(state, trouble)
        self = fresh
    }

    private mutating func beginReplay(afterReset: Bool, _ state: SyncState) {
        rest = state.sortedKeys(of: nil)[...]
        replay = .everything(afterReset: afterReset)
    }

    /// Chooses the next element: a mark; the longest run of changes of one kind; or one suspect.
    ///
    /// - Returns: Whether there is an element.
    mutating func takeNext(_ state: SyncState, _ trouble: DeliveryTrouble) -> Bool {
        switch replay {
        case .none, .ending: break
        case .reset:
            accepted = max(accepted, state.summary.lastNumber)
            beginReplay(afterReset: true, state)
            mark = .reset
            return true
        case .everything(let afterReset):
            while let key = rest.first, add(key, state, trouble) { rest.removeFirst() }
            takeLeftOut(state, trouble)
            if !handed.isEmpty { return true }
            // Before the suspects: the others are shown even if the app dies over one of these again.
            replay = afterReset ? .ending : .none
            if afterReset {
                mark = .replayed
                return true
            }
        }
        switch kind {
        case .changes: takeNumbered(state, trouble)
        case .live: takeQueued(state, trouble)
        }
        return !handed.isEmpty
    }

    private mutating func takeNumbered(_ state: SyncState, _ trouble: DeliveryTrouble) {
        for entry in state.untold.entries(above: reached) {
            let isSuspect = trouble.suspects.contains(entry.value)
            guard !isSuspect || handed.isEmpty, add(entry.value, state, trouble) else { break }
            reached = entry.number
            if isSuspect, !handed.isEmpty { break }
        }
        takeLeftOut(state, trouble)
        // What was passed over needs no loop.
        if handed.isEmpty { accepted = max(accepted, reached) }
    }

    /// Takes what a stream of `changes` had to leave out while the disk refused to number it again.
    private mutating func takeLeftOut(_ state: SyncState, _ trouble: DeliveryTrouble) {
        guard kind == .changes, handed.isEmpty else { return }
        while handed.count < Self.maximumElement, let key = queue.first {
            queue.remove(key)
            guard let record = state[key], let shown = record.shown, !trouble.isUndecodable(key, record)
            else {
                continue
            }
            handed.append(HandedItem(DeliveryItem(key: key, kind: .updated(shown.handle)), state))
        }
    }

    private mutating func takeQueued(_ state: SyncState, _ trouble: DeliveryTrouble) {
        while let key = queue.first, add(key, state, trouble) { queue.remove(key) }
        while handed.isEmpty, let key = suspects.first {
            _ = add(key, state, trouble)
            suspects.remove(key)
        }
    }

    /// Adds a record to the element, if the stream has to tell anything about it.
    ///
    /// - Returns: Whether it need not be met again: it is in the element, or there is nothing to tell.
    private mutating func add(_ key: RecordKey, _ state: SyncState, _ trouble: DeliveryTrouble) -> Bool {
        if isPassedOver(key, state, trouble) { passedOver.append(key) }
        guard let kind = self.kind(of: key, state, trouble) else {
            if !trouble.suspects.contains(key) { view.hand(key) }
            return true
        }
        if let first = handed.first,
            handed.count == Self.maximumElement || !first.item.kind.isSameKind(as: kind)
        {
            return false
        }
        var item = HandedItem(DeliveryItem(key: key, kind: kind), state)
        item.isForeign = view.hand(key)
        handed.append(item)
        return true
    }

    /// What the stream gets of a record; `nil` if there is nothing to tell.
    private func kind(of key: RecordKey, _ state: SyncState, _ trouble: DeliveryTrouble) -> DeliveryItem.Kind?
    {
        guard case .everything(let afterReset) = replay else {
            return kind == .live ? view.kind(of: key, state) : kindOfNews(of: key, state, trouble)
        }
        if trouble.suspects.contains(key) { return nil }
        if kind == .live { return view.kind(of: key, state) }
        guard let record = state[key], record.isReplayed(afterReset: afterReset, above: accepted) else {
            return nil
        }
        return record.shown.map { .updated($0.handle) }
    }

    /// Whether a change is told to nobody, since its contents could not be decoded before, although that is not noted.
    private func isPassedOver(_ key: RecordKey, _ state: SyncState, _ trouble: DeliveryTrouble) -> Bool {
        guard kind == .changes, replay == .none, let record = state[key] else { return false }
        return record.news?.isUndecodable == false && trouble.isUndecodable(key, record)
    }

    private func kindOfNews(
        of key: RecordKey,
        _ state: SyncState,
        _ trouble: DeliveryTrouble
    ) -> DeliveryItem.Kind? {
        guard let record = state[key], let news = state.untoldNews(of: key),
            news.number > accepted || news.isUndecodable, !trouble.isUndecodable(key, record)
        else { return nil }
        guard let shown = record.shown else { return news.isSaved ? nil : .deleted }
        if !news.isSaved { return .updated(shown.handle) }
        // A newer edit will be confirmed itself.
        return record.isPendingOnTop ? nil : .saved(shown.handle)
    }
}
