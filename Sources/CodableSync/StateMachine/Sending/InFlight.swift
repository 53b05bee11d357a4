/// The items of the send request being stored or in flight.
struct InFlight: Equatable, Sendable {
    private(set) var items: [SendItem] = []
    private var byKey = RecordTable<SendItem>()
    /// The first place in the send queue that an item had when the request began.
    private(set) var firstPosition = Int.max

    init() {}

    init(_ items: [SendItem], from queue: RecordQueue) {
        self.items = items
        for item in items {
            byKey[item.key] = item
            if let position = queue.position(of: item.key) { firstPosition = min(firstPosition, position) }
        }
    }

    subscript(key: RecordKey) -> SendItem? { byKey[key] }

    func contains(_ key: RecordKey) -> Bool { byKey[key] != nil }

    var count: Int { items.count }
}
