import RecordCoding

/// Journal entries about send requests.
package enum SendEntry: Equatable, Sendable {
    /// The next request sends these contents; its response may be lost.
    case began([SentContents])
    /// The server has saved what was sent; the type is given again, since the line with the edit may be lost.
    case saved(RecordKey, type: ExactName?, sent: ContentHandle, KnownVersion)
    /// The server no longer has the deleted record.
    case deletionConfirmed(RecordKey)
    /// A change is parked.
    case parked(RecordKey, ParkReason)

    /// Whether the cloud would repeat it: a save whose confirmation is lost is recognised as this device's
    /// own.
    var isRepeatable: Bool {
        switch self {
        case .saved: true
        case .began, .deletionConfirmed, .parked: false
        }
    }
}

/// Contents that are about to be sent, without a handle for a deletion.
package struct SentContents: Equatable, Sendable, RecordKeyed {
    package var key: RecordKey
    package var handle: ContentHandle?

    package init(key: RecordKey, handle: ContentHandle?) {
        self.key = key
        self.handle = handle
    }
}

extension SyncState {
    mutating func apply(sending entry: SendEntry) {
        switch entry {
        case .began(let contents): applyBegan(contents)
        case .saved(let key, let type, let sent, let version): applySaved(key, type, sent, version)
        case .deletionConfirmed(let key): applyDeletionConfirmed(key)
        case .parked(let key, let reason): applyParked(key, reason)
        }
    }

    private mutating func applyBegan(_ contents: [SentContents]) {
        if let zone = contents.first(where: { $0.handle != nil })?.key.zone {
            changeZone(zone) { $0.beginSaving() }
        }
        for content in contents {
            guard let handle = content.handle else {
                change(content.key) { record in
                    record.isDeletionSent = true
                    for index in record.sent.indices { record.sent[index].isBehindDeletion = false }
                }
                continue
            }
            change(content.key) { record in
                guard !record.sent.contains(where: { $0.handle == handle }) else { return }
                let base = record.pending?.handle == handle ? record.pending?.base : record.known?.handle
                record.sent.append(
                    SentVersion(handle: handle, base: base, isBehindDeletion: record.isDeletionSent)
                )
            }
        }
    }

    mutating func applySaved(
        _ key: RecordKey,
        _ type: ExactName?,
        _ sent: ContentHandle,
        _ version: KnownVersion
    ) {
        let news = nextNews()
        let listing = zone(key.zone).listing
        let type = type ?? recordType(of: key)
        let (version, keepsTags) = (judged(version, of: type), carriesTags(type))
        if zone(key.zone).unfetched.last?.isEmpty == true {
            changeZone(key.zone) { $0.noteSaved(as: version.changeTag) }
        }
        var isSaved = false
        change(key, of: type) { record in
            // A version that was already known does not show what the server has now.
            if record.known?.handle != version.handle { record.listing = listing }
            if record.lost?.handle == sent {
                record.confirmLost(as: version, keepsTags: keepsTags, news)
            } else {
                isSaved = record.confirm(sent, as: version, keepsTags: keepsTags, news)
            }
        }
        if isSaved { noteSaved(key) }
    }

    mutating func applyDeletionConfirmed(_ key: RecordKey) {
        change(key) { record in
            record.endTooNew()
            record.server.forgetKnown()
            record.carried = CarriedTags()
            record.sent = []
            record.isDeletionSent = false
            record.tellNothing()
            if record.pending?.isDeletion == true {
                record.pending = nil
            } else {
                // Uploaded again while the deletion was in flight: created as a new record, without the old
                // change tag.
                record.pending?.on.forgetVersion()
            }
        }
    }

    private mutating func applyParked(_ key: RecordKey, _ reason: ParkReason) {
        let news = nextNews()
        change(key) { record in
            // If a version was lost with its zone, that version was sent; a pending edit is parked already,
            // or now.
            if record.pending?.parked != nil, let lost = record.lost {
                record.server = .lost(lost, isRefused: true)
            } else {
                if record.pending == nil { record.queueLost() }
                record.pending?.parked = reason
                // The deletion was not done; if the record disappears now, another device has deleted it.
                if record.pending?.isDeletion == true { record.isDeletionSent = false }
                // Reads no longer show it.
                if reason.isConflict, !record.isParkedAsTooNew { record.tellServerValue(news) }
            }
        }
    }
}
