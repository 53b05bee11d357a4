extension RecordValue: ExpressibleByStringLiteral {
    /// Creates a string value.
    ///
    /// - Parameter value: The string.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension RecordValue: ExpressibleByIntegerLiteral {
    /// Creates an int64 value.
    ///
    /// - Parameter value: The integer.
    public init(integerLiteral value: Int64) { self = .int64(value) }
}

extension RecordValue: ExpressibleByFloatLiteral {
    /// Creates a double value.
    ///
    /// - Parameter value: The number.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension RecordValue: ExpressibleByBooleanLiteral {
    /// Creates an int64 value of 0 or 1, as CloudKit stores Booleans.
    ///
    /// - Parameter value: The Boolean.
    public init(booleanLiteral value: Bool) { self = .int64(value ? 1 : 0) }
}

extension RecordValue: ExpressibleByArrayLiteral {
    /// Creates a list.
    ///
    /// - Parameter elements: The elements, all of one kind.
    public init(arrayLiteral elements: RecordValue...) { self = .list(elements) }
}

extension RecordValue: ExpressibleByNilLiteral {
    /// Creates a null, which clears a field.
    ///
    /// - Parameter nilLiteral: Nothing.
    public init(nilLiteral: ()) { self = .null }
}
