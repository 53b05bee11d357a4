import RecordCoding

/// Recording what the app's streams received and accepted.
extension SyncState {
    mutating func apply(delivering entry: DeliveryEntry) {
        switch entry {
        case .handedOut(let orders): applyHandedOut(orders)
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

    mutating func applyAccepted(_ accepted: AcceptedChange) {
        noteAccepted(accepted.key)
        change(accepted.key) { record in
            if record.undelivered?.order == accepted.order { record.undelivered = nil }
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
    /// What only this device has, and what was deleted before, is left out.
    mutating func follow() {
        changeSummary { $0.isFollowed = true }
        for key in records.sortedKeys {
            guard let record = self[key] else { continue }
            if record.undelivered?.kind == .deleted { change(key) { $0.undelivered = nil } }
            guard record.undelivered == nil, record.shown != nil, record.lastKnown != nil else { continue }
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
            change(key) { $0.deliverShown(order: order) }
        }
    }
}

extension RecordState {
    /// Marks what reads show as undelivered.
    fileprivate mutating func deliverShown(order: UInt64) {
        if shown == nil {
            undelivered = nil
        } else if let edit = pending?.handle, isPendingOnTop {
            undelivered = Undelivered(kind: .updated(edit), order: order)
        } else {
            deliverServerValue(order: order)
        }
    }
}
