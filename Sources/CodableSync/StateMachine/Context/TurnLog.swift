import RecordCoding

/// What a turn has changed so far, and what must happen before it may be told.
struct TurnLog: Sendable {
    /// How long stored changes may stay unflushed.
    static var flushDelay: Duration { .seconds(1) }

    /// The names of the changes, in order.
    var entries: [JournalEntry] = []
    /// Whether the turn must survive a power loss before anything that follows from it happens.
    var mustFlush = false
    /// The work that changed the state by itself, not because of an input.
    var writers: [Writer] = []
    /// Events about the next changes.
    var events: [ContentsEvent] = []

    /// Work that begins by changing the state.
    enum Writer: Equatable, Sendable {
        case sending, fetching, zone, delivering, flush
    }
}

extension SyncContext {
    /// Applies entries; the turn stores what they change before anything else happens.
    ///
    /// - Parameters:
    ///   - entries: The entries. Unless all of them are repeatable, the turn is flushed. Repeatable ones are flushed
    ///     with a later turn, or when no work is left.
    ///   - writer: The work that began this by itself.
    mutating func append(_ entries: [JournalEntry], by writer: TurnLog.Writer? = nil) {
        if isDroppingEntries { return }
        if !entries.allSatisfy(\.isRepeatable) { log.mustFlush = true }
        if let writer, !log.writers.contains(writer) { log.writers.append(writer) }
        for event in log.events { actions.append(.report(.contentsEvent(event))) }
        log.events = []
        log.entries += entries
        for entry in entries {
            if let event = state.eventOfReplaced(entry) {
                actions.append(.report(.contentsEvent(event.event)))
            }
            apply(entry)
        }
    }

    private mutating func apply(_ entry: JournalEntry) {
        let former = entry.fetchedKey.flatMap { state[$0]?.known }
        state.apply(entry)
        switch entry {
        case .fetching(.fetched(let key, _, _)):
            if let known = state[key]?.known, known.isTooNew, former?.isSameVersion(as: known) != true {
                actions.append(.report(state.eventOfTooNew(key, known)))
            }
        case .zones(.lost(_, let reason)): emit(.zoneLost(reason))
        case .sending(.parked(let key, let reason)): emit(.parked(recordName: key.recordName, reason))
        case .resolving(.resolved(let key, let client, _, .failed(let reason))):
            let pending = state[key]?.pending
            guard pending?.handle == client, pending?.parked == reason else { break }
            emit(.parked(recordName: key.recordName, reason))
        case .fetching(.readable):
            for key in state.tooNewQueue.keys {
                if let last = state[key]?.lastKnown {
                    actions.append(.report(state.eventOfTooNew(key, last)))
                }
            }
        default: break
        }
    }

    /// Answers a call once its entries are stored.
    mutating func answer(_ call: CallID, afterStoring entries: [JournalEntry] = []) {
        append(entries)
        actions.append(.answer(call, .done))
    }

    /// Flushes what was stored without a flush.
    mutating func flushRest(by writer: TurnLog.Writer? = nil) {
        guard isUnflushed || !log.entries.isEmpty, !log.mustFlush else { return }
        log.mustFlush = true
        if let writer { log.writers.append(writer) }
    }

    // MARK: The end of a turn

    /// Takes what the turn has changed.
    mutating func takeChanges() -> TurnChanges {
        var changes = state.changes
        changes.entries = log.entries
        changes.mustFlush = log.mustFlush
        log = TurnLog()
        state.beginImage()
        if changes.mustFlush || !changes.rows.isEmpty { note(isFlushed: changes.mustFlush) }
        return changes
    }

    private mutating func note(isFlushed: Bool) {
        guard isUnflushed == isFlushed else { return }
        isUnflushed = !isFlushed
        flushAt = isFlushed ? nil : now.monotonic + TurnLog.flushDelay
    }

    /// Gives up a flush that failed, so that a broken disk doesn't keep the engine busy.
    mutating func forgetFlush() {
        isUnflushed = false
        flushAt = nil
    }

    mutating func takeActions() -> [SyncAction] {
        defer { actions = [] }
        return actions
    }
}

/// What a turn has changed.
package struct TurnChanges: Equatable, Sendable {
    /// The names of the changes, in order.
    package var entries: [JournalEntry] = []
    package var rows: [StateRow] = []
    /// Handles that the rows name and that no row named before.
    package var introduced: [ContentHandle] = []
    /// Whether the rows, and all before them, must survive a power loss.
    package var mustFlush = false

    /// Whether there is nothing to store and nothing to flush.
    package var isEmpty: Bool { rows.isEmpty && !mustFlush }

    /// The records whose rows the turn has changed.
    var keys: [RecordKey] {
        rows.compactMap { if case .record(let key, _, _) = $0 { key } else { nil } }
    }
}

extension CloudError {
    /// The error that delays work as after a failed request; callers and events get the real cause.
    static var ofDisk: CloudError {
        CloudError(.internalError, message: "The state could not be read or written.")
    }
}

extension JournalEntry {
    /// The record whose version was fetched.
    fileprivate var fetchedKey: RecordKey? {
        if case .fetching(.fetched(let key, _, _)) = self { key } else { nil }
    }
}
