extension JSONText {
    /// Whether bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
    static func isUTF8(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte < 0x80 { continue }
            // The first continuation byte has a narrower range after some leading bytes.
            var range: ClosedRange<UInt8> = 0x80...0xBF
            let length: Int
            switch byte {
            case 0xC2...0xDF: length = 1
            case 0xE0...0xEF:
                length = 2
                if byte == 0xE0 { range = 0xA0...0xBF }
                if byte == 0xED { range = 0x80...0x9F }
            case 0xF0...0xF4:
                length = 3
                if byte == 0xF0 { range = 0x90...0xBF }
                if byte == 0xF4 { range = 0x80...0x8F }
            default: return false
            }
            guard bytes.endIndex - index >= length, range.contains(bytes[index]) else { return false }
            for next in index + 1..<index + length where bytes[next] & 0xC0 != 0x80 { return false }
            index += length
        }
        return true
    }
}
