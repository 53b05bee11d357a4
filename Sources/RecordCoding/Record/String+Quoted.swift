extension String {
    /// The string for use in a message: at most 80 characters, in quotes, control characters escaped.
    ///
    /// Text from elsewhere can so neither forge a line of a log nor flood it.
    package var quoted: String { "\"\(abbreviated)\"" }

    /// The string for use in a message: at most 80 characters, control characters escaped.
    package var abbreviated: String { abbreviated(to: 80) }

    /// The string for use in a message, control characters escaped: for whole sentences of somebody else.
    ///
    /// - Parameter limit: The most characters that it may have.
    /// - Returns: The string as far as it fits, with a sign where it goes on.
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
