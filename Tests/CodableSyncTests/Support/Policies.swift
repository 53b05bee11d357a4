import CodableSync
import Foundation

/// Keeps this device's model, and brings back what was deleted elsewhere.
enum ClientWins: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.client }
    static func resolveDeletion(of client: Item<Self>) throws -> Item<Self>? { client }
}

/// Keeps the cloud's model.
enum ServerWins: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.server }
}

/// Gives this device's change up.
enum GivingUp: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { nil }
}

/// Keeps what was edited last, whole.
enum NewestWins: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { conflict.latestEdit }
}

/// Cannot decide.
enum Throwing: ItemPolicy {
    struct Undecided: Error, CustomStringConvertible {
        var description: String { "undecided" }
    }

    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { throw Undecided() }
    static func resolveDeletion(of client: Item<Self>) throws -> Item<Self>? { throw Undecided() }
}

/// Makes another record of it.
enum Renaming: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        var model = conflict.client
        model.id = "other"
        return model
    }
}

/// Makes a model that no record can hold.
enum Overgrowing: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        var model = conflict.client
        model.title = String(repeating: "x", count: 2_000_000)
        return model
    }
}

/// Keeps either side, as a seeded die says: no two devices decide alike.
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

/// Merges, and remembers what it was asked.
enum Recording: ItemPolicy {
    static let asked = Locked<[Conflict<Item<Self>>]>([])

    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        asked.withLock { $0.append(conflict) }
        return try conflict.merged()
    }
}

/// Merges, and does what a test says in the middle of it.
enum Interrupted: ItemPolicy {
    static let interruption = Locked<(@Sendable () -> Void)?>(nil)

    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? {
        if let interruption = interruption.withLock({ $0 }) { interruption() }
        return try conflict.merged()
    }
}
