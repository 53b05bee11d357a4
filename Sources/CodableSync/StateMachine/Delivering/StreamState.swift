/// What a stream reports.
package enum StreamKind: Equatable, Sendable {
    /// `changes`: other devices' changes and confirmed saves, until the app accepts them.
    case changes
    /// `liveChanges`: everything that reads show, and each change of it.
    case live
}

/// An element without records.
package enum StreamMark: Equatable, Sendable {
    /// The app must forget what it shows.
    case reset
    /// Everything known was handed out since the `.reset`.
    case replayed
}

/// One of the app's loops.
///
/// A stream of `changes` is a place in the order of the changes. A live one knows what its loop shows.
struct StreamState: Sendable {
    enum Stage: Equatable, Sendable {
        /// The loop waits for an element.
        case asking
        /// The loop has an element and has not requested the next one.
        case holding
    }

    /// The stream's progress in replaying everything known.
    enum Replay: Equatable, Sendable {
        case none
        /// `.reset` comes next.
        case reset
        /// Everything that is known, and then `.replayed` if it followed a `.reset`.
        case everything(afterReset: Bool)
        /// `.replayed` is handed out.
        case ending
    }

    let id: StreamID
    let kind: StreamKind
    var stage = Stage.asking
    var replay = Replay.none
    /// The mark that the stream holds or gets next.
    var mark: StreamMark?
    /// The records of the element that the stream holds or gets next.
    var handed: [HandedItem] = []
    /// The records that the replay has yet to meet, in order.
    var rest: ArraySlice<RecordKey> = []

    // A stream of `changes`.
    /// The number up to which the loop has accepted what could be decoded.
    var accepted: UInt64 = 0
    /// The number up to which it was handed out.
    var reached: UInt64 = 0
    /// The last record of the replay that the loop has accepted.
    var replayed: RecordKey?
    /// Changes that were passed over because their contents could not be decoded before.
    var passedOver: [RecordKey] = []

    /// Records that changed since a live stream last handed them out, or that had to be left out of an element while the
    /// disk refused everything.
    var queue = RecordQueue()

    // A live stream.
    /// Records that are handed out one at a time, after all others.
    var suspects = RecordQueue()
    var view = LiveView()

    /// How many changes have arrived since the stream got its current element.
    var arrived = 0

    init(id: StreamID, kind: StreamKind = .changes) {
        self.id = id
        self.kind = kind
    }

    /// Queues a record for a live stream.
    mutating func append(_ key: RecordKey, isSuspect: Bool) {
        if isSuspect { suspects.append(key) } else { queue.append(key) }
    }

    /// Whether the loop has yet to learn that a record was deleted.
    func isTelling(_ key: RecordKey, _ state: SyncState) -> Bool {
        switch kind {
        case .changes: (state.untoldNews(of: key)?.number ?? 0) > accepted
        case .live: view.shows(key) || handed.contains { $0.key == key }
        }
    }

    /// Whether the loop has taken all changes of a record so far.
    func hasTold(_ key: RecordKey, _ state: SyncState) -> Bool {
        switch kind {
        case .changes: (state.untoldNews(of: key)?.number ?? 0) <= max(accepted, reached)
        case .live: !queue.contains(key) && !suspects.contains(key)
        }
    }

    /// The number of records that the replay has yet to meet, or that are not accepted yet.
    func restCount(_ state: SyncState) -> Int {
        let held = handed.count { $0.number == 0 }
        switch replay {
        case .none, .ending: return held
        case .reset: return state.replayCount
        case .everything(let afterReset):
            return held
                + rest.count { state[$0]?.isReplayed(afterReset: afterReset, above: accepted) == true }
        }
    }

    /// Whether nothing has changed about a record since it was handed out.
    func isCurrent(_ item: HandedItem, _ state: SyncState) -> Bool {
        if kind == .live { return view.isCurrent(item, state) }
        guard (state.untoldNews(of: item.key)?.number ?? 0) == item.number else { return false }
        return state[item.key]?.shown?.handle == item.shown?.handle
    }

    /// Takes the element that the loop is done with.
    mutating func accept() -> [HandedItem] {
        if case .everything = replay, let last = handed.last { replayed = last.key }
        accepted = max(accepted, reached)
        if kind == .live { view.take(handed) }
        mark = nil
        defer { handed = [] }
        return handed
    }

    /// Drops changes from the element; the stream asks again if nothing is left of it.
    mutating func drop(_ keys: [RecordKey], isEmpty: Bool) {
        for item in handed where keys.contains(item.key) { view.drop(item) }
        handed.removeAll { keys.contains($0.key) }
        if isEmpty, stage == .holding { stage = .asking }
    }
}
