/// A value on the heap, so that what holds it is as small as a pointer.
///
/// Errors and records are copied into results, events and states, mostly without their rare parts. A copy
/// shares the box, and a change replaces it, so a box is a value like its contents. An optional box is a
/// pointer too.
package indirect enum Boxed<Value> {
    case value(Value)

    /// The contents.
    @inlinable package var value: Value {
        get {
            switch self {
            case .value(let value): value
            }
        }
        set { self = .value(newValue) }
    }
}

extension Boxed: Equatable where Value: Equatable {}
extension Boxed: Hashable where Value: Hashable {}
extension Boxed: Sendable where Value: Sendable {}
