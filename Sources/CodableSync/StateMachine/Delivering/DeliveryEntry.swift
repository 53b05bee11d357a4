import RecordCoding

/// The entries about what the app's streams took; a change that was not accepted is delivered again.
package enum DeliveryEntry: Equatable, Sendable {
    /// The app has accepted these changes.
    case accepted([AcceptedChange])
    /// These changes are handed out; if the process ends before they are accepted, one of them may have
    /// crashed it.
    case handedOut(OrderRuns)
}

/// A change that the app has accepted from a stream, or that no stream takes.
package struct AcceptedChange: Equatable, Sendable, RecordKeyed {
    package var key: RecordKey
    /// The delivery order of the change.
    package var order: UInt64
    package var seen: ContentHandle?
    /// The version whose system fields the app's model carries: the contents themselves, or the version below
    /// an edit.
    package var version: ContentHandle?
    /// Whether no stream takes the change, so that the app has what it had.
    package var isSkipped: Bool

    package init(
        key: RecordKey,
        order: UInt64,
        seen: ContentHandle?,
        of version: ContentHandle?,
        isSkipped: Bool = false
    ) {
        self.key = key
        self.order = order
        self.seen = seen
        self.version = version
        self.isSkipped = isSkipped
    }
}

extension AcceptedChange {
    mutating func repoint(from former: ContentHandle, to handle: ContentHandle) {
        if version == former { version = handle }
        if seen == former { seen = handle }
    }
}

extension SyncState {
    mutating func apply(delivering entry: DeliveryEntry) {
        switch entry {
        case .accepted(let changes): for change in changes { applyAccepted(change) }
        case .handedOut(let orders): changeSummary { $0.handedOut.hand(out: orders) }
        }
    }

    private mutating func applyAccepted(_ accepted: AcceptedChange) {
        change(accepted.key) { record in
            guard let undelivered = record.undelivered, undelivered.order == accepted.order else {
                if !accepted.isSkipped { record.seeLate(accepted.seen, of: accepted.version) }
                return
            }
            // The server may have saved it again unchanged since it was handed out.
            if !accepted.isSkipped { record.give(undelivered.seen, of: accepted.version) }
            record.undelivered = nil
        }
    }
}
