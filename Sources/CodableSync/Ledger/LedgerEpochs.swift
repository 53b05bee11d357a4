/// The epochs of a user's history, each with its random number.
///
/// A sequence alone does not identify a change: if a history was cut short or restored from a backup, later changes get
/// the same sequences again. Change tags and change tokens therefore carry the number of an epoch, which shows whether
/// this history gave them.
///
/// The oldest epochs are forgotten; a token of one of them can't be checked any more.
struct LedgerEpochs: Sendable, Equatable {
    /// A part of the history, from its first sequence up to the next part.
    struct Epoch: Sendable, Equatable {
        var number: UInt64
        var firstSequence: Int64
    }

    /// Where a change token or a change tag was given.
    enum Origin: Equatable {
        /// By this history.
        case thisPast
        /// By a history that this ledger knows nothing of.
        case anotherPast
        /// Too long ago to tell.
        case forgotten
    }

    static let maximumCount = 4096

    /// In the order of their sequences.
    private(set) var epochs: [Epoch] = []

    /// The number under which the newest changes were written; 0 before the first part.
    var current: UInt64 { epochs.last?.number ?? 0 }

    mutating func begin(_ epoch: Epoch) {
        while let last = epochs.last, last.firstSequence >= epoch.firstSequence { epochs.removeLast() }
        epochs.append(epoch)
        if epochs.count > Self.maximumCount { epochs.removeFirst(Self.maximumCount / 4) }
    }

    /// The number under which a change was written; 0 before the first part that is known.
    func number(at sequence: Int64) -> UInt64 { index(of: sequence).map { epochs[$0].number } ?? 0 }

    /// Where something was given that names a sequence and a number, in a history that has come this far.
    func origin(of number: UInt64, at sequence: Int64, last: Int64) -> Origin {
        guard sequence <= last else { return .anotherPast }
        guard let index = index(of: sequence) else { return number == 0 ? .thisPast : .forgotten }
        return epochs[index].number == number ? .thisPast : .anotherPast
    }

    /// The change that a token names which has read up to a sequence: as early as possible, so that a later loss does
    /// not affect it, and not so early that its epoch is forgotten soon.
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

/// The change tag of a ledger, such as `5.1z141z4`: the sequence of the save and the number of its epoch.
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
