/// The items of the send request that is being stored or is in flight.
struct InFlight: Equatable, Sendable {
    private(set) var items: [SendItem] = []
    private var byName = RecordTable<SendItem>()

    init(_ items: [SendItem] = []) {
        self.items = items
        for item in items { byName[item.name] = item }
    }

    subscript(name: String) -> SendItem? { byName[name] }

    func contains(_ name: String) -> Bool { byName[name] != nil }

    var count: Int { items.count }
}
