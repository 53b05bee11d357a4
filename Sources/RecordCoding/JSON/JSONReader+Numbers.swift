extension JSONReader {
    /// Reads a number without fraction and exponent.
    package mutating func int() throws(JSONError) -> Int64 {
        try int(try number())
    }

    /// The integer value of a number.
    func int(_ number: Number) throws(JSONError) -> Int64 {
        guard number.isInteger, !number.overflows, !(number.isNegative && number.digits == 0) else {
            throw JSONError(offset: number.range.lowerBound, reason: "an integer of 64 bits was expected")
        }
        if !number.isNegative, let value = Int64(exactly: number.digits) { return value }
        if number.isNegative, number.digits <= Int64.min.magnitude {
            return Int64(truncatingIfNeeded: 0 &- number.digits)
        }
        throw JSONError(offset: number.range.lowerBound, reason: "an integer of 64 bits was expected")
    }

    /// Reads a number without sign, fraction and exponent.
    package mutating func uint() throws(JSONError) -> UInt64 {
        let start = position
        let number = try number()
        guard number.isInteger, !number.overflows, !number.isNegative else {
            throw JSONError(offset: start, reason: "an unsigned integer of 64 bits was expected")
        }
        return number.digits
    }

    /// Reads a number as the nearest double; a number beyond the range of doubles is an error.
    package mutating func double() throws(JSONError) -> Double {
        try double(try number())
    }

    /// The double nearest to a number.
    func double(_ number: Number) throws(JSONError) -> Double {
        if let value = exactDouble(number) { return value }
        guard let value = Double(String(decoding: bytes[number.range], as: UTF8.self)), value.isFinite else {
            throw JSONError(offset: number.range.lowerBound, reason: "the number is too large")
        }
        return value
    }

    /// The double nearest to a number, if one operation gives it; `nil` for a number with many digits.
    func exactDouble(_ number: Number) -> Double? {
        // Both operands are exact in this range, so the one operation rounds correctly.
        guard !number.overflows, number.digits < 1 << 53, -22...22 ~= number.exponent else { return nil }
        let power = JSONReader.powersOfTen[Int(number.exponent.magnitude)]
        let digits = Double(number.digits)
        let value = number.exponent < 0 ? digits / power : digits * power
        return number.isNegative ? -value : value
    }

    /// A number as written: `digits` times ten to the power of `exponent`.
    struct Number {
        var range: Range<Int>
        var digits: UInt64 = 0
        var exponent = 0
        var isNegative = false
        var isInteger = true
        /// Whether the digits or the exponent are too large for these properties.
        var overflows = false
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
        1e19, 1e20, 1e21, 1e22,
    ]

    mutating func number() throws(JSONError) -> Number {
        var number = Number(range: position..<position)
        number.isNegative = try peek() == UInt8(ascii: "-")
        let start = position
        if number.isNegative { position += 1 }
        let first = position
        try digits(into: &number)
        if bytes[first] == UInt8(ascii: "0"), position > first + 1 {
            throw JSONError(offset: first, reason: "a number begins with a zero")
        }
        if position < limit, bytes[position] == UInt8(ascii: ".") {
            position += 1
            number.isInteger = false
            let fraction = position
            try digits(into: &number)
            number.exponent = fraction - position
        }
        if position < limit, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            number.isInteger = false
            try exponent(into: &number)
        }
        number.range = start..<position
        return number
    }

    /// Reads one or more digits.
    @inline(__always)
    private mutating func digits(into number: inout Number) throws(JSONError) {
        let start = position
        var (end, digits, overflows) = (start, number.digits, number.overflows)
        let limit = limit
        bytes.withUnsafeBufferPointer { bytes in
            while end < limit {
                let digit = bytes[end] &- UInt8(ascii: "0")
                guard digit < 10 else { break }
                let (shifted, isOver) = digits.multipliedReportingOverflow(by: 10)
                let (sum, isOverToo) = shifted.addingReportingOverflow(UInt64(digit))
                digits = sum
                if isOver || isOverToo { overflows = true }
                end += 1
            }
        }
        (position, number.digits, number.overflows) = (end, digits, overflows)
        if end == start { throw error("a digit was expected") }
    }

    private mutating func exponent(into number: inout Number) throws(JSONError) {
        var isNegative = false
        if position < limit, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+") {
            isNegative = bytes[position] == UInt8(ascii: "-")
            position += 1
        }
        var power = Number(range: position..<position)
        try digits(into: &power)
        guard !power.overflows, power.digits < 10_000 else { return number.overflows = true }
        number.exponent += isNegative ? -Int(power.digits) : Int(power.digits)
    }
}
