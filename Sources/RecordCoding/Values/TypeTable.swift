import class Foundation.NSLock

/// What is known of types, found out once for each type.
///
/// `@unchecked Sendable` is correct because `known` is accessed only while the lock is held.
final class TypeTable<Fact: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var known: [ObjectIdentifier: Fact] = [:]
    private let find: @Sendable (Any.Type) -> Fact

    init(_ find: @escaping @Sendable (Any.Type) -> Fact) { self.find = find }

    /// All that is known now, for many look-ups without the lock.
    var facts: TypeFacts<Fact> { TypeFacts(table: self, known: lock.withLock { known }) }

    subscript(type: Any.Type) -> Fact {
        let id = ObjectIdentifier(type)
        if let fact = lock.withLock({ known[id] }) { return fact }
        // Found without the lock, since this may run an app's code; two threads find the same.
        let fact = find(type)
        lock.withLock { known[id] = fact }
        return fact
    }
}

/// What was known of types when a coder began.
struct TypeFacts<Fact: Sendable> {
    fileprivate let table: TypeTable<Fact>
    fileprivate let known: [ObjectIdentifier: Fact]

    subscript(type: Any.Type) -> Fact { known[ObjectIdentifier(type)] ?? table[type] }
}
