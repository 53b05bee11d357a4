// What facts do to one record.

extension RecordState {
    /// What is known was looked up by its name: the former copy may not be readable.
    mutating func takeCopy(of version: KnownVersion, order: UInt64) {
        guard let former = known else { return }
        known?.handle = version.handle
        repoint(from: former.handle, to: version.handle)
        switch undelivered?.kind {
        case .updated(former.handle)?:
            undelivered?.kind = .updated(version.handle)
            undelivered?.order = order
        case .saved(former.handle)?:
            undelivered?.kind = .saved(version.handle)
            undelivered?.order = order
        case .updated, .saved, .deleted, nil: break
        }
    }

    /// The server holds what was sent.
    mutating func confirm(_ sent: ContentHandle, as version: KnownVersion, order: UInt64) {
        let confirmed = self.sent.first { $0.handle == sent }
        let sentBase = confirmed.map(\.base)
        self.sent = []
        // This says nothing of a deletion that left later.
        if confirmed?.isBehindDeletion == true { isDeletionSent = false }
        let isAnswered = pending?.handle == sent
        // A model made by a conflict is news for the app until it has accepted it.
        let isNews = if case .updated? = undelivered?.kind { true } else { false }
        // The feed may have told first that somebody else has saved on top of this. What it was made on is older.
        let isOvertaken = known.map { $0.handle != sentBase && $0.isNewer(than: version) } ?? false
        if !isOvertaken { known = version }
        // The server now holds what the app has seen.
        if seen == sent { seen = version.handle }
        if isAnswered {
            pending = nil
            if isOvertaken || isNews {
                deliverServerValue(order: order)
            } else {
                undelivered = Undelivered(kind: .saved(version.handle), seen: version.handle, order: order)
            }
        } else if let pending, !pending.isDeletion, let sentBase, sentBase == pending.base {
            // The newer edit was made by somebody who knew what is now confirmed: the app, or a conflict.
            self.pending?.base = version.handle
        }
    }

    /// A conflict with the cloud's last word is decided.
    mutating func resolve(_ resolution: Resolution, on server: ContentHandle?, order: UInt64) {
        // What was sent on this very version may still turn up on the server; what was sent on an older one
        // would have been refused since.
        sent.removeAll { $0.base != server }
        switch resolution {
        case .confirmed: break
        case .client:
            pending?.base = server
            pending?.contested = nil
        case .redated(let handle, let size, let edited):
            // The same model, so what is still undelivered refers to this copy.
            if isPendingNews { undelivered?.kind = .updated(handle) }
            if undelivered?.seen == pending?.handle { undelivered?.seen = handle }
            if isPendingSeen { seen = handle }
            pending = LocalChange(kind: .save(handle, size: size), edited: edited, base: server)
        case .merged(let handle, let size, let edited):
            pending = LocalChange(kind: .save(handle, size: size), edited: edited, base: server)
            undelivered = Undelivered(kind: .updated(handle), seen: handle, order: order)
        case .server:
            pending = nil
            deliverServerValue(order: order)
        case .failed(let reason):
            pending?.parked = reason
            deliverServerValue(order: order)
        }
    }

    /// The app accepts contents late: newer contents that it has seen since, such as its own upload, stay seen.
    mutating func seeLate(_ version: ContentHandle?) {
        guard let seen else { return self.seen = version }
        if let version {
            self.seen = newer(seen, version)
        } else if seen != known?.handle {
            self.seen = nil
        }
    }

    /// The pending edit is one that a conflict made, and the app has still to be told of it.
    var isPendingNews: Bool {
        guard let handle = pending?.handle else { return false }
        return undelivered?.kind == .updated(handle)
    }

    mutating func repoint(from former: ContentHandle, to handle: ContentHandle) {
        if seen == former { seen = handle }
        if pending?.base == former { pending?.base = handle }
        if undelivered?.seen == former { undelivered?.seen = handle }
        for index in sent.indices where sent[index].base == former { sent[index].base = handle }
    }

    /// What the cloud says last is what the app is to be told.
    mutating func deliverServerValue(order: UInt64) {
        if let known {
            undelivered = Undelivered(kind: .updated(known.handle), seen: known.handle, order: order)
        } else if let lost {
            undelivered = Undelivered(kind: .updated(lost.handle), seen: nil, order: order)
        } else {
            undelivered = Undelivered(kind: .deleted, seen: nil, order: order)
        }
    }
}
