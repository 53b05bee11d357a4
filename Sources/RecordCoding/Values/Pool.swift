import class Foundation.NSLock

/// Coders to use again, with the memory that they have allocated.
///
/// `@unchecked Sendable` is correct because `free` is accessed only while the lock is held, and a coder is
/// either in it or used by one caller.
final class Pool<Coder: AnyObject>: @unchecked Sendable {
    private let lock = NSLock()
    @exclusivity(unchecked) private var free: [Coder] = []

    /// A coder that is used by nobody else; `nil` if there is none.
    func take() -> Coder? {
        lock.lock()
        defer { lock.unlock() }
        return free.popLast()
    }

    /// Adds a coder to which there is no other reference.
    func give(_ coder: Coder) {
        lock.lock()
        defer { lock.unlock() }
        if free.count < 8 { free.append(coder) }
    }
}
