import RecordCoding

import struct Foundation.Data

/// What a change token of a ledger says: whose history it belongs to, and how far it was read.
///
/// The generation is new whenever the history is: a zone made anew, tokens expired.
struct LedgerToken: Equatable {
    enum Kind: Character {
        case database = "d"
        case zone = "z"
    }

    var kind: Kind
    /// Tells the histories of different ledgers, users and zones apart.
    var mark: UInt64
    var generation: Int64
    /// The sequence of the last change that was read.
    var sequence: Int64
    /// While a first listing lasts: deletions up to here are left out, since nobody was told of the records.
    var listing: Int64 = 0

    var changeToken: ChangeToken {
        let numbers =
            [String(mark, radix: 36)] + [generation, sequence, listing].map { String($0, radix: 36) }
        return ChangeToken(Data("\(kind.rawValue).\(numbers.joined(separator: "."))".utf8))
    }

    init(kind: Kind, mark: UInt64, generation: Int64, sequence: Int64, listing: Int64 = 0) {
        self.kind = kind
        self.mark = mark
        self.generation = generation
        self.sequence = sequence
        self.listing = listing
    }

    /// Reads a token; `nil` if no ledger wrote it.
    init?(_ token: ChangeToken) {
        let parts = String(decoding: token.data, as: UTF8.self).split(separator: ".")
        guard parts.count == 5, parts[0].count == 1, let kind = parts[0].first.flatMap(Kind.init(rawValue:)),
            let mark = UInt64(parts[1], radix: 36), let generation = Int64(parts[2], radix: 36),
            let sequence = Int64(parts[3], radix: 36), let listing = Int64(parts[4], radix: 36)
        else { return nil }
        self.init(kind: kind, mark: mark, generation: generation, sequence: sequence, listing: listing)
    }

    /// A hash that is the same in every process.
    static func mark(_ names: [String]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for name in names {
            for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            // 255 is no byte of UTF-8, so that ["ab"] and ["a", "b"] differ.
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        return hash
    }
}
