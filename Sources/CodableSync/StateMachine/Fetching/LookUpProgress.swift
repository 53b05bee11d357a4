/// What a restart forgets about looking up records by name.
struct LookUpProgress: Sendable {
    /// The maximum number of records in one look-up; it is reduced if the server accepts fewer.
    static var maximumCount: Int { 200 }

    /// The records to look up, including those of the request in flight.
    var queue = RecordQueue()
    /// How many records the server has proved to accept in one look-up.
    var limit = Self.maximumCount
    /// Whether the wait is for single records that could not be looked up.
    var isWaitingForRecords = false

    init(_ state: SyncState) {
        for key in state.lookUpQueue.keys { queue.append(key) }
    }
}
