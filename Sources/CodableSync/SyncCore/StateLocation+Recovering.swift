/// Recovering a damaged state, and describing the damage.
extension StateLocation {
    /// The maximum number of described damages; more are only counted, so that a badly damaged file doesn't
    /// fill memory.
    private static var maximumMessages: Int { 20 }

    /// Keeps everything readable of a damaged state, and requests a full fetch of the zone.
    ///
    /// - Parameters:
    ///   - opened: The state as it was read.
    ///   - state: The same state, which is changed to the recovered one.
    ///   - now: The current time.
    /// - Returns: Messages about the damage, and why the damaged files could not be replaced, if so.
    /// - Throws: ``JournalFailure`` if the recovery cannot be stored; the next opening tries again.
    func recover(
        _ opened: JSONStateStore.Opened,
        _ state: inout SyncState,
        _ now: Moment
    ) throws -> (messages: [String], compactionFailure: String?) {
        let lost = opened.lostEdits.prefix(Self.maximumMessages).map { name in
            "An edit of \(name.quoted) is lost: its contents were in a damaged line."
        }
        let messages = Self.messages(of: opened.recovery) + lost
        guard !messages.isEmpty else { return ([], nil) }
        try opened.store.change(&state) { state in
            for message in messages {
                state.keep(SyncNote(kind: .recovered, date: now.wall.rounded, message: message))
            }
            guard opened.recovery.isDamaged else { return }
            for row in opened.repairs { state.apply(row: row) }
            for number in state.zones.numbers { state.beginListing(of: number) }
            // The app shows records that the state may not have any more.
            if state.summary.isFollowed { state.startOver() }
        }
        // The damaged files are set aside and replaced by a snapshot, so that the damage is reported only
        // once. If that fails, the state is still usable, and the next opening tries again.
        return (messages, opened.recovery.isDamaged ? Self.compact(opened.store) : nil)
    }

    /// Compacts the files.
    ///
    /// - Returns: Why the compaction failed; `nil` if it succeeded.
    static func compact(_ store: JSONStateStore) -> String? {
        do {
            try store.compact()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static func messages(of recovery: LogRecovery) -> [String] {
        var messages: [String] = []
        if recovery.droppedTailBytes > 0 {
            messages.append(
                "\(recovery.droppedTailBytes) bytes were cut off at the end of the journal: "
                    + "they belong to a call that had not returned."
            )
        }
        messages += recovery.damages.prefix(maximumMessages).map { damage in
            "\(damage) Everything else that is readable is kept, and all records are fetched again."
        }
        let rest = recovery.damages.count - maximumMessages
        if rest > 0 { messages.append("\(rest) other places are damaged as well.") }
        return messages
    }
}
