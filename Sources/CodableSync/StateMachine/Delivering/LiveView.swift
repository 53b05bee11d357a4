import RecordCoding

/// What the loop over a live stream shows, and what its next element adds.
struct LiveView: Equatable, Sendable {
    /// One record of the element that the stream holds or gets next.
    struct Item: Equatable, Sendable, RecordKeyed {
        var key: RecordKey
        var kind: Undelivered.Kind
        /// What reads show of the record; `nil` if they show nothing.
        var shown: ShownVersion?
        /// The delivery order of the undelivered change that the element includes; 0 if there is none.
        var order: UInt64
    }

    var handed: [Item] = []
    /// Records that left the queue because the loop shows them as they are.
    var skipped: [RecordKey] = []
    /// What the loop shows, by record.
    private var shown = RecordTable<ShownVersion>()
    /// The contents that the cloud has confirmed, by record.
    private var confirmed = RecordTable<ContentHandle>()
    /// The contents that could not be decoded, by record; reads don't show them either.
    ///
    /// An edit may be decodable on top of another version.
    private var undecodable = RecordTable<ShownVersion>()

    // MARK: The next element

    /// What the stream gets of a record; `nil` if the loop shows it as reads do.
    func kind(of key: RecordKey, _ state: SyncState) -> Undelivered.Kind? {
        guard let next = decodable(key, state) else { return shown[key] == nil ? nil : .deleted }
        guard let former = shown[key] else { return .updated(next.handle) }
        if former == next { return nil }
        return confirmed[key] == next.handle ? .saved(next.handle) : .updated(next.handle)
    }

    /// Whether the loop shows a record.
    func shows(_ key: RecordKey) -> Bool { shown[key] != nil }

    /// What reads show of a record, unless it could not be decoded.
    private func decodable(_ key: RecordKey, _ state: SyncState) -> ShownVersion? {
        guard let next = state[key]?.shown, undecodable[key] != next else { return nil }
        return next
    }

    mutating func hand(_ key: RecordKey, _ kind: Undelivered.Kind, _ state: SyncState) {
        // A deletion of what the loop shows may have newer contents beside it, which cannot be decoded.
        let record = state[key]
        let next = kind == .deleted ? nil : record?.shown
        handed.append(Item(key: key, kind: kind, shown: next, order: record?.undelivered?.order ?? 0))
    }

    /// Whether reads show what the item shows.
    func isCurrent(_ item: Item, _ state: SyncState) -> Bool { decodable(item.key, state) == item.shown }

    // MARK: What the loop has

    /// Notes that the loop has the element.
    mutating func takeElement() -> [Item] {
        defer { handed = [] }
        for item in handed { shown[item.key] = item.shown }
        return handed
    }

    /// Notes contents that the cloud has confirmed.
    mutating func note(_ reshown: Reshown, _ state: SyncState) {
        if reshown.isSaved {
            confirmed[reshown.key] = state[reshown.key]?.shown?.handle
        } else if !confirmed.isEmpty {
            confirmed[reshown.key] = nil
        }
    }

    /// Notes contents that couldn't be decoded.
    ///
    /// - Returns: Whether the loop shows older contents of the record, which reads don't show any more.
    mutating func noteUndecodable(_ key: RecordKey, _ contents: ShownVersion) -> Bool {
        undecodable[key] = contents
        return shown[key] != nil
    }
}
