import RecordCoding

/// Handing out elements.
extension DeliveryMachine {
    mutating func advance(_ context: inout SyncContext) {
        acceptAgain(&context)
        if context.isWaiting(.delivering) { return }
        beginReplay(&context)
        for index in streams.indices where streams[index].stage == .asking {
            let isElement = streams[index].takeNext(context.state, trouble)
            acceptSkipped(byStreamAt: index, &context)
            if isElement {
                hand(toStreamAt: index, &context)
            } else {
                noteHeld(byStreamAt: index, &context)
            }
        }
    }

    /// Stores which records the stream gets, so that the next opening knows which of them may have crashed
    /// the app, and then hands them out.
    ///
    /// A crash of the process loses no written data, so no flush is needed.
    /// A full disk does not stop deliveries.
    private mutating func hand(toStreamAt index: Int, _ context: inout SyncContext) {
        noteHeld(byStreamAt: index, &context)
        deliver(toStreamAt: index, &context)
    }

    /// Stores what streams hold, behind the suspects of the former process, unless the disk refuses it.
    mutating func store(_ entries: [JournalEntry], _ context: inout SyncContext) {
        if entries.isEmpty || isDiskRefusing { return }
        var entries = entries
        if hasFormerElements {
            // Before anything replaces what the former process's streams held.
            entries.insert(.delivering(.suspected(context.state.held.allSuspects)), at: 0)
            hasFormerElements = false
        }
        context.append(entries, by: .delivering)
    }

    /// Stores which records a stream holds from now on; if there are none, it has accepted its last element.
    private mutating func noteHeld(byStreamAt index: Int, _ context: inout SyncContext) {
        let stream = streams[index]
        let keys = stream.handed.map(\.key) + stream.view.handed.map(\.key)
        let noted = hasFormerElements ? [] : context.state.held.keys(of: stream.id)
        if keys == noted { return }
        store([.delivering(.held(stream.id, keys))], &context)
    }

    /// Delivers the chosen element.
    private mutating func deliver(toStreamAt index: Int, _ context: inout SyncContext) {
        let (stream, state) = (streams[index], context.state)
        streams[index].arrived = 0
        streams[index].stage = .holding
        if let mark = stream.mark { return context.actions.append(.mark(stream.id, mark)) }
        let items =
            stream.handed.compactMap { change in
                state[change.key]?.undelivered.map { DeliveryItem(key: change.key, kind: $0.kind) }
            } + stream.view.handed.map { DeliveryItem(key: $0.key, kind: $0.kind) }
        context.actions.append(.deliver(stream.id, items))
    }
}
