import CodableSync

/// A policy that merges; each test that counts conflicts uses its own type.
protocol MergingPolicy: ItemPolicy {}

extension MergingPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { try conflict.merged() }
}
