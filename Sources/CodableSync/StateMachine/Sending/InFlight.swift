/// The items of the send request being stored or in flight.
struct InFlight: Equatable, Sendable {
    private(set) var items: [SendItem] = []
    private var byKey = RecordTable<SendItem>()

    init(_ items: [SendItem] = []) {
        self.items = items
        for item in items { byKey[item.key] = item }
    }

    subscript(key: RecordKey) -> SendItem? { byKey[key] }

    func contains(_ key: RecordKey) -> Bool { byKey[key] != nil }

    var count: Int { items.count }
}
