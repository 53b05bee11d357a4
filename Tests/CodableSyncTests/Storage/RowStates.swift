import RecordCoding

@testable import CodableSync

/// The states of stores, so that tests can put entries into their files.
final class RowStates: @unchecked Sendable {
    // `@unchecked Sendable` holds because a test uses it from its own task only.
    private var states: [(store: JSONStateStore, state: SyncState)] = []

    /// Remembers the state of a store that has one.
    func note(_ opened: JSONStateStore.Opened) { states.append((opened.store, opened.state)) }

    /// Stores what an entry changes.
    func put(
        _ entry: StateChange,
        _ contents: [ContentHandle: Record] = [:],
        in store: JSONStateStore
    ) throws {
        if !states.contains(where: { $0.store === store }) { states.append((store, SyncState())) }
        for index in states.indices where states[index].store === store {
            let rows = states[index].state.applyWriting([entry]).rows
            let batch = JournalBatch(rows: rows, contents: contents, flush: true)
            try store.append(batch, leaving: states[index].state)
        }
    }
}
