/// An action for the journal.
package enum JournalAction: Equatable, Sendable {
    /// Appends what a batch of entries changed to the journal, strictly in order; with `flush`, it is flushed before it is reported
    /// as stored.
    case append(BatchID, [JournalEntry], StateLines, flush: Bool)
    /// Loads contents for the events of the batch that is appended next, before the batch is written: a
    /// compaction may drop them afterwards.
    case keepContents(BatchID, [ContentHandle])
    /// Makes the journal accept batches again; all batches appended before have failed.
    case resume
}
