import RecordCoding

/// What the loop over a live stream shows, and what its next element adds.
struct LiveView: Sendable {
    /// What the loop shows, by record.
    private var shown = RecordTable<ShownVersion>()
    /// The contents that the cloud has confirmed, by record.
    private var confirmed = RecordTable<ContentHandle>()
    /// The records of which the loop has yet to get a change that is not the app's own.
    private var foreign = RecordTable<Bool>()
    /// The contents that could not be decoded, by record; reads don't show them either.
    ///
    /// An edit may be decodable on top of another version.
    private var undecodable = RecordTable<ShownVersion>()

    // MARK: The next element

    /// What the stream gets of a record; `nil` if the loop shows it as reads do.
    func kind(of key: RecordKey, _ state: SyncState) -> DeliveryItem.Kind? {
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

    /// Whether reads show what the item shows.
    func isCurrent(_ item: HandedItem, _ state: SyncState) -> Bool {
        decodable(item.key, state) == item.shown
    }

    // MARK: What the loop has

    /// Notes that the loop has the element.
    mutating func take(_ element: [HandedItem]) {
        for item in element { shown[item.key] = item.shown }
    }

    /// Notes that the loop gets a record, or shows it as reads do.
    ///
    /// - Returns: Whether that includes a change that is not the app's own.
    @discardableResult
    mutating func hand(_ key: RecordKey) -> Bool {
        defer { foreign[key] = nil }
        return foreign[key] != nil
    }

    /// Notes that the loop does not get a record after all.
    mutating func drop(_ item: HandedItem) {
        guard item.isForeign else { return }
        foreign[item.key] = true
        confirmed[item.key] = nil
    }

    /// Notes contents that the cloud has confirmed.
    mutating func note(_ reshown: Reshown, _ state: SyncState) {
        let (key, record) = (reshown.key, state[reshown.key])
        if !confirmed.isEmpty { confirmed[key] = nil }
        if reshown.isSaved {
            if foreign[key] == nil { confirmed[key] = record?.shown?.handle }
        } else if record?.isPendingOnTop != true || record?.pending?.on.isMerged == true {
            foreign[key] = true
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
