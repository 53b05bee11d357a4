import RecordCoding

/// Records from the cloud that the journal cannot hold, which would refuse everything that is stored with them.
extension Record {
    /// Whether the record is too large for a line of the journal.
    ///
    /// Complexity: O(1) for records below 10 MB.
    var exceedsJournalLine: Bool {
        let maximum = JournalLine.maximumBytes - (1 << 20)
        // Each byte takes at most six characters; the rest of the line is small.
        if size < maximum / 6 { return false }
        return JournalLine.make(ContentHandle(0), self).count > maximum
    }
}

extension CloudError {
    /// The error for a record that this device can't store.
    static func tooLarge(_ record: Record) -> CloudError {
        let message =
            "The cloud's version of the record \(record.recordID.recordName.quoted) has \(record.size) bytes, "
            + "too many for this device, which does not store it. Make it smaller where it was made."
        return CloudError(.invalidArguments, message: message)
    }
}
