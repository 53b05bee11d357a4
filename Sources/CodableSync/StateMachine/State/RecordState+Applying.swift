import struct Foundation.Date

// How journal entries change one record.

extension RecordState {
    /// Replaces the stored copy of the known version, since the former copy may be unreadable.
    mutating func takeCopy(of version: KnownVersion, order: UInt64) {
        guard let former = known else { return }
        server.changeVersion { $0.handle = version.handle }
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

    /// Records that the server has saved what was sent.
    mutating func confirm(
        _ sent: ContentHandle,
        as version: KnownVersion,
        keepsTags: Bool,
        order: UInt64
    ) {
        let confirmed = self.sent.first { $0.handle == sent }
        let sentBase = confirmed.map(\.base)
        self.sent = []
        // The confirmation does not settle a deletion that was sent later.
        if confirmed?.isBehindDeletion == true { isDeletionSent = false }
        let isAnswered = pending?.handle == sent
        // A model made by a conflict stays undelivered until the app accepts it.
        let isNews = if case .updated? = undelivered?.kind { true } else { false }
        // The feed may already have reported a later save by another device. The sent version's base is no
        // such save.
        let isOvertaken = known.map { $0.handle != sentBase && $0.isNewer(than: version) } ?? false
        if !isOvertaken {
            if !version.isTooNew { endTooNew() }
            let base = sentBase ?? (isAnswered ? pending?.base : nil)
            confirmKnown(as: version, over: base, keepsTags: keepsTags)
        } else if isTooNew {
            kept = .version(version)
        }
        if isAnswered {
            pending = nil
            if isOvertaken || isNews {
                deliverServerValue(order: order)
            } else {
                undelivered = Undelivered(kind: .saved(version.handle), order: order)
            }
        } else if let pending, let sentBase, sentBase == pending.base {
            // The app or a conflict made the newer change on top of what is now confirmed.
            self.pending?.on.move(to: version.handle, contested: pending.on.contested)
            // What was merged is now in the cloud's version.
            if pending.on.sides.isEmpty { self.pending?.on.isMerged = false }
        }
    }

    /// Applies the resolution of a conflict with the cloud's latest version.
    ///
    /// A decision between two edits of this device keeps the base that they have, and the conflicts that are left.
    mutating func resolve(_ resolution: Resolution, on server: ContentHandle?, order: UInt64) {
        let former = pending
        let side = former?.on.sides.last
        // The server may still save what was sent on top of this version; it refuses what was sent on an
        // older one.
        if side == nil {
            sent.removeAll { $0.base != server }
            carried.settle(isOwn: false)
        }
        func result(_ handle: ContentHandle, size: Int, edited: Date?) -> LocalChange {
            let kind = LocalChange.Kind.save(handle, size: size)
            guard let former, side != nil else {
                return LocalChange(kind: kind, edited: edited, base: server)
            }
            var on = former.on
            on.endSide()
            on.isMerged = true
            return LocalChange(kind: kind, edited: edited, on: on)
        }
        switch resolution {
        case .confirmed: break
        case .client where side != nil: pending?.on.endSide()
        case .client:
            pending?.on.move(to: server)
        case .redated(let handle, let size, let edited):
            // The new copy holds the same model, so the undelivered change refers to it.
            if isPendingNews { undelivered?.kind = .updated(handle) }
            pending = result(handle, size: size, edited: edited)
            pending?.earlier = former?.earlier ?? []
        case .merged(let handle, let size, let edited):
            pending = result(handle, size: size, edited: edited)
            pending?.on.isMerged = true
            undelivered = Undelivered(kind: .updated(handle), order: order)
        case .server:
            if let side, former?.on.isOnlyAgainst(side) != true, case .save(_, let size)? = former?.kind {
                pending = result(side.edit, size: size, edited: former?.edited)
                if let base = former?.base { pending?.on.move(to: base, contested: side.contested) }
                undelivered = Undelivered(kind: .updated(side.edit), order: order)
            } else {
                pending = nil
                deliverServerValue(order: order, over: former?.base)
                // What a screen shows has this device's edit.
                if let base = former?.base { carried.point(base, to: former?.handle) }
            }
        case .failed(let reason):
            pending?.parked = reason
            deliverServerValue(order: order, over: former?.base)
        }
    }

    /// Whether a conflict made the pending edit and the app has not accepted it yet.
    var isPendingNews: Bool {
        guard let handle = pending?.handle else { return false }
        return undelivered?.kind == .updated(handle)
    }

    /// Points everything that names contents to others that are equal.
    mutating func repoint(from former: ContentHandle, to handle: ContentHandle) {
        pending?.on.repoint(from: former, to: handle)
        for index in sent.indices where sent[index].base == former { sent[index].base = handle }
    }

    /// Queues the latest version that this app can read, or its absence, for delivery to the app.
    ///
    /// - Parameters:
    ///   - order: The delivery order.
    ///   - base: The version that the cloud had before, if it can be an ancestor.
    mutating func deliverServerValue(order: UInt64, over base: ContentHandle? = nil) {
        guard let readable else { return deliverDeletion(of: lastKnown == nil ? base : nil, order: order) }
        undelivered = Undelivered(kind: .updated(readable.handle), order: order)
    }

    /// Queues the record's deletion for delivery to the app.
    ///
    /// - Parameters:
    ///   - version: The version that was deleted, on which an upload is based until the app accepts the deletion;
    ///     `nil` if it cannot be an ancestor.
    ///   - order: The delivery order.
    mutating func deliverDeletion(of version: ContentHandle?, order: UInt64) {
        undelivered = Undelivered(kind: .deleted, former: version, order: order)
    }
}
