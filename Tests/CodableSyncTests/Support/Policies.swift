import CodableSync
import Foundation

/// Keeps this device's model, and re-creates records deleted elsewhere.
enum ClientWins: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.client }
    static func resolveDeletion(of client: Item<Self>) throws -> Item<Self>? { client }
}

/// Keeps the server's model.
enum ServerWins: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.server }
}

/// Discards this device's change.
enum GivingUp: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { nil }
}

/// Keeps the model that was edited last, unmerged.
enum NewestWins: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.latestEdit }
}

/// Always throws.
enum Throwing: ItemPolicy {
    struct Undecided: Error, CustomStringConvertible {
        var description: String { "undecided" }
    }

    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { throw Undecided() }
    static func resolveDeletion(of client: Item<Self>) throws -> Item<Self>? { throw Undecided() }
}

/// Returns a model with another record name.
enum Renaming: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        var model = conflict.client
        model.id = "other"
        return model
    }
}

/// Returns a model that is too large for a record.
enum Overgrowing: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        var model = conflict.client
        model.title = String(repeating: "x", count: 2_000_000)
        return model
    }
}

/// Keeps either side, chosen by a seeded generator: two devices decide differently.
enum Dicing: ItemPolicy {
    static let die = Locked(SplitMix64(seed: 7))

    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        die.withLock { Bool.random(using: &$0) } ? conflict.client : conflict.server
    }
}

/// Merges, and clears the note.
enum Clearing: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        var model = try conflict.merged()
        model.note = nil
        return model
    }
}

/// Merges, and records its conflicts.
enum Recording: ItemPolicy {
    static let asked = Locked<[Conflict<Item<Self>>]>([])

    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        asked.withLock { $0.append(conflict) }
        return try conflict.merged()
    }
}

/// Merges, and runs a test's closure while it does.
enum Interrupted: ItemPolicy {
    static let interruption = Locked<(@Sendable () -> Void)?>(nil)

    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        if let interruption = interruption.withLock({ $0 }) { interruption() }
        return try conflict.merged()
    }
}
