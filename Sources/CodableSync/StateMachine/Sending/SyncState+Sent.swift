import RecordCoding

import struct Foundation.Date

/// Requests that change the cloud, and their results.
extension SyncState {
    /// Notes that the next request sends these contents; its response may be lost.
    ///
    /// - Parameters:
    ///   - items: What it sends.
    ///   - date: The date of now.
    package mutating func beginSending(_ items: [SendItem], at date: Date) {
        promise()
        if let zone = items.first(where: { $0.handle != nil })?.key.zone {
            changeZone(zone) { $0.beginSaving() }
        }
        for item in items {
            guard let handle = item.handle else {
                change(item.key) { record in
                    record.late.noteDeletion(at: date, isUnanswered: record.isDeletionSent)
                    record.isDeletionSent = true
                    for index in record.sent.indices { record.sent[index].isBehindDeletion = false }
                }
                continue
            }
            change(item.key) { record in
                record.noteCreation(handle)
                guard !record.sent.contains(where: { $0.handle == handle }) else { return }
                let base = record.pending?.handle == handle ? record.pending?.base : record.known?.handle
                record.sent.append(
                    SentVersion(handle: handle, base: base, isBehindDeletion: record.isDeletionSent)
                )
            }
        }
        // The oldest are forgotten, and deletions that can no longer arrive.
        for key in lateQueue.keys where self[key]?.late.isOver(at: date) == true {
            change(key) { $0.late.deletion = nil }
        }
        while lateQueue.count > LateRequests.maximumRecords, let key = lateQueue.first {
            change(key) { $0.late = LateRequests() }
        }
    }

    /// Notes that a request has failed as a whole: its deletions were not done, or are on their way from now on.
    ///
    /// - Parameters:
    ///   - items: What it was to send.
    ///   - error: Why it failed.
    ///   - date: The date of now, since a request may have waited for long before it left.
    package mutating func noteFailure(of items: [SendItem], _ error: CloudError, at date: Date) {
        for item in items where item.handle == nil && self[item.key]?.late.deletion != nil {
            change(item.key) { record in
                if error.hasNotLeft {
                    record.late.noteDeletionEnded()
                } else {
                    record.late.deletion?.date = date
                }
            }
        }
    }

    /// Notes that the server has saved what was sent; a lost confirmation is recognised as this device's own save.
    ///
    /// - Parameters:
    ///   - sent: What was sent.
    ///   - key: The record.
    ///   - version: The version as which it was saved.
    package mutating func confirm(_ sent: ContentHandle, of key: RecordKey, as version: KnownVersion) {
        let news = nextNews()
        let listing = zone(key.zone).listing
        let type = recordType(of: key)
        let (version, keepsTags) = (judged(version, of: type), carriesTags(type))
        if zone(key.zone).unfetched.last?.isEmpty == true {
            changeZone(key.zone) { $0.noteSaved(as: version.changeTag) }
        }
        var isSaved = false
        change(key, of: type) { record in
            // A version that was already known does not show what the server has now.
            if record.known?.handle != version.handle { record.listing = listing }
            record.late.noteThere(sent)
            if record.lost?.handle == sent {
                record.confirmLost(as: version, keepsTags: keepsTags, news)
            } else {
                isSaved = record.confirm(sent, as: version, keepsTags: keepsTags, news)
            }
        }
        if isSaved { noteSaved(key) }
    }

    /// Notes that the server no longer has the deleted record.
    ///
    /// - Parameters:
    ///   - key: The record.
    ///   - isAnswer: Whether the server has said so in its answer to the request that deletes the record.
    package mutating func confirmDeletion(of key: RecordKey, isAnswer: Bool = false) {
        promise()
        change(key) { record in
            if isAnswer { record.late.noteDeletionEnded() }
            // A model made by a conflict since then, or an earlier deletion by another device, which the app does not
            // know yet.
            let isStillNews = record.isPendingNews || record.server.isDeletion
            record.late.noteDeleted(record.lastKnown)
            record.endTooNew()
            record.server.forgetKnown()
            record.carried = CarriedTags()
            record.sent = []
            record.isDeletionSent = false
            if !isStillNews { record.news = nil }
            if record.pending?.isDeletion == true {
                record.pending = nil
            } else {
                // Uploaded again while the deletion was in flight: created as a new record, without the old
                // change tag.
                record.pending?.on.forgetVersion()
            }
        }
    }

    /// Parks a change.
    package mutating func park(_ key: RecordKey, _ reason: ParkReason) {
        promise()
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
                if record.pending?.isDeletion == true {
                    record.isDeletionSent = false
                    record.late.noteDeletionEnded()
                }
                // Reads no longer show it.
                if reason.isConflict, !record.isParkedAsTooNew { record.tellServerValue(news) }
            }
        }
    }
}
