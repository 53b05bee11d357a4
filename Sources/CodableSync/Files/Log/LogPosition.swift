/// The position of a line in a log, in sixteen bytes.
package struct LogPosition: Hashable, Sendable {
    /// The file's identifier, see ``LogFileName``.
    package var file: UInt32
    /// The length of the line in bytes, without its newline.
    package var length: UInt32
    /// The offset of the line in its file.
    package var offset: UInt64

    package init(file: UInt32, offset: UInt64, length: UInt32) {
        self.file = file
        self.offset = offset
        self.length = length
    }
}

/// The name of one of a log's files: `journal-3.jsonl`, `snapshot-3.jsonl`.
///
/// The snapshot with a number replaces everything before the journal with that number.
package struct LogFileName: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        case journal
        case snapshot
    }

    package var kind: Kind
    package var number: UInt32

    /// The upper bound of valid numbers, exclusive.
    private static let numberLimit: UInt32 = 1 << 30

    static func isNumber(_ number: UInt32) -> Bool { (1..<numberLimit).contains(number) }

    package init(_ kind: Kind, _ number: UInt32) {
        self.kind = kind
        self.number = number
    }

    /// Reads a file's name; `nil` if it is not a log's.
    package init?(_ name: String) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])), parts[1].hasSuffix(".jsonl")
        else {
            return nil
        }
        let digits = parts[1].dropLast(6)
        // The number must have its canonical form, without sign and leading zeros.
        guard let number = UInt32(digits), String(number) == digits, Self.isNumber(number)
        else { return nil }
        self.init(kind, number)
    }

    /// Creates the name from a position's file identifier.
    package init(identifier: UInt32) {
        self.init(identifier & 1 == 1 ? .snapshot : .journal, identifier >> 1)
    }

    /// The number of the files that come after this one; `nil` if there is none.
    var next: UInt32? { Self.isNumber(number + 1) ? number + 1 : nil }

    package var text: String { "\(kind.rawValue)-\(number).jsonl" }

    /// The name as a number, for positions.
    package var identifier: UInt32 { number << 1 | (kind == .snapshot ? 1 : 0) }
}
