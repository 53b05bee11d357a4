import class Foundation.NSLock

/// A cache of values that depend on a type alone, each created on first use.
///
/// `@unchecked Sendable` is correct because `values` is accessed only while the lock is held.
final class TypeTable<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    @exclusivity(unchecked) private var values = TypeMap<Value>()

    /// All values so far, for many look-ups without the lock.
    var snapshot: TypeMap<Value> {
        lock.lock()
        defer { lock.unlock() }
        return values
    }

    /// The value of a type.
    ///
    /// If several threads need it at once, each may run the closure, and all get the first result.
    func value(of type: Any.Type, make: () -> Value) -> Value {
        if let value = known(type) { return value }
        let value = make()
        return update(of: type) { $0 ?? value } ?? value
    }

    private func known(_ type: Any.Type) -> Value? {
        lock.lock()
        defer { lock.unlock() }
        return values[ObjectIdentifier(type)]
    }

    /// Replaces the value of a type, and returns the new one.
    @discardableResult
    func update(of type: Any.Type, _ change: (Value?) -> Value?) -> Value? {
        lock.lock()
        defer { lock.unlock() }
        let id = ObjectIdentifier(type)
        let value = change(values[id])
        values[id] = value
        return value
    }
}

/// Values by type, each found in a few instructions, since the address of a type is a good hash.
struct TypeMap<Value> {
    private var slots: [(id: ObjectIdentifier, value: Value?)?] = Array(repeating: nil, count: 32)
    private var count = 0

    subscript(id: ObjectIdentifier) -> Value? {
        get { slots[slot(of: id)]?.value }
        set {
            let slot = slot(of: id)
            if slots[slot] == nil { count += 1 }
            slots[slot] = (id, newValue)
            if count > slots.count / 2 { grow() }
        }
    }

    /// The slot that has the value of a type, or would get it; half of the slots are free.
    private func slot(of id: ObjectIdentifier) -> Int {
        let hash = UInt64(UInt(bitPattern: id)) &* 0x9E37_79B9_7F4A_7C15
        var slot = Int(truncatingIfNeeded: hash >> 40) & (slots.count - 1)
        while let entry = slots[slot], entry.id != id { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    private mutating func grow() {
        let entries = slots
        slots = Array(repeating: nil, count: entries.count * 2)
        for case let entry? in entries { slots[slot(of: entry.id)] = entry }
    }
}
