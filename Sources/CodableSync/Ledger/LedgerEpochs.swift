/// The epochs of a user's history, each with its random number.
///
/// A sequence alone does not identify a change: if a history was cut short or restored from a backup, later
/// changes get the same sequences again. Change tags and change tokens therefore carry the number of an
/// epoch, which shows whether this history issued them.
///
/// The oldest epochs are dropped; a token from one of them can no longer be checked.
struct LedgerEpochs: Codable, Sendable, Equatable {
    /// A part of the history, from its first sequence up to the next part.
    struct Epoch: Codable, Sendable, Equatable {
        var number: UInt64
        var firstSequence: Int64
    }

    /// Which history issued a change token or a change tag.
    enum Origin: Equatable {
        /// This history.
        case thisPast
        /// A history that this ledger does not know.
        case anotherPast
        /// Unknown, because it was issued too long ago.
        case forgotten
    }

    static let maximumCount = 4096

    /// In the order of their sequences.
    private(set) var epochs: [Epoch] = []

    /// The number of the current epoch; 0 before the first one.
    var current: UInt64 { epochs.last?.number ?? 0 }

    mutating func begin(_ epoch: Epoch) {
        while let last = epochs.last, last.firstSequence >= epoch.firstSequence { epochs.removeLast() }
        epochs.append(epoch)
        if epochs.count > Self.maximumCount { epochs.removeFirst(Self.maximumCount / 4) }
    }

    /// The number of the epoch of a change; 0 before the first known epoch.
    func number(at sequence: Int64) -> UInt64 { index(of: sequence).map { epochs[$0].number } ?? 0 }

    /// The origin of a token or tag with a sequence and an epoch, in a history with this last sequence.
    func origin(of number: UInt64, at sequence: Int64, last: Int64) -> Origin {
        guard sequence <= last else { return .anotherPast }
        guard let index = index(of: sequence) else { return number == 0 ? .thisPast : .forgotten }
        return epochs[index].number == number ? .thisPast : .anotherPast
    }

    /// The witness for a token that has been read up to a sequence.
    ///
    /// It is as early as possible, so that a later loss does not affect it, but not so early that its epoch
    /// is dropped soon.
    func witness(for sequence: Int64, last: Int64) -> Int64 {
        let half = Self.maximumCount / 2
        guard epochs.count > half else { return sequence }
        return sequence < epochs[epochs.count - half].firstSequence ? last : sequence
    }

    private func index(of sequence: Int64) -> Int? {
        var low = 0
        var high = epochs.count
        while low < high {
            let middle = low + (high - low) / 2
            if epochs[middle].firstSequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }
}

/// A ledger's change tag, such as `5.1z141z4`: the sequence of the save and the number of its epoch.
struct LedgerTag: Equatable {
    var sequence: Int64
    var epoch: UInt64

    var text: String { String(sequence, radix: 36) + "." + String(epoch, radix: 36) }

    init(sequence: Int64, epoch: UInt64) {
        self.sequence = sequence
        self.epoch = epoch
    }

    /// Reads a tag; `nil` if no ledger wrote it.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let sequence = Int64(parts[0], radix: 36), sequence > 0,
            let epoch = UInt64(parts[1], radix: 36)
        else { return nil }
        self.init(sequence: sequence, epoch: epoch)
    }
}
