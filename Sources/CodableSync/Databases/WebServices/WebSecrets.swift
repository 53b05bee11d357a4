/// Tokens that no text for people may have in it.
struct WebSecrets: Sendable {
    private let tokens: [[UInt8]]

    /// Shorter ones are no secrets, and parts of words.
    private static let minimumLength = 8

    /// - Parameter tokens: The tokens; those that are `nil` or shorter than 8 bytes do not count.
    init(_ tokens: [String?]) {
        self.tokens = Set(tokens.compactMap { $0 }).map { Array($0.utf8) }
            .filter { $0.count >= Self.minimumLength }
            // One may be the beginning of another.
            .sorted { $0.count > $1.count }
    }

    /// A text with a mark in place of each token.
    ///
    /// - Parameter text: A text of a server. It may have got the tokens from the address of a request, so they are found
    ///   as they are, and with any of their characters percent-encoded, also more than once.
    /// - Returns: The text; the same one if there is no token in it.
    func redacted(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var (result, position, end): ([UInt8], Int, Int) = ([], 0, 0)
        while position < bytes.count {
            guard let next = tokens.lazy.compactMap({ Self.end(of: $0, in: bytes, at: position) }).first
            else {
                position += 1
                continue
            }
            result += bytes[end..<position] + Array("(redacted)".utf8)
            (position, end) = (next, next)
        }
        return end == 0 ? text : String(decoding: result + bytes[end...], as: UTF8.self)
    }

    private static func end(of token: [UInt8], in bytes: [UInt8], at start: Int) -> Int? {
        if bytes[start...].starts(with: token) { return start + token.count }
        var position = start
        for byte in token {
            guard position < bytes.count else { return nil }
            if let next = end(ofEncoded: byte, in: bytes, at: position) {
                position = next
            } else if bytes[position] == byte || (byte == UInt8(ascii: "+") && bytes[position] == 0x20) {
                position += 1
            } else {
                return nil
            }
        }
        return position
    }

    /// The end of a byte that is percent-encoded: `%2B`, or `%252B` if it was encoded twice.
    private static func end(ofEncoded byte: UInt8, in bytes: [UInt8], at start: Int) -> Int? {
        guard bytes[start] == UInt8(ascii: "%") else { return nil }
        var digits = start + 1
        while digits + 1 < bytes.count {
            let found = String(decoding: bytes[digits...digits + 1], as: UTF8.self)
            if UInt8(found, radix: 16) == byte { return digits + 2 }
            guard found == "25" else { return nil }
            digits += 2
        }
        return nil
    }
}

extension WebJSON {
    /// A response whose errors, that of the request and those of its items, have no token in them.
    ///
    /// A proxy's error may have a reason and no code. Records are left alone: they are a user's data, and get into no
    /// message.
    func redacted(_ secrets: WebSecrets) -> WebJSON {
        guard case .object(var members) = self else { return self }
        for (key, value) in members {
            guard case .array(let items) = value, items.contains(where: \.isError) else { continue }
            members[key] = .array(items.map { $0.isError ? $0.redacted(secrets) : $0 })
        }
        for key in ["serverErrorCode", "reason"] {
            if let text = members[key]?.string { members[key] = .string(secrets.redacted(text)) }
        }
        return .object(members)
    }

    private var isError: Bool { self["serverErrorCode"] != nil }
}
