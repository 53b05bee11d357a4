import RecordCoding

/// A model to upload, and the original that it was edited from.
struct Draft: Sendable {
    enum Original: Sendable {
        /// Not specified: the draft replaces all fields of the version that the app saw last.
        case whole
        /// None: a new record.
        case nothing
        /// The fields of the model with which editing began.
        case fields([String: RecordValue])
        /// The version with this change tag.
        case version(changeTag: String)
    }

    var record: Record
    var original: Original
}

/// The result of applying a draft to the version that this device shows.
struct OverlaidDraft: Sendable {
    var record: Record
    var base: ContentHandle?
    /// Field values of the ancestor that differ from those in `base`.
    var contested: Contested

    enum Contested: Sendable {
        case contents(ContentHandle?)
        case fields(Record)
    }
}

/// Applies a draft's changes to the version that this device shows, as a pure function of the contents.
///
/// Only the fields in which the draft differs from its original are edited. All others stay as this device
/// shows them, however old the original is. If the cloud has changed an edited field since the original, the
/// field is contested: there is a conflict, and its ancestor has the original's value of that field, so that
/// the resolver sees both changes.
struct DraftOverlay<Model: RecordCodable>: Sendable {
    var coding: ModelCoding<Model>
    var draft: Draft
    var record: RecordState?
    var basis: EditBasis
    var contents: StoredContents

    /// The contents to load for an overlay.
    static func handles(of record: RecordState?, _ basis: EditBasis) -> [ContentHandle] {
        let sent = record?.sent.flatMap { [$0.handle, $0.base] } ?? []
        return ([basis.shown, basis.base, basis.contested, record?.seen, record?.lastKnown?.handle] + sent)
            .compactMap { $0 }
    }

    /// The contents to store; `nil` if the draft changes nothing.
    ///
    /// - Throws: ``SyncError`` if the shown contents cannot be decoded, or the result is invalid.
    func overlay() throws(SyncError) -> OverlaidDraft? {
        guard let handle = basis.shown else {
            return OverlaidDraft(record: draft.record, base: basis.base, contested: .contents(nil))
        }
        guard let original = originalFields else {
            // The original is no longer stored, so it is unknown what the draft changed.
            return OverlaidDraft(record: draft.record, base: nil, contested: .contents(nil))
        }
        let shown = try fieldsShown(handle)
        let edited = draft.record.fields.differingFields(from: original)
            .filter { !draft.record.fields.isSame($0, in: shown) }
        if edited.isEmpty { return nil }
        var record = draft.record
        record.fields = shown
        for (name, value) in draft.record.fields where ReservedField.isReserved(name) {
            record.fields[name] = value
        }
        for name in edited { record.fields[name] = draft.record.fields[name] ?? .null }
        try check(record)
        return OverlaidDraft(
            record: record,
            base: basis.base,
            contested: contested(edited, original, shown)
        )
    }

    /// The original's fields; `nil` if they are no longer stored.
    private var originalFields: [String: RecordValue]? {
        switch draft.original {
        case .fields(let fields): return fields
        case .nothing: return [:]
        case .whole:
            guard let seen = record?.seen else { return [:] }
            return contents[seen]?.fields
        case .version(let tag):
            if let edit = editCarrying(tag) { return edit.fields }
            if let known = record?.known, known.changeTag == tag { return contents[known.handle]?.fields }
            let handles = Self.handles(of: record, basis)
            return handles.lazy.compactMap { contents[$0] }.first { $0.recordChangeTag == tag }?.fields
        }
    }

    /// The pending edit, if the app has seen it, on a version with this change tag.
    private func editCarrying(_ tag: String) -> Record? {
        guard let seen = record?.seen, seen == basis.shown, let base = basis.base else { return nil }
        return contents[base]?.recordChangeTag == tag ? contents[seen] : nil
    }

    /// The fields that this device shows, without those that this version of the app does not know and must
    /// not change.
    private func fieldsShown(_ handle: ContentHandle) throws(SyncError) -> [String: RecordValue] {
        do {
            let model = try coding.decode(try contents.record(handle))
            return try coding.encode(model, edited: nil).fields
        } catch {
            throw .recordUndecodable(basis.name, reason: coding.describe(error))
        }
    }

    /// Checks the result, since two edits that are valid alone may be invalid together.
    private func check(_ record: Record) throws(SyncError) {
        do {
            try RecordLimits.checkSize(of: record)
            _ = try coding.decode(record)
        } catch {
            let reason = "Together with what this device shows: \(coding.describe(error))"
            throw .invalidModels([SyncError.InvalidModel(recordName: basis.name, reason: reason)])
        }
    }

    /// The edited fields that the cloud has changed since the original, with the original's values.
    private func contested(
        _ edited: [String],
        _ original: [String: RecordValue],
        _ shown: [String: RecordValue]
    ) -> OverlaidDraft.Contested {
        guard let ancestor = contents.ancestor(basis.base, basis.contested) else { return .contents(nil) }
        // This device's own unconfirmed changes do not count as the cloud's.
        var own = record?.sent.compactMap { contents[$0.handle]?.fields } ?? []
        if basis.shown != record?.lastKnown?.handle { own.append(shown) }
        let changed = edited.filter { name in
            !original.isSame(name, in: ancestor.fields) && !own.contains { original.isSame(name, in: $0) }
        }
        if changed.isEmpty { return .contents(basis.contested) }
        var record = ancestor
        record.systemFields = nil
        record.fields = basis.contested.flatMap { contents[$0]?.fields } ?? [:]
        for name in changed { record.fields[name] = original[name] ?? .null }
        return .fields(record)
    }
}
