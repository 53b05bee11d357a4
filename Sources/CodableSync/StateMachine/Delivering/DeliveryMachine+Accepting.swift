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
        if !free.isEmpty { context.append([.delivering(.accepted(free))]) }
    }

    /// Accepts what a live stream has shown: the app has seen it, as if a read had returned it, and the
    /// changes that it includes.
    mutating func accept(_ items: [LiveView.Item], by id: StreamID, _ context: inout SyncContext) {
        if items.isEmpty { return }
        trouble.clear(items.map(\.key))
        let seen = items.compactMap { item in
            item.given.flatMap { context.state[item.key]?.newlySeen($0, of: item.key) }
        }
        if !seen.isEmpty { context.append([.calls(.seen(seen))]) }
        let changes = items.compactMap { item in
            context.state.handing(of: item.key).flatMap { $0.order == item.order ? $0 : nil }
        }
        accept(changes, by: id, &context)
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

    /// Clears the suspicion of changes that the app has accepted without crashing, and drops their delivery
    /// orders.
    mutating func takeAccepted(_ changes: [AcceptedChange]) {
        trouble.clear(changes.map(\.key))
        for index in streams.indices { streams[index].forgetTaken(changes) }
    }

    /// Keeps acceptances that could not be stored, to store them later.
    mutating func keepUnstored(_ entries: [JournalEntry], _ state: SyncState) {
        for case .delivering(.accepted(let changes)) in entries {
            unstored += changes.filter { state.isOpen($0) }
        }
    }

    /// Stores acceptances that could not be stored before.
    mutating func acceptAgain(_ context: inout SyncContext) {
        if unstored.isEmpty { return }
        let changes = unstored.filter { context.state.isOpen($0) }
        unstored = []
        if !changes.isEmpty { context.append([.delivering(.accepted(changes))]) }
    }
}
