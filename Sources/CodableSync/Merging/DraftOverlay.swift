import RecordCoding

/// A model to upload, and the original that it was edited from.
struct Draft: Sendable {
    enum Original: Sendable {
        /// Not specified: the draft replaces all fields of what this device shows.
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
    /// The draft replaces all fields of the version that this device shows.
    case whole
    /// The draft has no base, since this app cannot read the version.
    case unreadable
    case edited(Edit)

    struct Edit: Sendable {
        var record: Record
        /// What the edit was made on, without what must still be stored.
        var on: EditBase
        /// Field values of the ancestor that differ from those in the base, unless it has them already.
        var contested: Record?
        /// What this device shows, if the resolver must decide against that first, and the fields of the common
        /// ancestor that differ.
        var side: (shown: ContentHandle, ancestor: Record)?
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
    static func handles(of draft: Draft, _ record: RecordState?, _ basis: EditBasis) -> [ContentHandle] {
        if case .whole = draft.original { return [basis.shown].compactMap { $0 } }
        let sent = record?.sent.flatMap { [$0.handle, $0.base] } ?? []
        let stored: [ContentHandle?] =
            [record?.lastKnown?.handle, record?.readable?.handle] + (record?.carried.named ?? [])
        let earlier: [ContentHandle?] = record?.pending?.earlier ?? []
        let base = [basis.shown, basis.on.below, basis.on.contested]
        return (base + stored + sent + earlier).compactMap { $0 }
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
            return .edited(.init(record: draft.record, on: EditBase(basis.on.version)))
        }
        if case .whole = draft.original { return isReadable(handle) ? .whole : .unreadable }
        let (shown, stored) = try fieldsShown(handle)
        guard let original = originalFields(shown) else {
            // The original is no longer stored, so it is unknown what the draft changed.
            let record = try recordWithOwnEdit(shown)
            return .edited(.init(record: record, on: EditBase(.nothing, sides: basis.on.sides)))
        }
        let edited = draft.record.fields.differingFields(from: original).filter {
            !draft.record.fields.isSame($0, in: shown)
        }
        if edited.isEmpty { return .nothing }
        var record = draft.record
        record.fields = shown
        for (name, value) in draft.record.fields where ReservedField.isReserved(name) {
            record.fields[name] = value
        }
        for name in edited { record.fields[name] = draft.record.fields[name] ?? .null }
        record.fields.merge(record.fields.unchanged(from: stored, shownAs: shown)) { $1 }
        try check(record)
        let againstShown = decidedAgainstShown(edited, original, shown)
        var edit = OverlaidDraft.Edit(
            record: record,
            on: basis.on,
            contested: contested(edited.filter { !againstShown.contains($0) }, original, shown)
        )
        if !againstShown.isEmpty, var ancestor = contents[handle] {
            ancestor.systemFields = nil
            ancestor.fields = [:]
            for name in againstShown { ancestor.fields[name] = original[name] ?? .null }
            edit.side = (handle, ancestor)
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
        guard let record, record.isPendingOnTop, basis.on.below != nil || basis.on.isMerged else { return [] }
        // A new record was made without any original, so it replaces this device's own edit.
        if case .nothing = draft.original { return [] }
        let common = basis.on.below.flatMap { modelFields($0) } ?? [:]
        // What a lost version has is nowhere but in what this device shows.
        let own = edited.filter { name in
            (basis.on.lost != nil || !shown.isSame(name, in: common)) && !original.isSame(name, in: shown)
        }
        // What was merged into the edit may be missing in the original.
        return Set(basis.on.isMerged ? own : changedInCloud(own, original, shown, common))
    }

    // MARK: This device's own edit

    /// The draft with the changes of this device's unconfirmed edit.
    ///
    /// Fields in which the draft differs from the version below the edit keep the draft's values.
    private func recordWithOwnEdit(_ shown: [String: RecordValue]) throws(SyncError) -> Record {
        guard let record, record.isPendingOnTop, record.pending?.handle == basis.shown,
            let base = record.pending?.on.below, let before = modelFields(base)
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
        if let base = record.pending?.on.below {
            guard let fields = modelFields(base) else { return original }
            before = fields
        }
        var fields = original
        for name in shown.differingFields(from: before) { fields[name] = shown[name] ?? .null }
        return fields
    }

    /// The original's fields; `nil` if they are no longer stored.
    private func originalFields(_ shown: [String: RecordValue]) -> [String: RecordValue]? {
        switch draft.original {
        case .fields(let fields): return draft.countsOwnEdits ? withOwnEdits(fields, in: shown) : fields
        case .nothing, .whole: return [:]
        case .version(let tag):
            // A tag does not tell whether the model was read before or after an edit of this device.
            return version(with: tag).flatMap { version in
                modelFields(version).map { withOwnEdits(withOwnSaves($0, of: version), in: shown) }
            }
        }
    }

    /// The original with what this device has saved over a version of another device that the original lacks.
    private func withOwnSaves(
        _ original: [String: RecordValue],
        of version: ContentHandle
    ) -> [String: RecordValue] {
        guard let latest = record?.carried.doubt ?? record?.readable?.handle, version != latest,
            let base = record?.carried.ownBase,
            let before = modelFields(base), let after = modelFields(latest)
        else { return original }
        var fields = original
        for name in after.differingFields(from: before) { fields[name] = after[name] ?? .null }
        return fields
    }

    /// The version with a change tag: one that this device knows, or the base of its edit.
    private func version(with tag: String) -> ContentHandle? {
        if let version = record?.version(carriedAs: tag) { return version }
        return basis.on.below.flatMap { contents[$0]?.recordChangeTag == tag ? $0 : nil }
    }

    /// Whether this app can decode a version; one whose contents are lost is fetched again.
    private func isReadable(_ version: ContentHandle) -> Bool {
        guard let stored = contents[version] else { return true }
        do {
            try rules.check(stored)
            return true
        } catch {
            return false
        }
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
    ) -> Record? {
        let (version, contested) = (basis.on.version, basis.on.contested)
        guard let ancestor = contents.ancestor(version, contested) else { return nil }
        let isShown = version == basis.shown && contested == nil
        let common = isShown ? shown : modelFields(of: ancestor)
        let changed = changedInCloud(edited, original, shown, common)
        let conflicting = contested.flatMap { contents[$0]?.fields } ?? [:]
        if changed.isEmpty { return nil }
        var record = ancestor
        record.systemFields = nil
        record.fields = conflicting
        for name in changed { record.fields[name] = original[name] ?? .null }
        return record
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
        let sent = record?.sent.map(\.handle) ?? []
        let earlier = record?.isPendingOnTop == true ? record?.pending?.earlier ?? [] : []
        var own = (sent + earlier).compactMap { modelFields($0) }
        if basis.shown != record?.lastKnown?.handle { own.append(shown) }
        return edited.filter { name in
            !original.isSame(name, in: common) && !own.contains { original.isSame(name, in: $0) }
        }
    }
}
