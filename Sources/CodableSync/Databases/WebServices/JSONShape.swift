/// How deep a JSON text is nested, and about how many values it has, found without reading them.
struct JSONShape {
    /// The most values of a text that is read.
    ///
    /// Each costs up to 40 bytes of memory. No request has to have more, and no page of several records.
    static let maximumValues = 1_000_000

    private(set) var depth = 0
    private(set) var values = 1

    init(_ bytes: [UInt8]) {
        var open = 0
        var (isInString, isEscaped) = (false, false)
        for byte in bytes {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: ","): values += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                open += 1
                values += 1
                depth = max(depth, open)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): open -= 1
            default: break
            }
        }
    }
}
