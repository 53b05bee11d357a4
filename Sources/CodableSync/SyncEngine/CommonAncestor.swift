import RecordCoding

/// A request of this device whose answer was lost: what it carried, and what that was made from.
struct LostWrite: Sendable {
    var handle: ContentHandle
    var record: Record
    /// `nil` if the request was to create the record.
    var base: Record?
}

/// What both sides of a conflict had in common, where the answers to this device's own requests were lost.
///
/// A field in which the server holds what this device sent is a field that nobody else has changed since: for it,
/// what was sent is the ancestor. Otherwise an own older edit would be taken for somebody else's, and could win
/// over the newer one.
enum CommonAncestor {
    /// Makes the ancestor to merge with.
    ///
    /// - Parameters:
    ///   - ancestor: The version that the app had last seen; `nil` if there was none.
    ///   - client: The newest edit of this device.
    ///   - server: The record in the cloud.
    ///   - lost: The requests whose answers were lost, oldest first.
    ///   - isClientLater: Whether this device's edit is the later one.
    /// - Returns: The ancestor as it was, unless the server holds something of ours.
    static func reconstruct(
        from ancestor: Record?,
        client: Record,
        server: Record,
        lost: [LostWrite],
        isClientLater: Bool
    ) -> Record? {
        var own: [String: RecordValue] = [:]
        for write in lost {
            for (name, value) in write.record.fields where write.arrived(value, of: name, in: server) {
                own[name] = value
            }
        }
        if own.isEmpty { return ancestor }
        var result = ancestor ?? client
        if ancestor == nil {
            let names = Set(client.fields.keys).union(server.fields.keys)
            for name in names where !ReservedField.isReserved(name) {
                result.fields[name] = undecided(client.value(name), server.value(name), isClientLater)
            }
        }
        result.fields.merge(own) { $1 }
        return result
    }

    /// The value that makes a merge with an ancestor decide a field as one without would.
    private static func undecided(
        _ client: RecordValue,
        _ server: RecordValue,
        _ isClientLater: Bool
    ) -> RecordValue {
        if client.isNothing { return client }
        if server.isNothing { return server }
        return isClientLater ? server : client
    }
}

extension LostWrite {
    /// Whether a field on the server is this write's own doing.
    fileprivate func arrived(_ value: RecordValue, of name: String, in server: Record) -> Bool {
        guard !ReservedField.isReserved(name), value.isSame(as: server.value(name)) else { return false }
        // Two devices may create one record with some fields alike: a creation proves nothing.
        guard let base else { return false }
        return !value.isSame(as: base.value(name))
    }
}

extension Record {
    fileprivate func value(_ name: String) -> RecordValue { fields[name] ?? .null }
}

extension RecordValue {
    /// Whether a server cannot tell the two apart.
    fileprivate func isSame(as other: RecordValue) -> Bool {
        isNothing ? other.isNothing : isIdentical(to: other)
    }
}
