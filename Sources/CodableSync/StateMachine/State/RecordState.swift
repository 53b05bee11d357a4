import RecordCoding

/// Everything that the engine stores about one record: a few words, and handles to contents.
package struct RecordState: Equatable, Sendable {
    package var server = ServerVersion.none
    /// The latest change that streams of `changes` tell or have told; `nil` if there is none.
    ///
    /// A record that changes forgets what was told before, so that the rules see only what was not.
    package var news: RecordNews?
    /// The number of the last full listing that contained the record.
    package var listing: UInt64 = 0
    /// Whether the record must be looked up because the feed reported a change that could not be read.
    package var mustLookUp = false
    /// The record's type.
    package var type = RecordTypeNumber.unknown
    /// What most records don't have; `nil` if this one has none of it.
    private var more: Boxed<Parts>?

    package init() {}

    /// The last version that this app could read, while the server's is too new for it.
    package var kept: KnownVersion? {
        get { more?.value.kept }
        set { change { $0.kept = newValue } }
    }

    /// The tags of replaced versions that the app's models may still carry; empty unless the type's models carry
    /// system fields.
    package var carried: CarriedTags {
        get { more?.value.carried ?? CarriedTags() }
        set { change { $0.carried = newValue } }
    }

    package var pending: LocalChange? {
        get { more?.value.pending }
        set { change { $0.pending = newValue } }
    }

    /// Contents of requests with an unknown outcome, which the server may have saved.
    package var sent: [SentVersion] {
        get { more?.value.sent ?? [] }
        set { change { $0.sent = newValue } }
    }

    /// Whether a request to delete the record was sent and its outcome is unknown.
    package var isDeletionSent: Bool {
        get { more?.value.isDeletionSent ?? false }
        set { change { $0.isDeletionSent = newValue } }
    }

    /// Requests that may still reach the server.
    package var late: LateRequests {
        get { more?.value.late ?? LateRequests() }
        set { change { $0.late = newValue } }
    }

    private mutating func change(_ body: (inout Parts) -> Void) {
        var parts = more?.value ?? Parts()
        body(&parts)
        more = parts == Parts() ? nil : .value(parts)
    }

    /// The latest version in the current zone.
    package var known: KnownVersion? { if case .known(let version) = server { version } else { nil } }

    /// The version that was lost with its zone, while the cloud does not have the record again.
    package var lost: KnownVersion? { if case .lost(let version, _) = server { version } else { nil } }

    /// The latest version that the cloud has, or had before the zone was lost.
    package var lastKnown: KnownVersion? { server.version }

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
        // If nothing is pending, the record was uploaded again since.
        guard let pending, pending.parked == nil || isParkedAsTooNew else { return false }
        return isDeletionSent || pending.isDeletion
    }

    package var isSendable: Bool {
        if case .lost(_, let isRefused) = server { return !isRefused }
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

    /// Whether reads show a version of the cloud, without an edit on top.
    package var showsVersion: Bool { readable != nil && !isPendingOnTop }

    /// Whether the record has a version from the current zone, which is lost with the zone.
    package var hasVersions: Bool {
        lastKnown != nil || pending?.base != nil || server.deleted != nil
    }

    /// Whether reads may show these contents.
    func holds(_ handle: ContentHandle) -> Bool {
        known?.handle == handle || readable?.handle == handle || pending?.handle == handle
    }

    /// Forgets the cloud's latest version, so that it is fetched again and reconciled with the edit.
    mutating func forgetKnownVersion() {
        // A change that was parked because of a newer version stays parked: that version is fetched again.
        kept = nil
        if known != nil { news = nil }
        server.forgetKnown()
        carried = CarriedTags()
        pending?.on.forgetVersion()
    }

    /// Whether there is nothing left to store.
    package var isEmpty: Bool {
        lastKnown == nil && pending == nil && !server.isDeletion && !mustLookUp && late.isEmpty
    }
}

extension RecordState {
    /// The parts that few records have, in a place of their own, so that the others are small.
    private struct Parts: Equatable, Sendable {
        var kept: KnownVersion?
        var carried = CarriedTags()
        var pending: LocalChange?
        var sent: [SentVersion] = []
        var isDeletionSent = false
        var late = LateRequests()
    }
}
