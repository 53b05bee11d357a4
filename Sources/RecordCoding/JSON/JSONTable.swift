import Foundation

/// JSON texts, each followed by a table of its values, which refer to the text.
///
/// No string is created for a key or a number, and all texts and tables share one allocation. Nothing is ever
/// removed, so a position of a value stays valid as long as the table exists.
struct JSONTable {
    /// The texts, each with its tokens and then some unused space; tokens are not aligned.
    private var bytes: [UInt8] = []
    /// For objects with many members, the position of each member's key by name, once that was needed.
    private var indexes: [Int: [String: Int]] = [:]

    /// Checks a text, and adds it with the table of its values.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - number: The number of the text, which its outermost value gets as its index.
    /// - Returns: The position of the outermost value.
    /// - Throws: ``JSONError`` with an offset in the text.
    mutating func append(_ text: Data, number: Int) throws(JSONError) -> Int {
        let start = bytes.count
        // Positions are 32 bits wide; each byte of the text makes at most one token.
        guard text.count <= (Int(clamping: UInt32.max) - start) / (JSONToken.size + 1) - 1 else {
            throw JSONError(offset: 0, reason: "the text is too long")
        }
        // Few texts need more than three bytes of tokens for each of their own.
        let space = start + 4 * text.count + JSONTable.space.count
        if space > bytes.capacity { bytes.reserveCapacity(max(space, 2 * bytes.capacity)) }
        text.withUnsafeBytes { bytes.append(contentsOf: $0) }
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        var builder = JSONTableBuilder(consume taken, text: start..<start + text.count, number: number)
        defer { swap(&bytes, &builder.reader.bytes) }
        do throws(JSONError) {
            try builder.read()
        } catch {
            throw JSONError(offset: error.offset - start, reason: error.reason)
        }
        return start + text.count
    }

    /// The value or key at a position.
    @inline(__always)
    func token(at position: Int) -> JSONToken { JSONTable.token(at: position, in: bytes) }

    @inline(__always)
    static func token(at position: Int, in bytes: [UInt8]) -> JSONToken {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: JSONToken.self) }
    }

    @inline(__always)
    static func replace(_ token: JSONToken, at position: Int, in bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: token, toByteOffset: position, as: JSONToken.self) }
    }

    /// Stores a value without contents, or whose contents are not there yet, at the end.
    @inline(__always)
    static func append(_ token: JSONToken, to bytes: inout [UInt8], at end: inout Int) {
        let position = end
        end += JSONToken.size
        if end > bytes.count { bytes.append(contentsOf: space) }
        var token = token
        token.end = UInt32(truncatingIfNeeded: end)
        replace(token, at: position, in: &bytes)
    }

    /// Space for a few tokens.
    private static let space = [UInt8](repeating: 0, count: 8 * JSONToken.size)
}

// MARK: - Texts

extension JSONTable {
    /// A string or key, or the text of a number.
    func string(_ token: JSONToken) -> String {
        if token.isEscaped { return unescaped(token) }
        return bytes.withUnsafeBufferPointer { String(decoding: $0[token.text], as: UTF8.self) }
    }

    private func unescaped(_ token: JSONToken) -> String {
        var reader = JSONReader(bytes, in: token.text.lowerBound - 1..<token.text.upperBound + 1)
        do throws(JSONError) {
            return try reader.string()
        } catch {
            // The string was read before, with the same result.
            return ""
        }
    }
}

// MARK: - Members

extension JSONTable {
    /// Prepares for looking up members of an object.
    mutating func open(_ object: Int) {
        var token = token(at: object)
        token.nextKey = object + JSONToken.size
        token.isSorted = isSorted(object)
        JSONTable.replace(token, at: object, in: &bytes)
    }

    private func isSorted(_ object: Int) -> Bool {
        var previous: JSONToken?
        var isSorted = true
        forEachKey(of: object) { _, key in
            if let previous { isSorted = precedes(previous, key) }
            previous = key
            return isSorted
        }
        return isSorted
    }

    private func precedes(_ first: JSONToken, _ second: JSONToken) -> Bool {
        guard first.isPlain, second.isPlain else { return string(first) < string(second) }
        return bytes.withUnsafeBufferPointer { $0[first.text].lexicographicallyPrecedes($0[second.text]) }
    }

    /// The position of a member's value; of members with equal names, the last one counts.
    ///
    /// Members are usually decoded in their order, so the one after the last found one is tried first.
    mutating func member(_ name: String, of object: Int) -> Int? {
        let token = token(at: object)
        let next = token.nextKey
        if token.isSorted, next < Int(token.end), isKey(self.token(at: next), name) {
            return found(next, in: object, token)
        }
        guard let key = search(name, in: object, token) else { return nil }
        return found(key, in: object, token)
    }

    /// Notes the member after a found one, and returns the position of the found member's value.
    @inline(__always)
    private mutating func found(_ key: Int, in object: Int, _ token: JSONToken) -> Int {
        var token = token
        token.nextKey = Int(self.token(at: key + JSONToken.size).end)
        JSONTable.replace(token, at: object, in: &bytes)
        return key + JSONToken.size
    }

    /// The position of a member's key.
    private mutating func search(_ name: String, in object: Int, _ token: JSONToken) -> Int? {
        if token.count > 32 {
            if indexes[object] == nil { indexes[object] = index(of: object) }
            return indexes[object]?[name]
        }
        let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
        var found: Int?
        forEachKey(of: object) { position, key in
            // Two strings may be equal without having the same bytes, unless both are ASCII.
            if isKey(key, name) || !(isASCII && key.isPlain) && string(key) == name {
                found = position
            }
            return found == nil || !token.isSorted
        }
        return found
    }

    private func index(of object: Int) -> [String: Int] {
        var index: [String: Int] = [:]
        forEachKey(of: object) { position, key in
            index[string(key)] = position
            return true
        }
        return index
    }

    /// The names of an object's members, sorted.
    func names(of object: Int) -> [String] {
        let token = token(at: object)
        var names: [String] = []
        names.reserveCapacity(Int(token.count))
        forEachKey(of: object) { _, key in
            names.append(string(key))
            return true
        }
        return token.isSorted ? names : Set(names).sorted()
    }

    /// Passes each key of an object and its position, as long as the closure returns `true`.
    @inline(__always)
    private func forEachKey(of object: Int, _ body: (Int, JSONToken) -> Bool) {
        var key = object + JSONToken.size
        for _ in 0..<token(at: object).count {
            guard body(key, token(at: key)) else { return }
            key = Int(token(at: key + JSONToken.size).end)
        }
    }

    /// Whether a key has the same bytes as a name.
    @inline(__always)
    private func isKey(_ key: JSONToken, _ name: String) -> Bool {
        if key.isEscaped { return false }
        return name.withBytes { name in
            guard Int(key.count) == name.count else { return false }
            guard let name = name.baseAddress else { return true }
            return bytes.withUnsafeBytes { bytes in
                guard let text = UnsafeRawBufferPointer(rebasing: bytes[key.text]).baseAddress else {
                    return true
                }
                return memcmp(text, name, Int(key.count)) == 0
            }
        }
    }
}
