import RecordCoding

/// Entries on their way to the disk, first in, first out.
///
/// Appending, and removing in order, cost O(1), amortised. What is under way about a few records is found by their
/// names, so that a call costs what concerns it, however many calls are under way.
struct UncommittedBatches: Sendable {
    /// What an entry says about one record, or about all of them, and where it stands.
    private struct Place {
        var batch: BatchID
        var number: Int
        var entry: JournalEntry
    }

    /// The batches; those before the head are gone.
    private var batches: [UncommittedBatch] = []
    private var head = 0

    // Made when it is first needed, and thrown away with the batches that it was made of.
    private var placesByName = RecordTable<[Place]>()
    private var placesOfAll: [Place] = []
    /// The first batch that has no places yet.
    private var firstUnplaced = 0
    /// How many entries were ever looked at: what tests of the cost count.
    private(set) var lookedAtCount: Int

    init(lookedAtCount: Int = 0) {
        self.lookedAtCount = lookedAtCount
    }

    var count: Int { batches.count - head }
    var isEmpty: Bool { count == 0 }
    /// How many batches are kept, gone ones included.
    var keptCount: Int { batches.count }

    mutating func append(_ batch: UncommittedBatch) {
        batches.append(batch)
    }

    /// Removes a batch that the journal reports; it reports them in order.
    ///
    /// - Returns: The batch; `nil` if it is not the first, as after an earlier one was refused.
    mutating func removeFirst(_ id: BatchID) -> UncommittedBatch? {
        guard head < batches.count, batches[head].batch == id else { return nil }
        let batch = batches[head]
        batches[head].entries = []
        head += 1
        dropGone()
        return batch
    }

    /// Removes a batch that the disk has refused, and all later ones.
    ///
    /// - Returns: These batches, in order; none if the batch is not the first.
    mutating func removeAll(from id: BatchID) -> [UncommittedBatch] {
        guard head < batches.count, batches[head].batch == id else { return [] }
        defer { self = UncommittedBatches(lookedAtCount: lookedAtCount) }
        return Array(self)
    }

    /// What is under way about these records, in order, each entry cut down to them.
    ///
    /// Complexity: O(k log k) for the k entries that concern them; each entry is indexed once before.
    mutating func entries(about names: some Sequence<String>) -> [JournalEntry] {
        guard !isEmpty else { return [] }
        placeNew()
        let first = batches[head].batch
        var places = placesOfAll.filter { $0.batch >= first }
        for name in names {
            guard let found = placesByName[name] else { continue }
            lookedAtCount += found.count
            places += found.lazy.filter { $0.batch >= first }
        }
        places.sort { ($0.batch, $0.number) < ($1.batch, $1.number) }
        return places.map(\.entry)
    }

    // MARK: Parts

    private mutating func placeNew() {
        for batch in batches[Swift.max(head, firstUnplaced)...] {
            for (number, entry) in batch.entries.enumerated() {
                lookedAtCount += 1
                if entry.concernsAllRecords {
                    placesOfAll.append(Place(batch: batch.batch, number: number, entry: entry))
                }
                for (name, part) in entry.parts {
                    placesByName[name, default: []].append(
                        Place(batch: batch.batch, number: number, entry: part)
                    )
                }
            }
        }
        firstUnplaced = batches.count
    }

    private mutating func forgetPlaces() {
        firstUnplaced = head
        placesOfAll = []
        if !placesByName.isEmpty { placesByName = RecordTable() }
    }

    private mutating func dropGone() {
        // Only when half of it is gone, so each removal pays for a few batches.
        guard isEmpty || (head > 64 && head * 2 > batches.count) else { return }
        batches.removeFirst(head)
        head = 0
        forgetPlaces()
    }
}

extension UncommittedBatches: Sequence {
    func makeIterator() -> ArraySlice<UncommittedBatch>.Iterator { batches[head...].makeIterator() }
}

extension JournalEntry {
    /// Whether it changes records that it does not name.
    var concernsAllRecords: Bool {
        switch self {
        case .zoneLost, .purgeResolved, .signedOut(removing: true): true
        default: false
        }
    }

    /// What it says about each record that it names.
    fileprivate var parts: [(name: String, entry: JournalEntry)] {
        switch self {
        case .queued(let name, _), .edited(let name, _), .saved(let name, _, _), .deletionConfirmed(let name),
            .fetched(let name, _), .fetchedDeletion(let name), .resolved(let name, _, _, _),
            .parked(let name, _), .retried(let name), .discarded(let name), .record(let name, _):
            [(name, self)]
        case .sending(let contents): contents.map { ($0.name, .sending([$0])) }
        case .accepted(let changes): changes.map { ($0.name, .accepted([$0])) }
        // What a listing met, and what must be looked up, decides nothing about an edit.
        default: []
        }
    }
}
