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
    /// What to do if the original's record is unknown.
    var ifMissing = MissingRecord.fail
    /// Whether the draft was made after every edit of this device, also of those that the original lacks.
    var countsOwnEdits = false
}

/// The result of applying a draft to the version that this device shows.
enum OverlaidDraft: Sendable {
    /// The draft changes nothing.
    case nothing
    /// This device already shows what the app has now.
    case shown(ContentHandle)
    case edited(Edit)

    struct Edit: Sendable {
        var record: Record
        var base: ContentHandle?
        /// Field values of the ancestor that differ from those in `base`.
        var contested: Contested
        /// Fields of the common ancestor that differ from those in what this device shows, if the resolver must
        /// decide against that first.
        var ancestorOfShown: Record?
        /// Whether a version of the cloud was merged into what the draft is applied to.
        var isMerged = false
        /// What the app has now, if that differs from the edited record: it lacks edits that the app has not
        /// seen.
        var copy: Record?
        /// The version that the draft carried, if that is newer than the one that the app got.
        var given: ContentHandle?
        /// Whether the draft changes only the app's copy.
        var isCopyOnly = false
    }

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
struct DraftOverlay: Sendable {
    var rules: any ModelRules
    var draft: Draft
    var record: RecordState?
    var basis: EditBasis
    var contents: StoredContents

    /// The contents to load for an overlay.
    static func handles(of record: RecordState?, _ basis: EditBasis) -> [ContentHandle] {
        let sent = record?.sent.flatMap { [$0.handle, $0.base] } ?? []
        let stored = [record?.given, record?.copy, record?.lastKnown?.handle]
        return ([basis.shown, basis.base, basis.contested] + stored + sent).compactMap { $0 }
    }

    /// The contents to store.
    ///
    /// - Throws: ``SyncError`` if the record is missing, the shown contents cannot be decoded, or the result is
    ///   invalid.
    func overlay() throws(SyncError) -> OverlaidDraft {
        guard let handle = basis.shown else {
            if case .fields = draft.original, basis.isUnknown, draft.ifMissing == .fail {
                throw .recordNotFound(basis.name)
            }
            return .edited(.init(record: draft.record, base: basis.base, contested: .contents(nil)))
        }
        let (shown, stored) = try fieldsShown(handle)
        guard let original = originalFields.map({ draft.countsOwnEdits ? withOwnEdits($0, in: shown) : $0 })
        else {
            // The original is no longer stored, so it is unknown what the draft changed.
            let record = try recordWithUnseenEdit(shown)
            let copy = copyIfDifferent(draft.record.fields, from: record.fields)
            return .edited(.init(record: record, base: nil, contested: .contents(nil), copy: copy))
        }
        let changed = draft.record.fields.differingFields(from: original)
        if changed.isEmpty { return .nothing }
        // A draft that carries a newer version proves that the app has it.
        let former = newerVersion == nil ? formerCopy(shown) : nil
        var copy = former ?? original
        for name in changed { copy[name] = draft.record.fields[name] ?? .null }
        let edited = changed.filter { !draft.record.fields.isSame($0, in: shown) }
        let isCopyNew = former.map { !copy.differingFields(from: $0).isEmpty } ?? true
        if edited.isEmpty, !isCopyNew || record?.isPendingOnTop != true { return .nothing }
        if edited.isEmpty, newerVersion == nil, copy.differingFields(from: shown).isEmpty {
            return .shown(handle)
        }
        var record = draft.record
        let dated = edited.isEmpty ? contents[handle] ?? record : record
        record.fields = shown
        for (name, value) in dated.fields where ReservedField.isReserved(name) {
            record.fields[name] = value
        }
        for name in edited { record.fields[name] = draft.record.fields[name] ?? .null }
        let unseen = copyIfDifferent(copy, from: record.fields)
        record.fields.merge(record.fields.unchanged(from: stored, shownAs: shown)) { $1 }
        try check(record)
        let againstShown = decidedAgainstShown(edited, original, shown)
        var edit = OverlaidDraft.Edit(
            record: record,
            base: basis.base,
            contested: contested(edited.filter { !againstShown.contains($0) }, original, shown),
            isMerged: basis.isMerged,
            copy: unseen,
            given: newerVersion,
            isCopyOnly: edited.isEmpty
        )
        if !againstShown.isEmpty, var ancestor = contents[handle] {
            ancestor.systemFields = nil
            ancestor.fields = [:]
            for name in againstShown { ancestor.fields[name] = original[name] ?? .null }
            edit.ancestorOfShown = ancestor
        }
        return .edited(edit)
    }

    /// The edited fields that are in conflict with this device's own edit, as it is shown.
    ///
    /// The cloud does not have that edit yet, and the original may have a part of it, so the resolver decides between
    /// the draft and what this device shows.
    private func decidedAgainstShown(
        _ edited: [String],
        _ original: [String: RecordValue],
        _ shown: [String: RecordValue]
    ) -> Set<String> {
        // Without a version of the cloud, the own edit yields to the later call.
        guard let record, record.isPendingOnTop, basis.base != nil || basis.isMerged else { return [] }
        // A new record was made without any original, so it replaces this device's own edit.
        if case .nothing = draft.original { return [] }
        let common = basis.base.flatMap { modelFields($0) } ?? [:]
        let own = edited.filter { !shown.isSame($0, in: common) && !original.isSame($0, in: shown) }
        // What was merged into the edit may be missing in the original.
        return Set(basis.isMerged ? own : changedInCloud(own, original, shown, common))
    }

    // MARK: The app's copy

    /// The fields that the app has seen last; `nil` if it has seen none that are still stored.
    private func formerCopy(_ shown: [String: RecordValue]) -> [String: RecordValue]? {
        guard let seen = record?.seen else { return nil }
        return seen == basis.shown ? shown : modelFields(seen)
    }

    private func copyIfDifferent(
        _ copy: [String: RecordValue],
        from fields: [String: RecordValue]
    ) -> Record? {
        if copy.differingFields(from: fields).isEmpty { return nil }
        var record = draft.record
        record.fields = copy
        return record
    }

    /// The draft with the changes of a pending edit that the app has not seen.
    ///
    /// Fields in which the draft differs from the version below the edit keep the draft's values.
    private func recordWithUnseenEdit(_ shown: [String: RecordValue]) throws(SyncError) -> Record {
        guard let record, record.isPendingOnTop, !record.isPendingSeen, record.pending?.handle == basis.shown,
            let base = record.pending?.base, let before = modelFields(base)
        else { return draft.record }
        var result = draft.record
        for name in shown.differingFields(from: before) where draft.record.fields.isSame(name, in: before) {
            result.fields[name] = shown[name] ?? .null
        }
        try check(result)
        return result
    }

    /// The original with the changes of this device's unconfirmed edit.
    private func withOwnEdits(
        _ original: [String: RecordValue],
        in shown: [String: RecordValue]
    ) -> [String: RecordValue] {
        guard let record, record.isPendingOnTop, record.pending?.handle == basis.shown else {
            return original
        }
        var before: [String: RecordValue] = [:]
        if let base = record.pending?.base {
            guard let fields = modelFields(base) else { return original }
            before = fields
        }
        var fields = original
        for name in shown.differingFields(from: before) { fields[name] = shown[name] ?? .null }
        return fields
    }

    /// The original's fields; `nil` if they are no longer stored.
    private var originalFields: [String: RecordValue]? {
        switch draft.original {
        case .fields(let fields): return fields
        case .nothing: return [:]
        case .whole:
            guard let seen = record?.seen else { return [:] }
            return modelFields(seen)
        case .version(let tag):
            if let model = editCarrying(tag) { return model }
            guard let version = version(with: tag) else { return nil }
            // The models that the app has uploaded carry the version that it was given before.
            let seen = version == versionGiven ? record?.seen.flatMap { modelFields($0) } : nil
            return seen ?? modelFields(version)
        }
    }

    /// The version that the app got, or had before the zone was lost.
    private var versionGiven: ContentHandle? { record?.given ?? record?.lost?.handle }

    /// The version that the draft carries, if that is newer than the one that the app got.
    private var newerVersion: ContentHandle? {
        guard case .version(let tag) = draft.original, let version = version(with: tag),
            [record?.known?.handle, record?.copy, basis.base].contains(version), version != versionGiven
        else { return nil }
        return record?.given.map { $0 < version } ?? true ? version : nil
    }

    /// A merged model that a stream delivers carries the version that it was merged with.
    private func editCarrying(_ tag: String) -> [String: RecordValue]? {
        if let given = versionGiven, changeTag(of: given) == tag { return nil }
        guard let edit = record?.pending?.handle, edit == basis.shown else { return nil }
        return contents[edit]?.recordChangeTag == tag ? modelFields(edit) : nil
    }

    /// The stored version with a change tag.
    private func version(with tag: String) -> ContentHandle? {
        if let given = versionGiven, changeTag(of: given) == tag { return given }
        if let known = record?.known, known.changeTag == tag { return known.handle }
        return Self.handles(of: record, basis).first { changeTag(of: $0) == tag }
    }

    private func changeTag(of version: ContentHandle) -> String? {
        if let known = record?.known, known.handle == version { return known.changeTag }
        return contents[version]?.recordChangeTag
    }

    /// The fields that this device shows, without those that this version of the app does not know and must
    /// not change, and all fields as they are stored.
    private func fieldsShown(
        _ handle: ContentHandle
    ) throws(SyncError) -> (shown: [String: RecordValue], stored: [String: RecordValue]) {
        do {
            let record = try contents.record(handle, over: record?.versionBelow(handle))
            return (try rules.shownFields(of: record), record.fields)
        } catch {
            throw .recordUndecodable(basis.name, reason: rules.describe(error))
        }
    }

    /// Checks the result, since two edits that are valid alone may be invalid together.
    private func check(_ record: Record) throws(SyncError) {
        do {
            try RecordLimits.checkSize(of: record)
            try rules.check(record)
        } catch {
            let reason = "Together with what this device shows: \(rules.describe(error))"
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
        let isShown = basis.base == basis.shown && basis.contested == nil
        let common = isShown ? shown : modelFields(of: ancestor)
        let changed = changedInCloud(edited, original, shown, common)
        let conflicting = basis.contested.flatMap { contents[$0]?.fields } ?? [:]
        if changed.isEmpty { return .contents(basis.contested) }
        var record = ancestor
        record.systemFields = nil
        record.fields = conflicting
        for name in changed { record.fields[name] = original[name] ?? .null }
        return .fields(record)
    }

    /// The edited fields that the cloud has changed since the original.
    private func changedInCloud(
        _ edited: [String],
        _ original: [String: RecordValue],
        _ shown: [String: RecordValue],
        _ common: [String: RecordValue]
    ) -> [String] {
        if edited.isEmpty { return [] }
        // This device's own unconfirmed changes do not count as the cloud's.
        var own = record?.sent.compactMap { modelFields($0.handle) } ?? []
        if basis.shown != record?.lastKnown?.handle { own.append(shown) }
        let conflicting = basis.contested.flatMap { contents[$0]?.fields } ?? [:]
        return edited.filter { name in
            !original.isSame(name, in: common) && !own.contains { original.isSame(name, in: $0) }
                && !isOwnCopy(of: name, original, below: shown, common, conflicting)
        }
    }

    /// Whether the original has the value that the app uploaded over a version that it got, and a later edit
    /// on this device has replaced that value since.
    private func isOwnCopy(
        of name: String,
        _ original: [String: RecordValue],
        below shown: [String: RecordValue],
        _ common: [String: RecordValue],
        _ conflicting: [String: RecordValue]
    ) -> Bool {
        // If the app was not given the base, another device may have written the base's value.
        guard let copy = record?.copy, let base = basis.base, record?.given == base,
            copy != record?.known?.handle, let fields = modelFields(copy)
        else { return false }
        return original.isSame(name, in: fields) && !shown.isSame(name, in: common)
            && conflicting[name] == nil
    }
}
