extension String {
    /// The text, safe to print: control characters, and others that would hide or reverse what follows, are escaped.
    ///
    /// Joiners stay, since words in many scripts need them.
    var shown: String { String(String.UnicodeScalarView(unicodeScalars.flatMap(\.shown))) }

    /// The text in one line: line breaks become spaces, and invisible characters are escaped.
    var oneLine: String {
        split(whereSeparator: \.isNewline).map { $0.trimmed }.filter { !$0.isEmpty }
            .joined(separator: " ").shown
    }
}

extension [UInt8] {
    /// The bytes as text, safe to print; if they aren't UTF-8, those above ASCII are escaped.
    var shown: String {
        let text = String(decoding: self, as: UTF8.self)
        if text.utf8.elementsEqual(self) { return text.shown }
        return map { byte in
            byte < 0x80 ? String(Unicode.Scalar(byte)).shown : "\\x\(String(byte, radix: 16))"
        }.joined()
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension Unicode.Scalar {
    fileprivate var shown: [Unicode.Scalar] {
        if self == "\u{200C}" || self == "\u{200D}" { return [self] }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
            return Array("\\u{\(String(value, radix: 16))}".unicodeScalars)
        default:
            return [self]
        }
    }
}
