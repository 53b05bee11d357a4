import RecordCoding

/// A model to upload, and what it was edited from.
struct Draft: Sendable {
    enum Original: Sendable {
        /// Not said: the draft replaces the whole record, as the app was given it last.
        case whole
        /// The newest contents that the app was given.
        case seen
        /// What the screen began with.
        case fields([String: RecordValue])
        /// The version with this change tag.
        case version(changeTag: String)
    }

    var record: Record
    var original: Original
}

/// What a draft amounts to on top of what this device shows.
struct OverlaidDraft: Sendable {
    enum Base: Sendable {
        case contents(ContentHandle?)
        /// Contents that never were a version: the base, with the edited fields as they were in the original.
        case ancestor(Record)
    }

    var record: Record
    var base: Base
}

/// Lays what a draft has changed over what this device shows: a pure function of the contents.
///
/// Only the fields in which the draft differs from its original are its edit. All others stay as this device shows
/// them, however old the original is. A field that the cloud has changed since the original is a conflict, with an
/// ancestor in which that field is as in the original, so that the resolver sees both changes.
struct DraftOverlay<Model: RecordCodable>: Sendable {
    var coding: ModelCoding<Model>
    var draft: Draft
    var record: RecordState?
    var basis: EditBasis
    var contents: StoredContents

    /// The contents to load for an overlay.
    static func handles(of record: RecordState?, _ basis: EditBasis) -> [ContentHandle] {
        let sent = record?.sent.flatMap { [$0.handle, $0.base] } ?? []
        return ([basis.shown, basis.base, record?.seen, record?.lastKnown?.handle] + sent).compactMap { $0 }
    }

    /// The contents to store; `nil` if the draft changes nothing.
    ///
    /// - Throws: ``SyncError`` if what is shown cannot be decoded, or the result could not be.
    func overlay() throws(SyncError) -> OverlaidDraft? {
        guard let handle = basis.shown else {
            if case .fields(let original) = draft.original, edited(since: original).isEmpty { return nil }
            return OverlaidDraft(record: draft.record, base: .contents(basis.base))
        }
        guard let original = originalFields else {
            // Its version is stored no more: nobody knows what was changed.
            return OverlaidDraft(record: draft.record, base: .contents(nil))
        }
        let shown = try fieldsShown(handle)
        let edited = edited(since: original).filter { !draft.record.fields.isSame($0, in: shown) }
        if edited.isEmpty { return nil }
        var record = draft.record
        record.fields = shown
        for (name, value) in draft.record.fields where ReservedField.isReserved(name) {
            record.fields[name] = value
        }
        for name in edited { record.fields[name] = draft.record.fields[name] ?? .null }
        try check(record)
        return OverlaidDraft(record: record, base: base(of: edited, original, shown))
    }

    /// The fields in which the draft differs.
    private func edited(since original: [String: RecordValue]) -> [String] {
        draft.record.fields.differingFields(from: original)
    }

    /// The fields that the draft began with; `nil` if they are stored no more.
    private var originalFields: [String: RecordValue]? {
        switch draft.original {
        case .fields(let fields): return fields
        case .whole, .seen: return record?.seen.flatMap { contents[$0]?.fields } ?? [:]
        case .version(let tag):
            if let known = record?.known, known.changeTag == tag { return contents[known.handle]?.fields }
            let handles = Self.handles(of: record, basis)
            return handles.lazy.compactMap { contents[$0] }.first { $0.recordChangeTag == tag }?.fields
        }
    }

    /// What this device shows, without fields that this version of the app does not know: nothing may change those.
    private func fieldsShown(_ handle: ContentHandle) throws(SyncError) -> [String: RecordValue] {
        do {
            let model = try coding.decode(try contents.record(handle))
            return try coding.encode(model, edited: nil).fields
        } catch {
            throw .recordUndecodable(basis.name, reason: coding.describe(error))
        }
    }

    /// Two edits that fit by themselves may not fit together.
    private func check(_ record: Record) throws(SyncError) {
        do {
            try RecordLimits.checkSize(of: record)
            _ = try coding.decode(record)
        } catch {
            let reason = "Together with what this device shows: \(coding.describe(error))"
            throw .invalidModels([SyncError.InvalidModel(recordName: basis.name, reason: reason)])
        }
    }

    private func base(
        of edited: [String],
        _ original: [String: RecordValue],
        _ shown: [String: RecordValue]
    ) -> OverlaidDraft.Base {
        guard let handle = basis.base, var ancestor = contents[handle] else { return .contents(basis.base) }
        // What this device has changed itself, and nobody else has confirmed, is no change of the cloud.
        var own = record?.sent.compactMap { contents[$0.handle]?.fields } ?? []
        if basis.shown != record?.lastKnown?.handle { own.append(shown) }
        var isChanged = false
        for name in edited where !original.isSame(name, in: ancestor.fields) {
            if own.contains(where: { original.isSame(name, in: $0) }) { continue }
            ancestor.fields[name] = original[name] ?? .null
            isChanged = true
        }
        return isChanged ? .ancestor(ancestor) : .contents(handle)
    }
}
