/// The batches being stored, first in, first out.
///
/// Appending, and removing in order, are O(1), amortised.
struct UncommittedBatches: Sendable {
    /// The batches; those before the head have been removed.
    private(set) var batches: [UncommittedBatch] = []
    private var head = 0

    var count: Int { batches.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ batch: UncommittedBatch) {
        batches.append(batch)
    }

    /// Removes a batch that the journal has stored; the journal stores batches in order.
    ///
    /// - Returns: The batch; `nil` if it is not the first.
    mutating func removeFirst(_ id: BatchID) -> UncommittedBatch? {
        guard head < batches.count, batches[head].batch == id else { return nil }
        let batch = batches[head]
        batches[head] = UncommittedBatch(batch: id)
        head += 1
        // Moved only when more than half are removed, so that each removal costs O(1) on average.
        if isEmpty || (head > 64 && head * 2 > batches.count) {
            batches.removeFirst(head)
            head = 0
        }
        return batch
    }

    /// Removes a batch that could not be stored, and all later batches.
    ///
    /// - Returns: These batches, in order; none if the batch is not the first.
    mutating func removeAll(from id: BatchID) -> [UncommittedBatch] {
        guard head < batches.count, batches[head].batch == id else { return [] }
        defer { self = UncommittedBatches() }
        return Array(self)
    }
}

extension UncommittedBatches: Sequence {
    func makeIterator() -> ArraySlice<UncommittedBatch>.Iterator { batches[head...].makeIterator() }
}
