import RecordCoding

/// Deciding when the app has accepted a change.
///
/// A change is accepted once every stream has taken it, whatever the stream's kind. Live streams alone never
/// complete a change: an app that has used `changes` before may start that loop after a live one.
extension DeliveryMachine {
    /// Accepts the changes that could be decoded and that no other stream has yet to take.
    ///
    /// The stream that took them may have newer changes of the same records in its queue; these do not hold
    /// them back.
    mutating func accept(
        _ changes: [AcceptedChange],
        by id: StreamID? = nil,
        _ context: inout SyncContext
    ) {
        guard streams.contains(where: { $0.kind == .changes }) else { return }
        let free = changes.filter { change in
            !trouble.isUndecodable(change) && !streams.contains { $0.id != id && $0.holdsBack(change) }
        }
        store(free, &context)
    }

    /// Stores acceptances, or keeps them while nothing can be stored.
    mutating func store(_ changes: [AcceptedChange], _ context: inout SyncContext) {
        if changes.isEmpty { return }
        if isDiskRefusing {
            unstored += changes
        } else {
            context.append([.fact(.accepted(changes))], by: .delivering)
            if context.isDroppingEntries { return }
            // The app has taken them without crashing.
            trouble.clear(changes.map(\.key))
            for index in streams.indices { streams[index].forgetTaken(changes) }
        }
    }

    /// Accepts the changes that a live stream has shown.
    ///
    /// Until `changes` is first requested, only a deletion is accepted: a later upload is then a new record.
    mutating func accept(_ items: [LiveView.Item], by id: StreamID, _ context: inout SyncContext) {
        if items.isEmpty { return }
        trouble.clear(items.map(\.key))
        let shown = items.filter { item in context.state.handing(of: item.key)?.order == item.order }
        let changes = shown.map { AcceptedChange(key: $0.key, order: $0.order) }
        if context.state.summary.isFollowed { return accept(changes, by: id, &context) }
        let deletions = changes.filter { context.state[$0.key]?.undelivered?.kind == .deleted }
        store(deletions, &context)
    }

    /// Accepts changes that a live stream held back and doesn't need to deliver.
    mutating func acceptSkipped(byStreamAt index: Int, _ context: inout SyncContext) {
        let keys = streams[index].view.skipped
        if keys.isEmpty { return }
        streams[index].view.skipped = []
        let changes = keys.compactMap { context.state.handing(of: $0) }
        if streams.count > 1 {
            for change in changes { streams[index].taken[change.key] = change.order }
        }
        accept(changes, &context)
    }

    /// Hands out and accepts without storing it until something else could be stored, or until the next attempt.
    mutating func takeRefused(_ context: inout SyncContext) {
        isDiskRefusing = true
        storeAgainAt = context.nextTry(after: &diskBackoff)
    }

    /// Stores again what is handed out and accepted.
    mutating func takeStored() {
        isDiskRefusing = false
        storeAgainAt = nil
    }

    /// Stores acceptances that could not be stored before.
    mutating func acceptAgain(_ context: inout SyncContext) {
        if unstored.isEmpty || isDiskRefusing { return }
        let changes = unstored.filter { context.state.isOpen($0) }
        unstored = []
        store(changes, &context)
    }
}
