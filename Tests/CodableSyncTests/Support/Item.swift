import CodableSync
import Foundation

/// How a test model resolves conflicts.
protocol ItemPolicy: Sendable {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>?
    static func resolveDeletion(of client: Item<Self>) throws -> Item<Self>?
}

extension ItemPolicy {
    static func resolveDeletion(of client: Item<Self>) throws -> Item<Self>? { nil }
}

/// The model of most tests: a few fields, and a policy that the test chooses.
struct Item<Policy: ItemPolicy>: RecordCodable, Hashable {
    static var recordType: String { "Item" }

    var id: String
    var title: String
    var note: String?
    var color: String?
    var count: Int = 0
    var tags: [String] = []

    var recordName: String { id }

    init(
        _ id: String,
        _ title: String = "",
        note: String? = nil,
        color: String? = nil,
        count: Int = 0,
        tags: [String] = []
    ) {
        self.id = id
        self.title = title
        self.note = note
        self.color = color
        self.count = count
        self.tags = tags
    }

    static func resolveConflict(_ conflict: Conflict<Item<Policy>>) throws -> Item<Policy>? {
        Calls.shared.note(Policy.self)
        return try Policy.resolve(conflict)
    }

    static func resolveDeletion(of client: Item<Policy>) throws -> Item<Policy>? {
        Calls.shared.note(Policy.self)
        return try Policy.resolveDeletion(of: client)
    }
}

/// Merges field by field, as most apps do.
enum Merging: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Merging>>) throws -> Item<Merging>? {
        try conflict.merged()
    }
}

typealias Note = Item<Merging>

/// Counts the conflicts that each policy has resolved.
final class Calls: Sendable {
    static let shared = Calls()

    private let counts = Locked<[ObjectIdentifier: Int]>([:])

    func note(_ policy: Any.Type) {
        counts.withLock { $0[ObjectIdentifier(policy), default: 0] += 1 }
    }

    func count(_ policy: Any.Type) -> Int {
        counts.withLock { $0[ObjectIdentifier(policy)] ?? 0 }
    }

    func reset(_ policy: Any.Type) {
        counts.withLock { $0[ObjectIdentifier(policy)] = nil }
    }
}
