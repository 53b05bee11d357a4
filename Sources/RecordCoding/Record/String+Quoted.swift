extension String {
    /// The string for a message: at most 80 characters, in quotes, with control characters escaped.
    ///
    /// So foreign text can neither forge lines of a log nor flood it.
    package var quoted: String { "\"\(abbreviated)\"" }

    /// The string for a message: at most 80 characters, with control characters escaped.
    package var abbreviated: String { abbreviated(to: 80) }

    /// The string for a message, with control characters escaped; use this for longer foreign text.
    ///
    /// - Parameter limit: The maximum number of characters.
    /// - Returns: The string, with a mark at the end if it was shortened.
    package func abbreviated(to limit: Int) -> String {
        var text = ""
        var count = 0
        for scalar in unicodeScalars {
            let piece = scalar.isPrintable ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            count += piece.unicodeScalars.count
            guard count < limit else { return text + "…" }
            text += piece
        }
        return text
    }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
            false
        default: true
        }
    }
}

extension String {
    /// The text without a full stop at its end, to be continued.
    package var withoutPeriod: String { hasSuffix(".") ? String(dropLast()) : self }
}
