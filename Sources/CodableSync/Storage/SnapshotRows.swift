import RecordCoding

/// The settled rows of a log, as they are written: a record is parsed when somebody asks for it.
///
/// A row takes its bytes and eight more.
final class SnapshotRows: SettledRecords {
    /// The lines, one after another.
    private let lines: [UInt8]
    /// The digest of each key, and the offset of its line, in the order of these numbers.
    private let places: [UInt64]
    /// Where the rows of the journal start; those before it are in order, and so are those behind.
    private let secondRun: Int
    private let types: [(name: ExactName, number: RecordTypeNumber)]

    fileprivate init(
        _ lines: [UInt8],
        _ places: [UInt64],
        _ secondRun: Int?,
        _ types: [(name: ExactName, number: RecordTypeNumber)]
    ) {
        self.lines = lines
        self.places = places
        self.secondRun = secondRun ?? lines.count
        self.types = types
    }

    var count: Int { places.count }

    var sortedKeys: [RecordKey] {
        let offsets = places.map { UInt32(truncatingIfNeeded: $0) }.sorted()
        let keys = lines.withUnsafeBytes { lines in
            offsets.compactMap { offset in
                let line = Self.line(at: Int(offset), in: lines)
                return SettledRow(line).map { RecordKey(zone: $0.zone, name: $0.name(line)) }
            }
        }
        let first = offsets.prefix { $0 < secondRun }.count
        return RecordRows.merged(Array(keys[..<first]), Array(keys[first...]))
    }

    func contains(_ key: RecordKey) -> Bool { find(key) { _, _ in true } ?? false }

    subscript(key: RecordKey) -> RecordState? {
        find(key) { row, line in row.record(line, number(of: row.type, in: line)) }
    }

    private func number(of type: Range<Int>, in line: UnsafeRawBufferPointer) -> RecordTypeNumber {
        for (name, number) in types where name.text.utf8.elementsEqual(line[type]) { return number }
        return .unknown
    }

    private func find<Result>(
        _ key: RecordKey,
        _ body: (SettledRow, UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        let digest = UInt64(key.digest) << 32
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle] < digest { low = middle + 1 } else { high = middle }
        }
        return lines.withUnsafeBytes { lines in
            while low < places.count, places[low] >> 32 == UInt64(key.digest) {
                let line = Self.line(at: Int(UInt32(truncatingIfNeeded: places[low])), in: lines)
                if let row = SettledRow(line), row.zone == key.zone,
                    key.recordName.utf8.elementsEqual(line[row.name])
                {
                    return body(row, line)
                }
                low += 1
            }
            return nil
        }
    }

    fileprivate static func line(
        at start: Int,
        in lines: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        let end = lines.firstNewline(from: start) ?? lines.count
        return UnsafeRawBufferPointer(rebasing: lines[start..<end])
    }
}

extension SettledRow {
    /// The name, given the line.
    func name(_ line: UnsafeRawBufferPointer) -> ExactName {
        ExactName(String(decoding: line[name], as: UTF8.self))
    }
}

/// What settled rows give together.
struct SnapshotRowsBuilder {
    private var lines: [UInt8] = []
    private var places: [UInt64] = []
    /// Where the rows of the journal start.
    private var secondRun: Int?
    private var last: (zone: ZoneNumber, name: Range<Int>)?
    /// The types that were met, with the number of records of each.
    private(set) var types: [(name: ExactName, count: Int)] = []
    /// The zones that were met, with the number of records and the newest version of each.
    private(set) var zones: [(number: ZoneNumber, count: Int, newest: KnownVersion?)] = []

    var isEmpty: Bool { places.isEmpty }

    /// Takes a line; returns the row if it is a settled one, and its handle is not too high.
    mutating func take(
        _ line: UnsafeRawBufferPointer,
        upTo handle: UInt64,
        accepted: UInt64
    ) -> SettledRow? {
        guard lines.count + line.count < Self.maximumSize, let row = SettledRow(line, accepted: accepted),
            row.handle.number <= handle
        else { return nil }
        // They come in order, each once.
        if let last, !precedes(last, row.zone, UnsafeRawBufferPointer(rebasing: line[row.name])) {
            return nil
        }
        add(row, line)
        return row
    }

    /// The most bytes of lines; offsets have 32 bits.
    private static var maximumSize: Int { Int(clamping: UInt32.max) }

    private mutating func add(_ row: SettledRow, _ line: UnsafeRawBufferPointer) {
        last = (row.zone, (lines.count + row.name.lowerBound)..<(lines.count + row.name.upperBound))
        let name = UnsafeRawBufferPointer(rebasing: line[row.name])
        let digest = RecordKey.digest(zone: row.zone, name: name)
        places.append(UInt64(digest) << 32 | UInt64(lines.count))
        lines.append(contentsOf: line)
        lines.append(newline)
        count(row, line)
    }

    private func precedes(
        _ last: (zone: ZoneNumber, name: Range<Int>),
        _ zone: ZoneNumber,
        _ name: UnsafeRawBufferPointer
    ) -> Bool {
        if last.zone != zone { return last.zone < zone }
        return lines.withUnsafeBytes { $0[last.name].lexicographicallyPrecedes(name) }
    }

    private mutating func count(_ row: SettledRow, _ line: UnsafeRawBufferPointer) {
        if let index = types.firstIndex(where: { $0.name.text.utf8.elementsEqual(line[row.type]) }) {
            types[index].count += 1
        } else {
            types.append((ExactName(String(decoding: line[row.type], as: UTF8.self)), 1))
        }
        let index = zones.firstIndex { $0.number == row.zone } ?? zones.count
        if index == zones.count { zones.append((row.zone, 0, nil)) }
        zones[index].count += 1
        if let newest = zones[index].newest?.modified, let date = row.modified, newest > date { return }
        zones[index].newest = row.version(line)
    }

    /// Notes a version of a zone, if it is the newest.
    private mutating func note(_ version: KnownVersion, in index: Int) {
        if zones[index].newest?.isNewer(than: version) != true { zones[index].newest = version }
    }

    /// Whether there is room for so many bytes of lines and their newlines.
    func hasRoom(for count: Int) -> Bool { lines.count + count < Self.maximumSize }

    /// Drops the rows that later ones replace, and takes those of them that are settled.
    ///
    /// - Parameters:
    ///   - rows: The settled ones, in order.
    ///   - latest: All later rows.
    mutating func replace(with rows: [LatestRows.Row], of latest: LatestRows) {
        var dropped: [(row: SettledRow, line: Int)] = []
        places = places.filter { place in
            guard latest.mayContain(digest: UInt32(place >> 32)) else { return true }
            let offset = Int(UInt32(truncatingIfNeeded: place))
            return withLine(at: offset) { line in
                guard let row = SettledRow(line),
                    latest.contains(RecordKey(zone: row.zone, name: row.name(line)))
                else { return true }
                dropped.append((row, offset))
                return false
            }
        }
        for (row, offset) in dropped {
            let type = withLine(at: offset) { ExactName(String(decoding: $0[row.type], as: UTF8.self)) }
            if let index = types.firstIndex(where: { $0.name == type }) { types[index].count -= 1 }
            guard let index = zones.firstIndex(where: { $0.number == row.zone }) else { continue }
            zones[index].count -= 1
            // Found again among those that are left.
            if zones[index].newest?.handle == row.handle { zones[index].newest = nil }
        }
        findNewest()
        secondRun = lines.count
        for row in rows {
            latest.withLine(of: row) { line in
                if let row = SettledRow(line) { add(row, line) }
            }
        }
    }

    /// Finds the newest version of each zone that has none although it has records.
    private mutating func findNewest() {
        var indices: [ZoneNumber: Int] = [:]
        for index in zones.indices where zones[index].newest == nil && zones[index].count > 0 {
            indices[zones[index].number] = index
        }
        if indices.isEmpty { return }
        for place in places {
            let found = withLine(at: Int(UInt32(truncatingIfNeeded: place))) { line in
                SettledRow(line).flatMap { row in
                    indices[row.zone].map { (index: $0, version: row.version(line)) }
                }
            }
            if let found { note(found.version, in: found.index) }
        }
    }

    private func withLine<Result>(at offset: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        lines.withUnsafeBytes { body(SnapshotRows.line(at: offset, in: $0)) }
    }

    /// The rows, given the number of each type.
    func rows(_ numbers: [RecordTypeNumber]) -> SnapshotRows {
        SnapshotRows(lines, places.sorted(), secondRun, zip(types, numbers).map { ($0.name, $1) })
    }
}
