import Foundation

/// What a client shows at the end: its models, and what it has not sent.
public struct ClientDump: Codable, Equatable, Sendable {
    /// A model, in the form of a file.
    public struct Item: Codable, Equatable, Sendable {
        /// The record's name.
        public var id: String
        /// The clients' numbers.
        public var numbers: [Int]
        /// The list.
        public var list: [String]

        /// Creates an item.
        ///
        /// - Parameters:
        ///   - id: The record's name.
        ///   - numbers: The clients' numbers.
        ///   - list: The list.
        public init(id: String, numbers: [Int], list: [String]) {
            (self.id, self.numbers, self.list) = (id, numbers, list)
        }

        init(_ entry: Entry) {
            self.init(
                id: entry.id,
                numbers: (0..<Entry.clientCount).map { entry[$0] },
                list: entry.list
            )
        }
    }

    /// How many changes are not confirmed, parked ones included.
    public var pending: Int
    /// The models by name.
    public var items: [Item]

    /// Creates a dump.
    ///
    /// - Parameters:
    ///   - pending: How many changes are not confirmed.
    ///   - items: The models.
    public init(pending: Int, items: [Item]) {
        self.pending = pending
        self.items = items
    }

    init(pending: Int, _ entries: [Entry]) {
        self.init(pending: pending, items: entries.map(Item.init).sorted { $0.id < $1.id })
    }
}

/// Everything that a run has left behind.
public struct RunEvidence: Sendable {
    /// What each client has called.
    public var logs: [ClientLog]
    /// What each client shows at the end; `nil` if it shows nothing.
    public var dumps: [ClientDump?]
    /// What the server has at the end.
    public var server: [ClientDump.Item]
    /// Unexpected events and exits of processes.
    public var surprises: [String]

    /// Creates evidence.
    ///
    /// - Parameters:
    ///   - logs: What each client has called.
    ///   - dumps: What each client shows at the end.
    ///   - server: What the server has at the end.
    ///   - surprises: Unexpected events and exits of processes.
    public init(
        logs: [ClientLog],
        dumps: [ClientDump?],
        server: [ClientDump.Item],
        surprises: [String] = []
    ) {
        self.logs = logs
        self.dumps = dumps
        self.server = server
        self.surprises = surprises
    }

    /// What is wrong; empty if every promise was kept.
    public func violations() -> [String] {
        var found = surprises
        let names = server.map(\.id)
        if Set(names).count != names.count { found.append("the server has a record twice") }
        for (client, dump) in dumps.enumerated() {
            guard let dump else {
                found.append("client \(client) shows nothing")
                continue
            }
            if dump.pending > 0 { found.append("client \(client) has \(dump.pending) unsent changes") }
            found += differences(between: "client \(client)", dump.items)
        }
        let items = Dictionary(server.map { ($0.id, $0) }) { first, _ in first }
        for (client, log) in logs.enumerated() { found += violations(of: log, by: client, items) }
        found += inventedElements(items)
        return found
    }

    private func differences(between name: String, _ items: [ClientDump.Item]) -> [String] {
        let (own, others) = (Set(items.map(\.id)), Set(server.map(\.id)))
        var found = own.subtracting(others).sorted().map { "only \(name) has \($0)" }
        found += others.subtracting(own).sorted().map { "\(name) lacks \($0)" }
        let known = Dictionary(items.map { ($0.id, $0) }) { first, _ in first }
        for item in server {
            guard let other = known[item.id], other != item else { continue }
            let missing = Set(item.list).symmetricDifference(other.list).sorted()
            found.append(
                "\(name) has \(item.id) with \(other.numbers), the server with \(item.numbers); lists differ in \(missing)"
            )
        }
        return found
    }

    private func violations(
        of log: ClientLog,
        by client: Int,
        _ items: [String: ClientDump.Item]
    ) -> [String] {
        var found: [String] = []
        var (isWanted, mayBeGone): ([String: Bool], Set<String>) = ([:], [])
        for attempt in log.attempts {
            if let failure = attempt.failure {
                found.append("client \(client): \(attempt.call.text): \(failure)")
                continue
            }
            switch attempt.call {
            case .add(let record, let element):
                let count = items[record]?.list.filter { $0 == element }.count ?? 0
                if attempt.done != nil, count != 1 {
                    found.append("\(element), acknowledged, is \(count) times in \(record)")
                }
            case .create(let record): if attempt.done != nil { isWanted[record] = true }
            case .delete(let record):
                mayBeGone.insert(record)
                if attempt.done != nil { isWanted[record] = false }
            case .set: continue
            }
        }
        for (record, isWanted) in isWanted.sorted(by: { $0.key < $1.key }) {
            if isWanted, items[record] == nil, !mayBeGone.contains(record) {
                found.append("\(record), created and never deleted, is not there")
            } else if !isWanted, items[record] != nil {
                found.append("\(record) is there, whose deletion was acknowledged")
            }
        }
        for record in items.values.sorted(by: { $0.id < $1.id }) where record.id.hasPrefix("shared") {
            let (tried, last) = log.numbers(of: record.id)
            let number = record.numbers.indices.contains(client) ? record.numbers[client] : 0
            if number < last {
                found.append("\(record.id): number \(client) is \(number), acknowledged was \(last)")
            }
            if number != 0, !tried.contains(number) {
                found.append("\(record.id): number \(client) is \(number), which was never written")
            }
        }
        return found
    }

    private func inventedElements(_ items: [String: ClientDump.Item]) -> [String] {
        var (elements, created): (Set<String>, Set<String>) = ([], [])
        for attempt in logs.flatMap(\.attempts) {
            switch attempt.call {
            case .add(_, let element): elements.insert(element)
            case .create(let record): created.insert(record)
            case .set, .delete: continue
            }
        }
        return items.values.sorted { $0.id < $1.id }.flatMap { item in
            let isKnown = item.id.hasPrefix("shared") || created.contains(item.id)
            let strange = item.list.filter { !elements.contains($0) }
            return (isKnown ? [] : ["\(item.id) was never created"])
                + strange.map { "\($0) in \(item.id) was never added" }
        }
    }
}
