import RecordCoding

/// Handing out elements.
extension DeliveryMachine {
    mutating func advance(_ context: inout SyncContext) {
        guard !lane.isWaiting(at: context.now) else { return }
        beginReplay(&context)
        for index in streams.indices where streams[index].stage == .asking {
            let isElement = streams[index].takeNext(context.state, trouble)
            acceptSkipped(byStreamAt: index, &context)
            if isElement {
                hand(toStreamAt: index, &context)
            } else {
                noteShowing(atStreamAt: index, &context)
            }
        }
    }

    /// Stores which records the stream gets, so that the next opening knows which of them may have crashed
    /// the app, and then hands them out.
    ///
    /// A crash of the process loses no written data, so no flush is needed.
    private mutating func hand(toStreamAt index: Int, _ context: inout SyncContext) {
        let stream = streams[index]
        streams[index].stage = .handing
        var entries: [JournalEntry] = []
        if !stream.handed.isEmpty {
            entries.append(.delivering(.handedOut(OrderRuns(stream.handed.map(\.order)))))
        }
        entries += showing(atStreamAt: index)
        entries = behindFormerSuspects(entries)
        if entries.isEmpty, context.journal.uncommitted.isEmpty {
            deliver(to: stream.id, &context)
        } else {
            context.append(entries, then: .deliver(stream.id))
        }
    }

    /// Notes that a live stream has accepted its last element, and holds none.
    private mutating func noteShowing(atStreamAt index: Int, _ context: inout SyncContext) {
        let entries = behindFormerSuspects(showing(atStreamAt: index))
        if !entries.isEmpty { context.append(entries) }
    }

    /// Stores the suspects of the former process with the first entries that could replace what it held.
    mutating func behindFormerSuspects(_ entries: [JournalEntry]) -> [JournalEntry] {
        guard !entries.isEmpty, let keys = formerSuspects else { return entries }
        formerSuspects = nil
        return [.delivering(.suspected(keys))] + entries
    }

    /// The entries for the records that a live stream holds from now on.
    private mutating func showing(atStreamAt index: Int) -> [JournalEntry] {
        let stream = streams[index]
        let keys = stream.view.handed.map(\.key)
        guard stream.kind == .live, keys != stream.view.noted else { return [] }
        streams[index].view.noted = keys
        return [.delivering(.showing(stream.id, keys))]
    }

    /// Delivers the chosen element, now that the journal records it as handed out.
    ///
    /// Also called if that could not be stored: a full disk does not stop deliveries.
    mutating func deliver(to id: StreamID, _ context: inout SyncContext) {
        guard let index = index(of: id), streams[index].stage == .handing else { return }
        let state = context.state
        streams[index].arrived = 0
        if let mark = streams[index].mark {
            streams[index].stage = .holding
            return context.actions.append(.mark(id, mark))
        }
        // Changes that were renewed in the meantime are in the queue again.
        let handed = streams[index].handed.filter { state.isOpen($0) }
        streams[index].handed = handed
        let view = streams[index].view
        streams[index].view.handed.removeAll { !view.isCurrent($0, state) }
        let items =
            handed.compactMap { change in
                state[change.key]?.undelivered.map { DeliveryItem(key: change.key, kind: $0.kind) }
            } + streams[index].view.handed.map { DeliveryItem(key: $0.key, kind: $0.kind) }
        streams[index].stage = items.isEmpty ? .asking : .holding
        if !items.isEmpty { context.actions.append(.deliver(id, items)) }
    }
}
