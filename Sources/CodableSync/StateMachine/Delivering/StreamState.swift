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
struct StreamState: Equatable, Sendable {
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
        /// The records in the queue up to this position, and then `.replayed`.
        case records(until: Int)
        /// `.replayed` is handed out.
        case ending
    }

    let id: StreamID
    let kind: StreamKind
    var stage = Stage.asking
    var replay = Replay.none
    /// The mark that the stream holds or gets next.
    var mark: StreamMark?
    /// Records with changes that the stream has yet to get.
    var queue = RecordQueue()
    /// Records whose changes are handed out one at a time, after all others.
    var suspects = RecordQueue()
    /// The changes that a stream of `changes` holds or gets next.
    var handed: [AcceptedChange] = []
    /// What a live stream shows.
    var view = LiveView()
    /// The delivery orders of changes that this stream has taken and another stream has not.
    var taken = RecordTable<UInt64>()
    /// How many changes have arrived since the stream got its current element.
    var arrived = 0

    init(id: StreamID, kind: StreamKind = .changes) {
        self.id = id
        self.kind = kind
    }

    /// The number of records with changes that the stream has yet to get.
    var waitingCount: Int { queue.count + suspects.count }

    /// Whether the stream has yet to take a change, or a newer change to the same record.
    func holdsBack(_ change: AcceptedChange) -> Bool {
        let key = change.key
        if let order = taken[key], order >= change.order { return false }
        return queue.contains(key) || suspects.contains(key) || handed.contains { $0.key == key }
            || view.handed.contains { $0.key == key }
    }

    mutating func append(_ key: RecordKey, isSuspect: Bool) {
        if isSuspect { suspects.append(key) } else { queue.append(key) }
    }

    /// Drops changes from the element; the stream asks again if nothing is left of it.
    mutating func drop(_ keys: [RecordKey], isEmpty: Bool) {
        handed.removeAll { keys.contains($0.key) }
        view.handed.removeAll { keys.contains($0.key) }
        if isEmpty, stage == .holding { stage = .asking }
    }

    /// Drops the delivery orders of accepted changes.
    mutating func forgetTaken(_ changes: [AcceptedChange]) {
        if taken.isEmpty { return }
        for change in changes {
            guard let order = taken[change.key], order <= change.order else { continue }
            taken[change.key] = nil
        }
    }
}
