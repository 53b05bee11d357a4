import RecordCoding

/// The contents that a read returned to the app and that the machine hasn't received yet.
///
/// A call needs only the contents of its own records, so the machine gets the rest of a large read in parts,
/// and no call waits for all of it. The order of reads and requests doesn't matter: the machine ignores
/// contents older than those that the app has seen.
struct GivenByRead: Sendable {
    /// The number of records in one part.
    static let part = 256

    /// The core's session when the read looked at the records.
    let session: Int
    /// The machine's generation of reads at that time.
    let generation: Int
    private var given: [GivenContents?]
    /// The records' positions, once they are needed.
    private var positions: [ExactName: Int] = [:]
    private var next = 0
    /// The number of records that are left to pass.
    private(set) var count: Int

    /// Creates the receipt of a read.
    ///
    /// - Parameters:
    ///   - session: The core's session when the read looked at the records.
    ///   - generation: The machine's generation of reads at that time.
    ///   - given: The returned contents, each record once.
    init(session: Int, generation: Int, _ given: [GivenContents]) {
        self.session = session
        self.generation = generation
        self.given = given
        count = given.count
        // A small read is passed as a whole, and seldom taken apart.
        if given.count > Self.part { makeIndex() }
    }

    private mutating func makeIndex() {
        positions.reserveCapacity(given.count)
        for (position, one) in given.enumerated() {
            if let one { positions[ExactName(one.name)] = position }
        }
    }

    /// Takes the next part out.
    mutating func takePart() -> [GivenContents] {
        var part: [GivenContents] = []
        while next < given.count, part.count < Self.part {
            if let one = given[next] { part.append(one) }
            given[next] = nil
            next += 1
        }
        count -= part.count
        return part
    }

    /// Takes everything out.
    mutating func takeAll() -> [GivenContents] {
        defer {
            given = []
            count = 0
        }
        return given.compactMap { $0 }
    }

    /// Takes out what concerns records.
    mutating func take(_ names: [ExactName]) -> [GivenContents] {
        if positions.isEmpty { makeIndex() }
        let taken = names.compactMap { name -> GivenContents? in
            guard let position = positions[name] else { return nil }
            defer { given[position] = nil }
            return given[position]
        }
        count -= taken.count
        return taken
    }
}
