import RecordCoding

import struct Foundation.Date

/// The engine's durable state: the result of applying the journal's entries in order.
package struct SyncState: Sendable {
    /// Diagnostics keep this many notes.
    static var maximumNotes: Int { 1000 }

    package private(set) var records = RecordTable<RecordState>()
    package private(set) var summary = StateSummary()
    /// Notes, oldest first.
    package private(set) var notes: [SyncNote] = []

    // Derived from the records, in the order in which the work arose.
    /// Records with a change that can be sent.
    package private(set) var sendQueue = RecordQueue()
    /// Records whose edit must be reconciled with the cloud's latest version.
    package private(set) var conflictQueue = RecordQueue()
    /// Records with a change to deliver to the app.
    package private(set) var deliveryQueue = RecordQueue()
    /// Records with a parked change.
    package private(set) var parkedQueue = RecordQueue()
    /// Records that must be looked up by name.
    package private(set) var unreadQueue = RecordQueue()
    /// The number of records that this device knows to be in the cloud.
    package private(set) var knownCount = 0
    /// The version with the latest date that the cloud has saved or returned.
    ///
    /// A cloud without that version has another history, for example because it was restored from a backup.
    package private(set) var newestKnown: KnownVersion?

    /// Records whose delivery was renewed since this was last drained; input for the streams, not part of the
    /// state.
    var renewed: [String] = []

    /// The values replaced since ``beginImage()``; `nil` if changes are not recorded.
    private var image: StateImage?

    /// Records that were changed since this was last drained and cannot be sent now; not part of the state.
    var unsendable: [String] = []

    package init() {}

    package subscript(name: String) -> RecordState? { records[name] }

    /// The number of changes that the server has not confirmed, parked ones included.
    package var pendingCount: Int { sendQueue.count + conflictQueue.count + parkedQueue.count }

    // MARK: Changing

    /// Changes one record and updates its membership in the queues; records change in no other way.
    mutating func change(_ name: String, _ body: (inout RecordState) -> Void) {
        let before = records[name]
        image?.records.append(StateImage.Former(name: name, record: before))
        var record = before ?? RecordState()
        body(&record)
        let after = record.isEmpty ? nil : record
        records[name] = after
        knownCount += (after?.known == nil ? 0 : 1) - (before?.known == nil ? 0 : 1)
        if let known = after?.known, known.handle != before?.known?.handle,
            newestKnown?.isNewer(than: known) != true
        {
            newestKnown = known
        }
        place(name, in: \.sendQueue, if: after?.isSendable == true)
        if after?.isSendable != true { unsendable.append(name) }
        place(name, in: \.conflictQueue, if: after?.isInConflict == true)
        place(name, in: \.parkedQueue, if: after?.pending?.parked != nil)
        place(name, in: \.unreadQueue, if: after?.isUnread == true)
        place(name, in: \.deliveryQueue, if: after?.undelivered != nil)
        noteDelivery(name, from: before?.undelivered, to: after?.undelivered)
    }

    private mutating func noteDelivery(
        _ name: String,
        from former: Undelivered?,
        to undelivered: Undelivered?
    ) {
        if let former, former.order != undelivered?.order, !summary.handedOut.isEmpty {
            summary.handedOut.replace(former.order, with: undelivered?.order)
        }
        if let undelivered, undelivered.order != former?.order {
            deliveryQueue.moveToEnd(name)
            renewed.append(name)
        }
    }

    private mutating func place(
        _ name: String,
        in queue: WritableKeyPath<SyncState, RecordQueue>,
        if belongs: Bool
    ) {
        if belongs {
            self[keyPath: queue].append(name)
        } else {
            self[keyPath: queue].remove(name)
        }
    }

    /// Forgets the newest known version, since the next zone may have another history.
    mutating func forgetNewestKnown() {
        newestKnown = nil
    }

    /// Drops the lists of changed records, which are of no use after the journal is replayed.
    package mutating func forgetWhatChanged() {
        renewed.removeAll(keepingCapacity: true)
        unsendable.removeAll(keepingCapacity: true)
    }

    mutating func changeSummary(_ body: (inout StateSummary) -> Void) {
        body(&summary)
    }

    /// Moves a record to the end, so that a record that keeps failing does not delay the others.
    mutating func moveToEndOfSendQueue(_ name: String) {
        if sendQueue.contains(name) { sendQueue.moveToEnd(name) }
    }

    mutating func keep(_ note: SyncNote) {
        notes.append(note)
        image?.noteCount += 1
        if notes.count > Self.maximumNotes * 2 { notes.removeFirst(notes.count - Self.maximumNotes) }
    }

    // MARK: Undoing changes

    /// Starts recording the values that changes replace.
    mutating func beginImage() {
        image = StateImage(summary: summary, newestKnown: newestKnown)
    }

    mutating func endImage() -> StateImage {
        defer { image = nil }
        return image ?? StateImage()
    }

    /// Restores the values that do not belong to a single record.
    mutating func restoreSummary(of image: StateImage) {
        summary = image.summary
        newestKnown = image.newestKnown
        notes.removeLast(min(image.noteCount, notes.count))
    }

    /// The number that marks the next delivery.
    mutating func nextDeliveryOrder() -> UInt64 {
        summary.deliveryOrder &+= 1
        return summary.deliveryOrder
    }
}
