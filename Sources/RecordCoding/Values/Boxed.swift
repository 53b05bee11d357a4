/// A value on the heap, so that a type that holds it stays small: one pointer, also if it is optional.
///
/// It is for the rarely used parts of errors and records, which are copied often. Copies share the box, and a
/// change replaces it, so a box has value semantics.
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
