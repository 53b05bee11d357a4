/// Everything that the engine stores about one record: a few words, and handles to contents.
package struct RecordState: Equatable, Sendable {
    /// The latest version from the cloud; `nil` if the cloud does not have the record.
    package var known: KnownVersion?
    /// The version that the cloud had before the zone was lost; it is uploaded again before any edit.
    package var lost: KnownVersion?
    /// The last version that this app could read, while ``lastKnown`` is too new for it.
    package var kept: KeptVersion?
    /// Whether the server refused the lost version.
    package var isLostRefused = false
    /// The version that the app got last: its models carry the system fields of this version.
    package var given: ContentHandle?
    /// What the app has now, if it differs from the version that it got: its own uploads, or an edit on top
    /// of that version.
    package var copy: ContentHandle?
    package var pending: LocalChange?
    /// Contents of requests with an unknown outcome, which the server may have saved.
    package var sent: [SentVersion] = []
    /// Whether a request to delete the record was sent and its outcome is unknown.
    package var isDeletionSent = false
    package var undelivered: Undelivered?
    /// The number of the last full listing that contained the record.
    package var listing: UInt64 = 0
    /// Whether the record must be looked up because the feed reported a change that could not be read.
    package var mustLookUp = false
    /// The record's type.
    package var type = RecordTypeNumber.unknown

    package init() {}

    /// Whether the pending edit is not based on the cloud's latest version, so that the two must be
    /// reconciled.
    package var isInConflict: Bool {
        guard let pending, !pending.isDeletion, pending.parked == nil, lost == nil, !isTooNew else {
            return false
        }
        return pending.base != known?.handle || pending.isUndecided
    }

    /// Whether this device deleted the record, so that its absence from the cloud is not delivered as a
    /// change.
    package var isOwnDeletion: Bool {
        // If nothing is pending, the app has seen the record again since deleting it.
        guard let pending, pending.parked == nil || isParkedAsTooNew else { return false }
        return isDeletionSent || pending.isDeletion
    }

    package var isSendable: Bool {
        if lost != nil { return !isLostRefused }
        guard let pending, pending.parked == nil, !isTooNew else { return false }
        return pending.isDeletion || (pending.base == known?.handle && !pending.isUndecided)
    }

    /// Whether reads show the pending change rather than the cloud's latest version.
    package var isPendingOnTop: Bool {
        guard let pending else { return false }
        // A newer version of the app has yet to decide.
        guard let reason = pending.parked, !isParkedAsTooNew else { return true }
        return !reason.isConflict && pending.base == readable?.handle
    }

    /// Whether the record has a version from the current zone, which is lost with the zone.
    package var hasVersions: Bool {
        // If the pending edit has no base, the app has only seen its own contents.
        lastKnown != nil || pending?.base != nil || (seen != nil && pending == nil)
    }

    /// The newest contents that the app got or uploaded: the base of its next upload.
    ///
    /// An edit of what this device shows leaves this unchanged, since the app may still hold older contents.
    package var seen: ContentHandle? { copy ?? given }

    /// Marks contents as given to the app: by a stream, or by a read.
    ///
    /// - Parameters:
    ///   - contents: A version from the cloud, or an edit.
    ///   - version: That version, or the one below the edit, whose system fields the model carried.
    package mutating func give(_ contents: ContentHandle?, of version: ContentHandle?) {
        // If the app has these contents already, it may have been given a newer version of them.
        given = contents == seen ? newer(given, version) : version
        copy = contents == given ? nil : contents
    }

    /// Whether the app has received or uploaded the pending edit.
    var isPendingSeen: Bool {
        guard let handle = pending?.handle else { return false }
        return seen == handle
    }

    /// The newer of two contents that the app has seen: the pending edit if it is on top, else the cloud's
    /// latest version, else the contents with the greater handle.
    func newer(_ first: ContentHandle?, _ second: ContentHandle?) -> ContentHandle? {
        guard let first, let second else { return first ?? second }
        if isPendingOnTop, let edit = pending?.handle, first == edit || second == edit { return edit }
        if let known = readableAncestor?.handle, first == known || second == known { return known }
        return max(first, second)
    }

    /// Whether reads may show these contents.
    func holds(_ handle: ContentHandle) -> Bool {
        known?.handle == handle || readable?.handle == handle || pending?.handle == handle
    }

    /// Forgets the cloud's latest version, so that it is fetched again and reconciled with the edit.
    mutating func forgetKnownVersion() {
        // A change that was parked because of a newer version stays parked: that version is fetched again.
        kept = nil
        known = nil
        forgetGivenVersion()
        pending?.base = nil
    }

    /// Forgets the version that the app got, which is no longer an ancestor.
    ///
    /// The app's own copy is kept below a pending edit, whose base is the ancestor.
    mutating func forgetGivenVersion() {
        given = nil
        if pending?.handle == nil || pending?.parked?.isConflict == true { copy = nil }
    }

    /// Whether there is nothing left to store.
    package var isEmpty: Bool { lastKnown == nil && pending == nil && undelivered == nil && !mustLookUp }
}
