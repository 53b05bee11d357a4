import RecordCoding

/// Recording what the app's streams received and accepted.
extension SyncState {
    mutating func apply(delivering entry: DeliveryEntry) {
        switch entry {
        case .accepted(let changes): for change in changes { applyAccepted(change) }
        case .handedOut(let orders): applyHandedOut(orders)
        case .followed: follow()
        case .startedOver: startOver()
        case .replayed: changeSummary { $0.reset = nil }
        case .suspected(let keys): changeSummary { $0.shownElements.suspect(keys) }
        case .showing(let stream, let keys): changeSummary { $0.shownElements.hand(keys, to: stream) }
        }
    }

    private mutating func applyHandedOut(_ orders: OrderRuns) {
        changeSummary { summary in
            summary.handedOut.hand(out: orders)
            // Only a stream of `changes` leads to this entry; the line about its first request may be lost.
            summary.isFollowed = true
        }
    }

    private mutating func applyAccepted(_ accepted: AcceptedChange) {
        noteAccepted(accepted.key)
        change(accepted.key) { record in
            guard let undelivered = record.undelivered, undelivered.order == accepted.order else {
                return record.seeLate(accepted.seen, of: accepted.version)
            }
            // The server may have saved it again unchanged since it was handed out.
            record.give(undelivered.seen, of: accepted.version)
            record.undelivered = nil
        }
    }

    private mutating func noteAccepted(_ key: RecordKey) {
        guard summary.reset == .due || !summary.shownElements.isEmpty else { return }
        changeSummary { summary in
            if summary.reset == .due { summary.reset = .begun }
            summary.shownElements.clear(key)
        }
    }

    // MARK: Everything that is known

    /// Marks everything known as undelivered, at the very first request.
    ///
    /// The app has the edits that it uploaded; they are delivered once they are confirmed.
    private mutating func follow() {
        changeSummary { $0.isFollowed = true }
        for key in records.sortedKeys {
            guard let record = self[key], record.undelivered == nil, record.shown != nil else { continue }
            if record.isPendingOnTop, record.isPendingSeen { continue }
            let order = nextDeliveryOrder()
            change(key) { $0.deliverShown(order: order) }
        }
    }

    /// Marks everything that reads show as undelivered, since the app must forget what it shows.
    mutating func startOver() {
        changeSummary { summary in
            summary.isFollowed = true
            summary.reset = .due
        }
        for key in records.sortedKeys {
            let order = nextDeliveryOrder()
            change(key) { record in
                record.given = nil
                record.copy = nil
                record.deliverShown(order: order)
            }
        }
    }
}

extension RecordState {
    /// Marks what reads show as undelivered.
    fileprivate mutating func deliverShown(order: UInt64) {
        if shown == nil {
            undelivered = nil
        } else if let edit = pending?.handle, isPendingOnTop {
            undelivered = Undelivered(kind: .updated(edit), seen: edit, order: order)
        } else {
            deliverServerValue(order: order)
        }
    }

    /// Drops the deletion of a record that the app never had, until `changes` is first requested.
    mutating func dropUnaskedDeletion() {
        if undelivered?.kind == .deleted, seen == nil { undelivered = nil }
    }
}
