import RecordCoding

/// Handing changes to the app's streams, and noticing when all of them have taken one.
extension SyncStateMachine {
    /// Records in one element of `changes`.
    static var maximumElement: Int { 200 }

    mutating func takeStreamRequested(_ id: StreamID) {
        if let index = streams.firstIndex(where: { $0.id == id }) {
            let taken = streams[index].handed
            streams[index].handed = []
            streams[index].isWaiting = true
            accept(taken)
        } else {
            // A stream lives from its first request, and gets whatever nobody has accepted.
            var stream = StreamState(id: id, isWaiting: true)
            let accepted = acceptedUnderWay
            for name in state.deliveryQueue.names
            where accepted[name] == nil || accepted[name] != state[name]?.undelivered?.order {
                stream.queue.append(name)
            }
            streams.append(stream)
        }
    }

    /// What was accepted, and is on its way to the disk.
    private var acceptedUnderWay: RecordTable<UInt64> {
        var accepted = RecordTable<UInt64>()
        for batch in uncommitted {
            for case .accepted(let changes) in batch.entries {
                for change in changes { accepted[change.name] = change.order }
            }
        }
        return accepted
    }

    /// A stream that ends has not accepted what it holds; what only it held back is accepted now.
    mutating func takeStreamEnded(_ id: StreamID) {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
        let ended = streams.remove(at: index)
        guard !streams.isEmpty || !configuration.keepsUndelivered else { return }
        var released = ended.handed
        for name in ended.queue.names {
            guard let undelivered = state[name]?.undelivered else { continue }
            released.append(
                AcceptedChange(name: name, order: undelivered.order, seen: undelivered.seen)
            )
        }
        accept(released)
    }

    /// What was handed out and could not be decoded is kept, and tried again at the next opening.
    mutating func takeUndecodable(_ id: StreamID, names: [String], isEmpty: Bool) {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
        streams[index].handed.removeAll { names.contains($0.name) }
        if isEmpty { streams[index].isWaiting = true }
    }

    /// Accepts the changes that no other live stream has still to take.
    private mutating func accept(_ changes: [AcceptedChange]) {
        let free = changes.filter { change in
            !streams.contains { stream in
                stream.queue.contains(change.name) || stream.handed.contains { $0.name == change.name }
            }
        }
        if !free.isEmpty { append([.accepted(free)], flush: false) }
    }

    /// Versions of a former zone are nobody's ancestors, whenever they are accepted.
    mutating func forgetVersionsHandedOut() {
        reads = RecordTable()
        for stream in streams.indices {
            for index in streams[stream].handed.indices { streams[stream].handed[index].seen = nil }
        }
    }

    /// Tells the streams of what there is to deliver since the last commit.
    mutating func passOnRenewed() {
        let renewed = state.renewed
        state.renewed = []
        guard !renewed.isEmpty else { return }
        for index in streams.indices {
            for name in renewed { streams[index].queue.append(name) }
        }
        if streams.isEmpty, !configuration.keepsUndelivered {
            accept(
                renewed.compactMap { name in
                    state[name]?.undelivered.map {
                        AcceptedChange(name: name, order: $0.order, seen: $0.seen)
                    }
                }
            )
        }
    }

    mutating func advanceDelivering() {
        for index in streams.indices where streams[index].isWaiting {
            let items = nextElement(ofStreamAt: index)
            guard !items.isEmpty else { continue }
            streams[index].isWaiting = false
            actions.append(.deliver(streams[index].id, items))
        }
    }

    /// The longest run of one kind from the front of a stream's queue.
    private mutating func nextElement(ofStreamAt index: Int) -> [DeliveryItem] {
        var items: [DeliveryItem] = []
        while items.count < Self.maximumElement, let name = streams[index].queue.first {
            guard let undelivered = state[name]?.undelivered else {
                streams[index].queue.remove(name)
                continue
            }
            if let first = items.first, !first.kind.isSameKind(as: undelivered.kind) { break }
            streams[index].queue.remove(name)
            items.append(DeliveryItem(name: name, kind: undelivered.kind))
            streams[index].handed.append(
                AcceptedChange(name: name, order: undelivered.order, seen: undelivered.seen)
            )
        }
        return items
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
