import struct Foundation.Date

// How journal entries change one record.

extension RecordState {
    /// Replaces the stored copy of the known version, since the former copy may be unreadable.
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

    /// Records that the server has saved what was sent.
    mutating func confirm(_ sent: ContentHandle, as version: KnownVersion, order: UInt64) {
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
            known = version
        } else if isTooNew {
            kept = .version(version)
        }
        // The confirmed version is what the app has, but its models carry the version before it.
        if seen == sent { copy = version.handle }
        if given == sent { given = sentBase ?? nil }
        if isAnswered {
            pending = nil
            if isOvertaken || isNews {
                deliverServerValue(order: order)
            } else {
                undelivered = Undelivered(kind: .saved(version.handle), seen: version.handle, order: order)
            }
        } else if let pending, let sentBase, sentBase == pending.base {
            // The app or a conflict made the newer change on top of what is now confirmed.
            self.pending?.base = version.handle
            // What was merged is now in the cloud's version.
            if pending.sides.isEmpty { self.pending?.isMerged = false }
        }
    }

    /// Applies the resolution of a conflict with the cloud's latest version.
    ///
    /// A decision between two edits of this device keeps the base that they have, and the conflicts that are left.
    mutating func resolve(_ resolution: Resolution, on server: ContentHandle?, order: UInt64) {
        let former = pending
        let side = former?.sides.last
        // The server may still save what was sent on top of this version; it refuses what was sent on an
        // older one.
        if side == nil { sent.removeAll { $0.base != server } }
        func result(_ handle: ContentHandle, size: Int, edited: Date?) -> LocalChange {
            let kind = LocalChange.Kind.save(handle, size: size)
            var change = LocalChange(kind: kind, edited: edited, base: server)
            guard let former, side != nil else { return change }
            change.base = former.base
            change.contested = former.contested
            change.sides = former.sides.dropLast()
            change.isMerged = true
            return change
        }
        switch resolution {
        case .confirmed: break
        case .client where side != nil: pending?.sides.removeLast()
        case .client:
            pending?.base = server
            pending?.contested = nil
        case .redated(let handle, let size, let edited):
            // The new copy holds the same model, so the undelivered change refers to it.
            if isPendingNews { undelivered?.kind = .updated(handle) }
            if undelivered?.seen == pending?.handle { undelivered?.seen = handle }
            if isPendingSeen { copy = handle }
            pending = result(handle, size: size, edited: edited)
        case .merged(let handle, let size, let edited):
            pending = result(handle, size: size, edited: edited)
            pending?.isMerged = true
            undelivered = Undelivered(kind: .updated(handle), seen: handle, order: order)
        case .server:
            if let side, case .save(_, let size)? = former?.kind {
                pending = result(side.edit, size: size, edited: former?.edited)
                undelivered = Undelivered(kind: .updated(side.edit), seen: side.edit, order: order)
            } else {
                pending = nil
                deliverServerValue(order: order)
            }
        case .failed(let reason):
            pending?.parked = reason
            deliverServerValue(order: order)
        }
    }

    /// Marks contents as seen that the app accepts late, unless it has seen newer ones since, such as its own
    /// upload.
    mutating func seeLate(_ contents: ContentHandle?, of version: ContentHandle?) {
        guard let seen else { return give(contents, of: version) }
        guard let contents else {
            if seen != readableAncestor?.handle { forgetGivenVersion() }
            return
        }
        if let copy, copy != contents, isCopy(copy, newerThan: contents) {
            given = newer(given, version)
        } else if newer(seen, contents) == contents {
            give(contents, of: version)
        }
    }

    /// Whether the app has uploaded its copy after it got these contents.
    private func isCopy(_ copy: ContentHandle, newerThan contents: ContentHandle) -> Bool {
        let isOnTopOfIt = isPendingOnTop && pending?.base == contents && copy > contents
        return isOnTopOfIt || newer(copy, contents) == copy
    }

    /// Whether a conflict made the pending edit and the app has not accepted it yet.
    var isPendingNews: Bool {
        guard let handle = pending?.handle else { return false }
        return undelivered?.kind == .updated(handle)
    }

    /// Replaces a version by an equal one; the app's models still carry the former.
    mutating func rebase(from former: ContentHandle, to version: ContentHandle) {
        let carried = given
        repoint(from: former, to: version)
        guard carried == former else { return }
        given = carried
        copy = copy ?? version
    }

    mutating func repoint(from former: ContentHandle, to handle: ContentHandle) {
        if given == former { given = handle }
        if copy == former { copy = handle }
        if pending?.base == former { pending?.base = handle }
        if undelivered?.seen == former { undelivered?.seen = handle }
        for index in sent.indices where sent[index].base == former { sent[index].base = handle }
    }

    /// Queues the latest version that this app can read, or its absence, for delivery to the app.
    mutating func deliverServerValue(order: UInt64) {
        if let readable {
            // A version that was lost with its zone cannot be an ancestor.
            let seen = lost == nil ? readable.handle : nil
            undelivered = Undelivered(kind: .updated(readable.handle), seen: seen, order: order)
        } else {
            undelivered = Undelivered(kind: .deleted, seen: nil, order: order)
        }
    }
}
