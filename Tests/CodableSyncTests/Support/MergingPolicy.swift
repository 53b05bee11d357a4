import CodableSync

/// A policy that merges: a type of its own for each test that counts calls.
protocol MergingPolicy: ItemPolicy {}

extension MergingPolicy {
    static func resolve(_ conflict: Conflict<Item<Self>>) throws -> Item<Self>? { try conflict.merged() }
}
