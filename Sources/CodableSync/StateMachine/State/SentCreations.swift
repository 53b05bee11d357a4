import struct Foundation.Date

/// A creation that was sent: a save without a change tag, which the server refuses only while it has the record.
package struct SentCreation: Equatable, Sendable {
    /// The contents, which need not be stored any more.
    package var handle: ContentHandle
    /// The hash of the contents; see ``KnownVersion/hash``.
    package var hash: UInt64
    /// When the user made the edit, which the record carries.
    package var edited: Date
    /// Whether more than one request carried it, so that an answer to one says nothing about the others.
    package var isRepeated: Bool
    /// Whether the record was deleted since it was sent, by this device or another one.
    package var isDeleted = false

    package init(handle: ContentHandle, hash: UInt64, edited: Date, isRepeated: Bool = false) {
        self.handle = handle
        self.hash = hash
        self.edited = edited
        self.isRepeated = isRepeated
    }
}

/// The creations of a record whose requests may still reach the server.
///
/// A request that was given up may be on its way for long: the network delivers it when it can. If the record was
/// deleted in the meantime, the server creates it again, which would undo the deletion. Such a record is recognised by
/// its contents and the date of its edit, and is deleted again; nobody who uploads it again gives it the same date.
package struct SentCreations: Equatable, Sendable {
    package var sent: [SentCreation] = []
    /// The server's date of the last version before the deletion; a late creation is later.
    package var lastModified: Date?

    /// How many creations of one record are kept.
    private static var maximum: Int { 8 }
    /// How many records have such creations; the oldest are forgotten.
    static var maximumRecords: Int { 1000 }

    package init() {}

    var isEmpty: Bool { sent.isEmpty }

    /// Whether one of them may come behind the record's deletion.
    var areDeleted: Bool { sent.contains(where: \.isDeleted) }

    /// Notes a creation that the next request carries.
    mutating func note(_ creation: SentCreation) {
        if sent.count >= Self.maximum { sent.removeFirst() }
        sent.append(creation)
    }

    /// Notes that the next request carries these contents again, be it as an edit of a version.
    ///
    /// - Parameter handle: The contents.
    /// - Returns: Whether they were sent as a creation before.
    mutating func noteRepeated(_ handle: ContentHandle) -> Bool {
        guard let index = sent.firstIndex(where: { $0.handle == handle }) else { return false }
        sent[index].isRepeated = true
        sent[index].isDeleted = false
        return true
    }

    /// Notes that the server has the record.
    ///
    /// - Parameter handle: What it has saved; `nil` if it is not known.
    mutating func noteThere(_ handle: ContentHandle? = nil) {
        if isEmpty { return }
        sent.removeAll { $0.handle == handle && !$0.isRepeated }
        for index in sent.indices { sent[index].isDeleted = false }
        lastModified = nil
    }

    /// Notes that the record was deleted.
    ///
    /// - Parameter last: The last version that this device knows.
    mutating func noteDeleted(_ last: KnownVersion?) {
        if isEmpty { return }
        for index in sent.indices { sent[index].isDeleted = true }
        if let modified = last?.modified { lastModified = modified }
    }

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
        return sent.contains { $0.isDeleted && $0.hash == version.hash && $0.edited == edited }
    }
}

extension RecordState {
    /// Notes what the next request saves, if that is a creation or was one before.
    mutating func noteCreation(_ handle: ContentHandle) {
        if !creations.isEmpty, creations.noteRepeated(handle) { return }
        guard known == nil, lost == nil, let pending, pending.handle == handle, pending.base == nil,
            let hash = pending.hash, let edited = pending.edited
        else { return }
        creations.note(SentCreation(handle: handle, hash: hash, edited: edited))
    }
}
