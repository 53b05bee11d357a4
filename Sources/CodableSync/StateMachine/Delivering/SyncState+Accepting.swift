import RecordCoding

/// Recording what the app's streams received and accepted.
extension SyncState {
    mutating func apply(delivering entry: DeliveryEntry) {
        switch entry {
        case .replayed: changeSummary { $0.reset = nil }
        case .suspected(let keys): changeHeld { $0.suspect(keys) }
        case .held(let stream, let keys): changeHeld { $0.hand(keys, to: stream) }
        case .ended(let stream): changeHeld { $0.end(stream) }
        }
    }

    mutating func applyAccepted(_ changes: [AcceptedChange]) {
        // A stream may hold a newer change of the record.
        let done = changes.filter { change in
            self[change.key]?.undelivered.map { $0.order == change.order } ?? true
        }
        changeHeld { $0.accept(done.map(\.key)) }
        for change in changes { applyAccepted(change) }
    }

    private mutating func applyAccepted(_ accepted: AcceptedChange) {
        if summary.reset == .due { changeSummary { $0.reset = .begun } }
        change(accepted.key) { record in
            if record.undelivered?.order == accepted.order { record.undelivered = nil }
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
