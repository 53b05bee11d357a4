import RecordCoding

/// Versions that a newer version of the app has written.
extension SyncContext {
    /// The entries for a version that the cloud returned: it becomes known, and a change that must not be sent
    /// over it is parked.
    mutating func fetched(_ key: RecordKey, _ type: ExactName, _ version: KnownVersion) -> [JournalEntry] {
        let entry = JournalEntry.fetching(.fetched(key, type: type, version))
        guard state.isTooNew(version, of: type), state[key]?.hasEdit(besides: version) == true else {
            return [entry]
        }
        return [entry] + parkAsTooNew(key, version.schema, of: type)
    }

    /// Parks a change to a record whose latest version has a schema version that this app can't read.
    mutating func parkAsTooNew(
        _ key: RecordKey,
        _ schema: SchemaVersion,
        of type: ExactName?,
        isDeletion: Bool? = nil
    ) -> [JournalEntry] {
        let gap = NewerSchema(found: schema, known: state.readableSchema(of: type))
        let isDeletion = isDeletion ?? state[key]?.pending?.isDeletion ?? false
        return park(key, gap.reasonToPark(isDeletion: isDeletion))
    }

    /// Notes which schema versions the app can read, if they have changed since the last opening.
    mutating func takeSchemas() {
        for schema in configuration.schemas {
            let former = state.schema(of: schema.type) ?? ReadableSchema(type: schema.type, version: .first)
            if former == schema { continue }
            var entries: [JournalEntry] = [.fetching(.readable(schema))]
            if schema.version < former.version { entries += parkAfterDowngrade(to: schema) }
            append(entries)
        }
    }

    /// Parks the changes that an app of a higher schema version has left.
    ///
    /// Complexity: O(n) in the records of the type.
    private mutating func parkAfterDowngrade(to schema: ReadableSchema) -> [JournalEntry] {
        var entries: [JournalEntry] = []
        for key in state.sortedKeys(of: schema.type) {
            guard let record = state[key], let last = record.lastKnown, last.schema > schema.version,
                let pending = record.pending, pending.parked == nil
            else { continue }
            let gap = NewerSchema(found: last.schema, known: schema.version)
            entries += park(key, gap.reasonToPark(isDeletion: pending.isDeletion))
        }
        return entries
    }
}

extension SyncState {
    /// The event about a version that this app can't read.
    func eventOfTooNew(_ key: RecordKey, _ version: KnownVersion) -> Report {
        let known = readableSchema(of: recordType(of: key))
        let reason = NewerSchema(found: version.schema, known: known).description
        return .event(.undecodable(recordName: key.recordName, reason: reason))
    }
}

extension RecordState {
    /// Whether this device has something to send other than this version.
    fileprivate func hasEdit(besides version: KnownVersion) -> Bool {
        guard let pending else { return lost.map { $0.hash != version.hash || !$0.isTooNew } ?? false }
        return pending.parked == nil
    }
}
