/// Of records whose last rows name contents that are lost, the last rows that do not.
///
/// A power loss can take a group that was not flushed and leave one behind it: the row of a merge, say, without its
/// contents. What a call had promised was flushed before, and stands in an earlier row.
struct FormerRows {
    /// The records as their last rows have them.
    private let last: [RecordKey: RecordState]
    private var rows: [RecordKey: Row] = [:]

    private struct Row {
        var row: StateRow
        var record: RecordState?
        /// Whether the row behind it has an edit.
        var isFollowedByEdit: Bool?
    }

    /// Looks for earlier rows of some records.
    ///
    /// - Parameter last: The records as their last rows have them.
    init(of last: [RecordKey: RecordState]) {
        self.last = last
    }

    var isEmpty: Bool { last.isEmpty }

    /// Takes a line; the lines are given in order.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - hasContents: Whether the contents that a row needs are stored.
    mutating func take(_ line: UnsafeRawBufferPointer, _ hasContents: (RecordState) -> Bool) {
        if JournalLine.handle(of: line) != nil { return }
        if let key = JournalLine.plainKey(of: line), last[key] == nil { return }
        let parsed: JournalLine.Parsed
        do {
            parsed = try JournalLine.parse(Array(line))
        } catch {
            // It is reported, or another one has replaced it.
            return
        }
        switch parsed.row {
        case .record(let key, _, let record):
            guard last[key] != nil else { return }
            if record.map(hasContents) ?? true {
                rows[key] = Row(row: parsed.row, record: record)
            } else if rows[key]?.isFollowedByEdit == nil {
                rows[key]?.isFollowedByEdit = record?.pending != nil
            }
        case .zone(let number, let zone):
            // The versions of a zone that was lost are those of another history.
            guard [.unknown, .unreadable].contains(zone.stage) else { return }
            rows = rows.filter { $0.key.zone != number || $0.value.record?.known == nil }
        case .summary(let summary):
            if summary.signOut == .removed { rows = [:] }
        case .streams, .note: break
        }
    }

    /// The earlier rows that count.
    ///
    /// An edit whose contents are lost was replaced by nothing, unless they were sent, and the cloud may have them. A
    /// version counts as not answered yet, if what was sent is there, and the answer was what came next. A deletion stays
    /// what it is, and comes back in place of no edit.
    ///
    /// - Parameter isStored: Whether contents are stored.
    /// - Returns: The rows, in the order of their records.
    func counting(_ isStored: (ContentHandle) -> Bool) -> [StateRow] {
        last.sorted { $0.key < $1.key }.compactMap { key, last in
            guard let former = rows[key] else { return nil }
            let edit = former.record?.pending
            let counts: Bool
            if let pending = last.pending {
                guard let handle = pending.handle, edit?.isDeletion != true else { return nil }
                counts = !isStored(handle) && !last.wasSent(handle)
            } else {
                let wasSent = edit?.handle.map { former.record?.wasSent($0) == true } ?? false
                counts = wasSent && former.isFollowedByEdit != true
            }
            return counts ? former.row : nil
        }
    }
}

extension RecordState {
    fileprivate func wasSent(_ handle: ContentHandle) -> Bool { sent.contains { $0.handle == handle } }
}
