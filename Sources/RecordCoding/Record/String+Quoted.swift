extension String {
    /// The string for use in a message: at most 80 characters, in quotes, control characters escaped.
    ///
    /// Text from elsewhere can so neither forge a line of a log nor flood it.
    package var quoted: String { "\"\(abbreviated)\"" }

    /// The string for use in a message: at most 80 characters, control characters escaped.
    package var abbreviated: String {
        var text = ""
        var count = 0
        for scalar in unicodeScalars {
            let piece = scalar.isPrintable ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
            count += piece.unicodeScalars.count
            guard count < 80 else { return text + "…" }
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
