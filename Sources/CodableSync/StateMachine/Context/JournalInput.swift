/// The outcome of a batch of the journal.
package enum JournalInput: Equatable, Sendable {
    /// The batch is stored, and flushed if that was requested.
    case committed(BatchID)
    case commitFailed(BatchID, JournalFailure)
}
