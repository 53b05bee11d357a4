/// What is done about damage, and said of it.
extension StateLocation {
    /// More places than this are counted only: a file of nothing but damage is no reason to fill the memory.
    private static var maximumMessages: Int { 20 }

    /// After damage everything readable is kept, and the zone is fetched in full.
    ///
    /// - Parameters:
    ///   - opened: The state as it was read.
    ///   - state: The same; afterwards as it is gone on with.
    ///   - damagedIndex: What became of the file that says whose the states are, if it was damaged.
    ///   - now: The current time.
    /// - Returns: What happened, in words, and why the damaged files could not be replaced, if they could not.
    /// - Throws: ``JournalFailure`` if it cannot be stored; the next opening tries again.
    func recover(
        _ opened: JSONStateStore.Opened,
        _ state: inout SyncState,
        damagedIndex: String?,
        _ now: Moment
    ) throws -> (messages: [String], compactionFailure: String?) {
        let messages = [damagedIndex].compactMap { $0 } + Self.messages(of: opened.recovery)
        guard !messages.isEmpty else { return ([], nil) }
        var entries = messages.map { message in
            JournalEntry.note(SyncNote(kind: .recovered, date: now.wall.rounded, message: message))
        }
        if opened.recovery.isDamaged { entries += opened.repairs + [.listingBegan] }
        try opened.store.append([JournalBatch(batch: 0, entries: entries, contents: [:], flush: true)])
        for entry in entries { state.apply(entry) }
        // The damaged files are kept aside; a snapshot takes their place, so that this is said once. Without it the
        // state can be used as well, and the next opening tries again.
        return (messages, opened.recovery.isDamaged ? Self.compact(opened.store) : nil)
    }

    /// Makes the files as small as the state allows.
    ///
    /// - Returns: Why it could not be done, if it could not.
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
                "\(recovery.droppedTailBytes) bytes at the end of the journal were cut off: "
                    + "they belong to a change that no call has returned for."
            )
        }
        messages += recovery.damages.prefix(maximumMessages).map { damage in
            "\(damage) Everything else that can be read is kept, and all records are fetched again."
        }
        let rest = recovery.damages.count - maximumMessages
        if rest > 0 { messages.append("\(rest) other places are damaged as well.") }
        return messages
    }
}
