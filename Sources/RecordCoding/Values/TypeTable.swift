import class Foundation.NSLock

/// Values that depend on a type alone, each made when it is needed first.
///
/// `@unchecked Sendable` is correct because `values` is accessed only while the lock is held.
final class TypeTable<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [ObjectIdentifier: Value] = [:]

    /// All values so far, for many look-ups without the lock.
    var snapshot: [ObjectIdentifier: Value] {
        lock.lock()
        defer { lock.unlock() }
        return values
    }

    /// The value of a type.
    ///
    /// If several threads need it at once, each may run the closure, and all get the first result.
    func value(of type: Any.Type, make: () -> Value) -> Value {
        let id = ObjectIdentifier(type)
        if let value = stored(id, nil) { return value }
        let value = make()
        return stored(id, value) ?? value
    }

    /// The stored value, which is the given one if there was none.
    private func stored(_ id: ObjectIdentifier, _ value: Value?) -> Value? {
        lock.lock()
        defer { lock.unlock() }
        if let first = values[id] { return first }
        values[id] = value
        return value
    }
}
