/// One of the app's loops over `changes`.
struct StreamState: Equatable, Sendable {
    enum Stage: Equatable, Sendable {
        /// The loop waits for an element.
        case asking
        /// The next element is chosen; the journal is storing that it is handed out.
        case handing
        /// The loop has an element and has not requested the next one.
        case holding
    }

    var id: StreamID
    var stage = Stage.asking
    /// Records with changes that the stream has yet to get.
    var queue = RecordQueue()
    /// Records whose changes are handed out one at a time, after all others.
    var suspects = RecordQueue()
    /// The changes that the stream holds or is about to get.
    var handed: [AcceptedChange] = []
    /// The delivery orders of changes that this stream has taken and another stream has not.
    var taken = RecordTable<UInt64>()
    /// How many changes have arrived since the stream got its current element.
    var arrived = 0

    /// The number of records with changes that the stream has yet to get.
    var waitingCount: Int { queue.count + suspects.count }

    /// Whether the stream has yet to take a change, or a newer change to the same record.
    func holdsBack(_ change: AcceptedChange) -> Bool {
        let key = change.key
        if let order = taken[key], order >= change.order { return false }
        return queue.contains(key) || suspects.contains(key) || handed.contains { $0.key == key }
    }

    mutating func append(_ key: RecordKey, isSuspect: Bool) {
        if isSuspect { suspects.append(key) } else { queue.append(key) }
    }
}

extension StreamState {
    /// The maximum number of records in one element.
    static var maximumElement: Int { 200 }

    /// Takes the next element from the queue: the longest run of changes of one kind at its front, or one
    /// suspect.
    mutating func takeNext(_ state: SyncState, _ trouble: DeliveryTrouble) -> [AcceptedChange] {
        var element: [AcceptedChange] = []
        var kind: Undelivered.Kind?
        while element.count < Self.maximumElement, let key = queue.first {
            if let undelivered = trouble.deliverable(key, state), taken[key] != undelivered.order {
                if let kind, !kind.isSameKind(as: undelivered.kind) { break }
                kind = undelivered.kind
                element.append(state.handing(undelivered, of: key))
            }
            queue.remove(key)
        }
        while element.isEmpty, let key = suspects.first {
            suspects.remove(key)
            guard let undelivered = trouble.deliverable(key, state) else { continue }
            element.append(state.handing(undelivered, of: key))
        }
        return element
    }

    /// Drops changes from the element; the stream asks again if nothing is left of it.
    mutating func drop(_ keys: [RecordKey], isEmpty: Bool) {
        handed.removeAll { keys.contains($0.key) }
        if isEmpty, stage == .holding { stage = .asking }
    }

    /// Repoints the element from former contents to new ones: another copy, or the version that a save
    /// created.
    mutating func repoint(_ key: RecordKey, from former: ContentHandle, to handle: ContentHandle) {
        for index in handed.indices where handed[index].key == key {
            handed[index].repoint(from: former, to: handle)
        }
    }

    /// Clears the versions in the element, which cannot be ancestors any more.
    mutating func forgetVersions() {
        for index in handed.indices {
            handed[index].seen = nil
            handed[index].version = nil
        }
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
