/// What the engine reads from the state for the app's calls.
extension SyncState {
    /// The contents that reads show: a pending edit if it is on top, else the cloud's latest version.
    package func shownHandle(of name: String) -> ContentHandle? { self[name]?.shownHandle }

    /// The version on which an edit of a record would be based now.
    ///
    /// - Parameters:
    ///   - name: The record's name.
    ///   - isTelling: Whether a stream has yet to tell the app about a deletion of the record.
    /// - Returns: The basis.
    package func editBasis(of name: String, isTelling: Bool = false) -> EditBasis {
        var basis = EditBasis(name: name)
        guard let record = self[name] else { return basis }
        basis.newer = record.isTooNew ? record.lastKnown?.schema : nil
        basis.shown = record.shownHandle
        if basis.shown != nil {
            basis.on =
                record.isPendingOnTop
                ? record.pending?.on ?? EditBase(nil) : EditBase(record.readable?.handle)
        } else if let pending = record.pending, pending.isDeletion {
            basis.on = EditBase(pending.base)
        } else if isTelling {
            basis.on = EditBase(record.server.deleted)
            basis.isDeletionNews = basis.on.version != nil
        }
        return basis
    }

    /// The records with an unconfirmed change: first those that can be sent, in order, then the others.
    package var pendingKeys: [RecordKey] {
        // A parked change is listed at the end, even if a lost version of its record is being sent again.
        sendQueue.keys.filter { !parkedQueue.contains($0) } + Array(conflictQueue.keys)
            + Array(parkedQueue.keys)
    }
}

/// Why reads do not show a record.
package enum Absence: Equatable, Sendable {
    case unknown
    case deleted
    /// A newer version of the app has written it, and this one never had a version that it could read.
    case tooNew
}

/// The contents that reads show of a record, and the version below them if they are an edit.
package struct ShownVersion: Equatable, Sendable {
    package var handle: ContentHandle
    package var below: ContentHandle?
}

extension RecordState {
    /// The contents that reads show.
    var shownHandle: ContentHandle? { shown?.handle }

    /// What reads show: a pending edit if it is on top, else the latest version that this app can read.
    package var shown: ShownVersion? {
        if isPendingOnTop {
            guard let pending, let handle = pending.handle else { return nil }
            return ShownVersion(handle: handle, below: pending.on.below)
        }
        return readable.map { version in
            ShownVersion(handle: version.handle, below: sent.first { $0.handle == version.handle }?.base)
        }
    }
}

/// The version on which an edit of a record is based; it changes with the record.
package struct EditBasis: Equatable, Sendable {
    package var name: String
    /// The contents that reads show; `nil` if they show none.
    package var shown: ContentHandle?
    /// What the edit would be made on.
    package var on = EditBase(nil)
    /// The schema version of the cloud's latest version if this app can't read that, so that it can't edit
    /// the record.
    package var newer: SchemaVersion?
    /// Whether another device has deleted the record and the app has not been notified yet.
    package var isDeletionNews = false
    /// Whether this device has no such record, or has deleted it.
    ///
    /// The record may be another user's: a screen may still show what it got before a switch.
    package var isUnknown: Bool { shown == nil && !isDeletionNews && newer == nil }

    package init(name: String) {
        self.name = name
    }
}

extension RecordState {
    /// What the state knows about a record that reads don't show.
    package var absence: Absence {
        if pending?.isDeletion == true || server.isDeletion { return .deleted }
        return isTooNew ? .tooNew : .unknown
    }
}
