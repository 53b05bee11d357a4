import Foundation

extension UUID {
    /// The same text as `uuidString`, which takes several times as long.
    var text: String {
        String(unsafeUninitializedCapacity: 36) { text in
            withUnsafeBytes(of: uuid) { bytes in
                var end = 0
                for index in 0..<16 {
                    let byte = bytes[index]
                    if UUID.isAfterHyphen(index) {
                        text[end] = UInt8(ascii: "-")
                        end &+= 1
                    }
                    text[end] = UUID.digit(byte >> 4)
                    text[end &+ 1] = UUID.digit(byte & 15)
                    end &+= 2
                }
            }
            return 36
        }
    }

    /// Reads the text of a UUID, in upper or lower case; nothing may be missing, added or misplaced.
    init?(text: String) {
        var text = text
        let bytes = text.withUTF8 { text -> (UInt64, UInt64)? in
            guard text.count == 36 else { return nil }
            var position = 0
            var (first, second): (UInt64, UInt64) = (0, 0)
            for index in 0..<16 {
                if UUID.isAfterHyphen(index) {
                    guard text[position] == UInt8(ascii: "-") else { return nil }
                    position += 1
                }
                let (high, low) = (UUID.value(text[position]), UUID.value(text[position + 1]))
                guard high < 16, low < 16 else { return nil }
                (first, second) = (first << 8 | second >> 56, second << 8 | UInt64(high << 4 | low))
                position += 2
            }
            return (first.bigEndian, second.bigEndian)
        }
        guard let bytes else { return nil }
        self = withUnsafeBytes(of: bytes) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// Whether a hyphen stands before a byte.
    private static func isAfterHyphen(_ index: Int) -> Bool {
        index == 4 || index == 6 || index == 8 || index == 10
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value &+ (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10)
    }

    /// The value of a hexadecimal digit; 255 for any other byte.
    private static func value(_ digit: UInt8) -> UInt8 {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: 255
        }
    }
}
