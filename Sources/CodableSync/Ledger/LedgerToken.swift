import RecordCoding

import struct Foundation.Data

/// The contents of a ledger's change token: its history, and how far the client has read it.
///
/// The generation changes with the history: when a zone is created again or tokens expire. Witness and epoch
/// identify a change that existed when the token was issued; a history without that change is another one.
struct LedgerToken: Equatable {
    enum Kind: Character {
        case database = "d"
        case zone = "z"
    }

    var kind: Kind
    /// Distinguishes different ledgers.
    var ledger: UInt64
    /// Distinguishes the histories of different users and zones.
    var mark: UInt64
    var generation: Int64
    /// The sequence of the last change that was read.
    var sequence: Int64
    /// During a first listing, deletions up to this sequence are omitted, since the client does not know the
    /// records.
    var listing: Int64 = 0
    /// The sequence of a change that existed when the token was issued.
    var witness: Int64 = 0
    /// The number of that change's epoch.
    var epoch: UInt64 = 0

    /// The sequence of the newest change that the token refers to.
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
        // A token cannot refer to changes after its witness.
        if witness < newestSequence { return nil }
    }

    /// A hash that is the same in every process.
    static func mark(_ names: [String]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for name in names {
            for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            // 255 never occurs in UTF-8, so ["ab"] and ["a", "b"] differ.
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        return hash
    }
}
