/// What a restart forgets about looking up records by name.
struct LookUpProgress: Sendable {
    /// The maximum number of records in one look-up; it is reduced if the server accepts fewer.
    static var maximumCount: Int { 200 }

    /// The records to look up, including those of the request in flight.
    private(set) var queue = RecordQueue()
    /// How many records the server has proved to accept in one look-up.
    var limit = Self.maximumCount
    /// Whether the wait is for single records that could not be looked up.
    var isWaitingForRecords = false

    init(_ state: SyncState) {
        for key in state.lookUpQueue.keys { queue.append(key) }
    }

    mutating func append(_ key: RecordKey) {
        queue.append(key)
    }

    /// Removes records that were looked up.
    mutating func remove(_ keys: [RecordKey]) {
        for key in keys { queue.remove(key) }
    }

    /// Looks records up after all others.
    mutating func moveToEnd(_ keys: [RecordKey]) {
        for key in keys { queue.moveToEnd(key) }
    }

    /// Forgets every look-up, because the zone is lost.
    mutating func forgetAll() {
        queue = RecordQueue()
    }
}
