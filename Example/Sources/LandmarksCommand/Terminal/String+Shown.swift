extension String {
    /// The text as it may be shown, with what is invisible written out.
    ///
    /// That is control characters, and others that would hide or turn what follows. Joiners stay, since words in
    /// many scripts need them.
    var shown: String { String(String.UnicodeScalarView(unicodeScalars.flatMap(\.shown))) }

    /// The text in one line: line breaks and what else is invisible become a space or are written out.
    var oneLine: String {
        split(whereSeparator: \.isNewline).map { $0.trimmed }.filter { !$0.isEmpty }
            .joined(separator: " ").shown
    }
}

extension [UInt8] {
    /// The bytes as text that may be shown; where they are none, those above ASCII as numbers.
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
