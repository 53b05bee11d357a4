import RecordCoding

import struct Foundation.Data

/// What a change token of a ledger says: whose history it belongs to, and how far it was read.
///
/// The generation is new whenever the history is: a zone made anew, tokens expired. Witness and epoch name a change
/// that existed when the token was given; a history without it is another one.
struct LedgerToken: Equatable {
    enum Kind: Character {
        case database = "d"
        case zone = "z"
    }

    var kind: Kind
    /// Tells different ledgers apart.
    var ledger: UInt64
    /// Tells the histories of different users and zones apart.
    var mark: UInt64
    var generation: Int64
    /// The sequence of the last change that was read.
    var sequence: Int64
    /// While a first listing lasts: deletions up to here are left out, since nobody was told of the records.
    var listing: Int64 = 0
    /// The sequence of a change that existed when the token was given.
    var witness: Int64 = 0
    /// The number of the epoch in which that change was made.
    var epoch: UInt64 = 0

    /// The newest change that this position is about.
    var newestSequence: Int64 { max(sequence, listing, generation) }

    var changeToken: ChangeToken {
        let marks = [ledger, mark, epoch].map { String($0, radix: 36) }
        let numbers = [generation, sequence, listing, witness].map { String($0, radix: 36) }
        return ChangeToken(Data("\(kind.rawValue).\((marks + numbers).joined(separator: "."))".utf8))
    }

    init(kind: Kind, ledger: UInt64, mark: UInt64, generation: Int64, sequence: Int64 = 0) {
        self.kind = kind
        self.ledger = ledger
        self.mark = mark
        self.generation = generation
        self.sequence = sequence
    }

    /// Reads a token; `nil` if no ledger wrote it.
    init?(_ token: ChangeToken) {
        let parts = String(decoding: token.data, as: UTF8.self).split(separator: ".")
        guard parts.count == 8, parts[0].count == 1, let kind = parts[0].first.flatMap(Kind.init(rawValue:))
        else { return nil }
        let marks = parts[1...3].compactMap { UInt64($0, radix: 36) }
        let numbers = parts[4...].compactMap { Int64($0, radix: 36) }
        guard marks.count == 3, numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.init(kind: kind, ledger: marks[0], mark: marks[1], generation: numbers[0], sequence: numbers[1])
        epoch = marks[2]
        listing = numbers[2]
        witness = numbers[3]
        // Nobody has read further than what was there.
        if witness < newestSequence { return nil }
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
