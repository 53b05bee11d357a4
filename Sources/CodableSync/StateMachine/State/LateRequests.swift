import struct Foundation.Date

/// A creation that was sent: a save without a change tag, which the server refuses only while it has the record.
package struct SentCreation: Equatable, Sendable {
    /// The contents, which need not be stored any more.
    package var handle: ContentHandle
    /// The hash of the contents; see ``KnownVersion/hash``.
    package var hash: UInt64
    /// When the user made the edit, which the record carries; for a lost version, when it was saved, which is later.
    package var edited: Date
    /// Whether it was a version that the cloud had lost.
    package var isLost = false
    /// Whether more than one request carried it, so that an answer to one says nothing about the others.
    package var isRepeated: Bool
    /// Whether the record was deleted since it was sent, by this device or another one.
    package var isDeleted = false
    /// Whether a request without an answer carried it as an edit, too, so that it may have replaced a version.
    package var isEdit = false

    /// Whether a version has its contents and the date of its edit.
    func isSame(as version: KnownVersion, edited: Date?) -> Bool {
        guard hash == version.hash, let edited else { return false }
        return isLost ? edited <= self.edited : edited == self.edited
    }

    package init(handle: ContentHandle, hash: UInt64, edited: Date, isRepeated: Bool = false) {
        self.handle = handle
        self.hash = hash
        self.edited = edited
        self.isRepeated = isRepeated
    }
}

/// A deletion that was sent; the server carries it out whatever the record has become.
package struct SentDeletion: Equatable, Sendable {
    /// When it was sent last, or given up.
    package var date: Date
    /// How many requests with it have no answer, each of which may delete one upload.
    package var count: Int

    package init(date: Date, count: Int = 1) {
        self.date = date
        self.count = count
    }
}

/// The requests about a record that may still reach the server, although they were given up.
///
/// The network delivers what was sent when it can. A creation that comes behind the record's deletion would undo it. It is
/// recognised by its contents and the date of its edit, and is deleted again; nobody who uploads it again gives it the
/// same date. A deletion that comes behind a later upload would remove that one. Nothing tells it from the deletion of
/// another device, so for some minutes every deletion counts as late, and the record is uploaded again.
package struct LateRequests: Equatable, Sendable {
    package var creations: [SentCreation] = []
    package var deletion: SentDeletion?
    /// The server's date of the last version before the deletion; a late creation is later.
    package var lastModified: Date?

    /// How long a deletion may be on its way: longer than systems keep what a closed connection has sent.
    private static var longestWay: Double { 600 }
    /// How many creations of one record are kept.
    private static var maximum: Int { 8 }
    /// How many records have such requests; the oldest are forgotten.
    static var maximumRecords: Int { 1000 }

    package init() {}

    var isEmpty: Bool { creations.isEmpty && deletion == nil }

    /// Whether a version of the server may be a late creation, which a look-up tells.
    func mayInclude(_ version: KnownVersion) -> Bool {
        creations.contains { $0.isDeleted || $0.hash == version.hash }
    }

    /// Notes a creation that the next request carries.
    mutating func note(_ creation: SentCreation) {
        if creations.count >= Self.maximum { creations.removeFirst() }
        creations.append(creation)
    }

    /// Notes that the next request carries these contents again, be it as an edit of a version.
    ///
    /// - Parameters:
    ///   - handle: The contents.
    ///   - isEdit: Whether it is an edit of a version.
    /// - Returns: Whether they were sent as a creation before.
    mutating func noteRepeated(_ handle: ContentHandle, isEdit: Bool) -> Bool {
        guard let index = creations.firstIndex(where: { $0.handle == handle }) else { return false }
        creations[index].isRepeated = true
        creations[index].isDeleted = false
        if isEdit { creations[index].isEdit = true }
        return true
    }

    /// Notes that the server has the record.
    ///
    /// - Parameter handle: What it has saved; `nil` if it is not known.
    mutating func noteThere(_ handle: ContentHandle? = nil) {
        if creations.isEmpty { return }
        creations.removeAll { $0.handle == handle && !$0.isRepeated }
        for index in creations.indices {
            creations[index].isDeleted = false
            if creations[index].handle == handle { creations[index].isEdit = false }
        }
        lastModified = nil
    }

    /// Notes that the record was deleted.
    ///
    /// - Parameter last: The last version that this device knows.
    mutating func noteDeleted(_ last: KnownVersion?) {
        if creations.isEmpty { return }
        for index in creations.indices { creations[index].isDeleted = true }
        if let modified = last?.modified { lastModified = modified }
    }

    /// Notes that the next request deletes the record.
    ///
    /// - Parameters:
    ///   - date: The date of now.
    ///   - isUnanswered: Whether an earlier such request has no answer yet.
    mutating func noteDeletion(at date: Date, isUnanswered: Bool) {
        let former = mayBeDeleted(at: date) ? deletion?.count ?? 0 : isUnanswered ? 1 : 0
        deletion = SentDeletion(date: date, count: former + 1)
    }

    /// Notes that one of the requests that delete the record is no longer on its way.
    mutating func noteDeletionEnded() {
        guard let count = deletion?.count else { return }
        if count > 1 { deletion?.count = count - 1 } else { deletion = nil }
    }

    /// Whether a deletion may still arrive.
    ///
    /// - Parameter date: The date of now; it may be before that of the request, if the clock was set back.
    /// - Returns: Whether one may.
    func mayBeDeleted(at date: Date) -> Bool {
        deletion.map { abs(date.timeIntervalSince($0.date)) < Self.longestWay } ?? false
    }

    /// Whether the deletion that is noted can no longer arrive.
    func isOver(at date: Date) -> Bool { deletion != nil && !mayBeDeleted(at: date) }

    /// Whether a version that the server has again is one of these creations.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - edited: The date of the edit that it carries.
    /// - Returns: Whether it is one.
    func include(_ version: KnownVersion, edited: Date?) -> Bool {
        if let lastModified {
            guard let modified = version.modified, modified > lastModified else { return false }
        }
        return creations.contains { $0.isDeleted && $0.isSame(as: version, edited: edited) }
    }

    /// Whether a version that the server has instead of another one is one of these creations.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - edited: The date of the edit that it carries.
    ///   - known: The version that this device knows.
    /// - Returns: Whether it is one, so that the record was deleted in between.
    func include(_ version: KnownVersion, edited: Date?, insteadOf known: KnownVersion) -> Bool {
        version.hash != known.hash && version.isNewer(than: known)
            && creations.contains { !$0.isEdit && $0.isSame(as: version, edited: edited) }
    }
}

extension RecordState {
    /// Notes what the next request saves, if that is a creation or was one before.
    mutating func noteCreation(_ handle: ContentHandle) {
        if !late.creations.isEmpty, late.noteRepeated(handle, isEdit: known != nil) { return }
        if let lost, let saved = lost.modified {
            var creation = SentCreation(handle: handle, hash: lost.hash, edited: saved)
            creation.isLost = true
            return late.note(creation)
        }
        guard known == nil, lost == nil, let pending, pending.handle == handle, pending.base == nil,
            let hash = pending.hash, let edited = pending.edited
        else { return }
        late.note(SentCreation(handle: handle, hash: hash, edited: edited))
    }
}
