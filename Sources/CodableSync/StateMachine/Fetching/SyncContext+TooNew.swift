import RecordCoding

/// Versions that a newer version of the app has written.
extension SyncContext {
    /// Receives a version that the cloud returned: it becomes known, and a change that must not be sent over it is
    /// parked.
    mutating func receive(_ key: RecordKey, _ type: ExactName, _ version: KnownVersion) {
        let former = state[key]
        state.receive(key, of: type, version)
        if let known = state[key]?.known, known.isTooNew, former?.known?.isSameVersion(as: known) != true {
            reportTooNew(key, known)
        }
        if state.isTooNew(version, of: type), let former, former.hasEdit(besides: version) {
            parkAsTooNew(key, version.schema)
        }
    }

    /// Parks a change to a record whose latest version has a schema version that this app can't read.
    mutating func parkAsTooNew(_ key: RecordKey, _ schema: SchemaVersion) {
        let isDeletion = state[key]?.pending?.isDeletion ?? false
        park(key, gap(of: key, schema).reasonToPark(isDeletion: isDeletion))
    }

    private func gap(of key: RecordKey, _ schema: SchemaVersion) -> NewerSchema {
        NewerSchema(found: schema, known: state.readableSchema(of: state.recordType(of: key)))
    }

    /// Notes which schema versions the app can read, if they have changed since the last opening.
    mutating func takeSchemas() {
        for schema in configuration.schemas {
            let former = state.schema(of: schema.type) ?? ReadableSchema(type: schema.type, version: .first)
            if former == schema { continue }
            let changes = schema.version < former.version ? changesToPark(readingOnly: schema) : []
            state.setReadable(schema)
            for key in state.tooNewQueue.keys {
                if let last = state[key]?.lastKnown { reportTooNew(key, last) }
            }
            for (key, found) in changes { parkAsTooNew(key, found) }
        }
    }

    private mutating func reportTooNew(_ key: RecordKey, _ version: KnownVersion) {
        emit(.undecodable(recordName: key.recordName, reason: gap(of: key, version.schema).description))
    }

    /// The changes that an app of a higher schema version has left, with the schema versions of their records.
    ///
    /// Complexity: O(n) in the records of the type.
    private func changesToPark(readingOnly schema: ReadableSchema) -> [(RecordKey, SchemaVersion)] {
        state.sortedKeys(of: schema.type).compactMap { key in
            guard let record = state[key], let last = record.lastKnown, record.isTooNew(for: schema),
                let pending = record.pending, pending.parked == nil
            else { return nil }
            return (key, last.schema)
        }
    }
}

extension RecordState {
    /// Whether this device has something to send other than this version.
    fileprivate func hasEdit(besides version: KnownVersion) -> Bool {
        guard let pending else { return lost.map { $0.hash != version.hash || !$0.isTooNew } ?? false }
        return pending.parked == nil
    }
}
