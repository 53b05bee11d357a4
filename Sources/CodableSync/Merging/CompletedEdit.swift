import RecordCoding

// After an update of the app, the record of a pending edit may lack fields that the current version knows.
// They are not part of the edit, unlike fields that it clears, which the record has as nulls. A save leaves
// them as they are in the version below the edit, so models show them with that version's values.

extension Record {
    /// This edit with the values of another record for the fields that this edit lacks.
    ///
    /// - Parameter base: The version that the edit changes; `nil` if there is none.
    /// - Returns: The record that results from a save over that version, with the version's system fields
    ///   unless this one has its own.
    func completed(from base: Record?) -> Record {
        guard let base else { return self }
        var record = self
        record.systemFields = systemFields ?? base.systemFields
        for (name, value) in base.fields where fields[name] == nil && !ReservedField.isReserved(name) {
            record.fields[name] = value
        }
        return record
    }
}

extension RecordState {
    /// The version below an unconfirmed edit; `nil` for other contents.
    func versionBelow(_ handle: ContentHandle) -> ContentHandle? {
        if let pending, pending.handle == handle || pending.earlier.contains(handle) {
            return pending.on.below
        }
        return sent.first { $0.handle == handle }?.base
    }
}

extension StoredContents {
    /// A record, completed from the version below it if that can be read.
    ///
    /// - Throws: ``UnreadableContents`` if the record cannot be read.
    func record(_ handle: ContentHandle, over below: ContentHandle?) throws(UnreadableContents) -> Record {
        try record(handle).completed(from: below.flatMap { self[$0] })
    }
}

extension DraftOverlay {
    /// The fields of stored contents as this version of the app encodes them, so that they can be compared
    /// with those of a model; `nil` if the contents cannot be read.
    func modelFields(_ handle: ContentHandle) -> [String: RecordValue]? {
        guard let stored = contents[handle] else { return nil }
        let below = record?.versionBelow(handle)
        return modelFields(of: stored.completed(from: below.flatMap { contents[$0] }))
    }

    /// The fields of a record as this version of the app shows them.
    func modelFields(of record: Record) -> [String: RecordValue] {
        do {
            return try rules.shownFields(of: record)
        } catch {
            // The model cannot show this record, so its fields are compared as they are stored.
            return record.fields
        }
    }
}

extension ConflictContents {
    /// The edit as models show it.
    ///
    /// Without an ancestor, the cloud's version has the only value of a field that the edit does not have.
    func completed(_ client: Record) -> Record { client.completed(from: ancestor ?? server) }
}
