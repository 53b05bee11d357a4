import struct Foundation.Date

// What changes do to one record.

extension RecordState {
    /// Replaces the stored copy of the known version, since the former copy may be unreadable.
    mutating func takeCopy(of version: KnownVersion, _ news: RecordNews?) {
        guard let former = known else { return }
        server.changeVersion { $0.handle = version.handle }
        repoint(from: former.handle, to: version.handle)
        if self.news?.isUndecodable == true { self.news = news }
    }

    /// Records that the server has saved what was sent.
    ///
    /// - Returns: Whether reads show what was saved, so that a live stream tells it as such.
    mutating func confirm(
        _ sent: ContentHandle,
        as version: KnownVersion,
        keepsTags: Bool,
        _ news: RecordNews?
    ) -> Bool {
        let confirmed = self.sent.first { $0.handle == sent }
        let sentBase = confirmed.map(\.base)
        self.sent = []
        // The confirmation does not settle a deletion that was sent later.
        if confirmed?.isBehindDeletion == true { isDeletionSent = false }
        let isAnswered = pending?.handle == sent
        // A model made by a conflict is told as such until the app knows it.
        let isUpdate = self.news?.isSaved == false
        // The feed may already have reported a later save by another device. The sent version's base is no
        // such save.
        let isOvertaken = known.map { $0.handle != sentBase && $0.isNewer(than: version) } ?? false
        if !isOvertaken {
            if !version.isTooNew { endTooNew() }
            let base = sentBase ?? (isAnswered ? pending?.base : nil)
            confirmKnown(as: version, over: base, keepsTags: keepsTags)
        } else if isTooNew {
            kept = version
        }
        if isAnswered {
            pending = nil
            tellServerValue(news)
            self.news?.isSaved = !isOvertaken && !isUpdate
        } else if let pending, let sentBase, sentBase == pending.base {
            // The app or a conflict made the newer change on top of what is now confirmed.
            self.pending?.on.move(to: version.handle, contested: pending.on.contested)
            // What was merged is now in the cloud's version.
            if pending.on.sides.isEmpty { self.pending?.on.isMerged = false }
        }
        return isAnswered && !isOvertaken
    }

    /// Applies the resolution of a conflict with the cloud's latest version.
    ///
    /// A decision between two edits of this device keeps the base that they have, and the conflicts that are left.
    mutating func resolve(_ resolution: Resolution, on server: ContentHandle?, _ news: RecordNews?) {
        let former = pending
        let side = former?.on.sides.last
        // The server may still save what was sent on top of this version; it refuses what was sent on an
        // older one.
        if side == nil {
            sent.removeAll { $0.base != server }
            carried.settle(isOwn: false)
        }
        func result(_ handle: ContentHandle, size: Int, edited: Date?, hash: UInt64?) -> LocalChange {
            var on = EditBase(server)
            if let former, side != nil {
                on = former.on
                on.endSide()
                on.isMerged = true
            }
            var change = LocalChange(kind: .save(handle, size: size), edited: edited, on: on)
            change.hash = hash
            return change
        }
        switch resolution {
        case .confirmed: break
        case .client where side != nil: pending?.on.endSide()
        case .client:
            pending?.on.move(to: server)
        case .redated(let handle, let size, let edited, let hash):
            pending = result(handle, size: size, edited: edited, hash: hash)
            pending?.earlier = former?.earlier ?? []
        case .merged(let handle, let size, let edited, let hash):
            pending = result(handle, size: size, edited: edited, hash: hash)
            pending?.on.isMerged = true
            self.news = news
        case .server:
            if let side, former?.on.isOnlyAgainst(side) != true, case .save(_, let size)? = former?.kind {
                pending = result(side.edit, size: size, edited: former?.edited, hash: nil)
                if let base = former?.base { pending?.on.move(to: base, contested: side.contested) }
                self.news = news
            } else {
                pending = nil
                tellServerValue(news, over: former?.base)
                // What a screen shows has this device's edit.
                if let base = former?.base { carried.point(base, to: former?.handle) }
            }
        case .failed(let reason):
            pending?.parked = reason
            tellServerValue(news, over: former?.base)
        }
    }

    /// Points everything that names contents to others that are equal.
    mutating func repoint(from former: ContentHandle, to handle: ContentHandle) {
        pending?.on.repoint(from: former, to: handle)
        for index in sent.indices where sent[index].base == former { sent[index].base = handle }
    }
}
