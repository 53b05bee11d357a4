import RecordCoding

/// Which model's engines use a zone of a database, in this process: two models in one zone would take each other's
/// records for their own.
final class ModelRegistry: Sendable {
    /// One record type in one zone of one database object.
    private struct Place: Hashable {
        var database: ObjectIdentifier
        var zone: ZoneID
        var recordType: String
    }

    private struct Entry {
        var model: ObjectIdentifier
        var engines: Int
        var name: String
    }

    /// An engine's entry, which ends with it.
    final class Registration: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit { end() }
    }

    static let shared = ModelRegistry()

    private let entries = Locked<[Place: Entry]>([:])

    /// Enters an engine.
    ///
    /// - Parameters:
    ///   - model: The engine's model.
    ///   - zone: Its zone.
    ///   - database: Its database; one that is no object is its own, and meets nobody.
    /// - Returns: What keeps the entry.
    /// - Throws: ``SyncError/configuration(_:)`` if a different model of the same record type is there.
    func enter<Model: RecordCodable>(
        _ model: Model.Type,
        _ zone: ZoneID,
        of database: any CloudDatabase
    ) throws -> Registration? {
        guard type(of: database) is AnyClass else { return nil }
        let object = database as AnyObject
        let place = Place(
            database: ObjectIdentifier(object),
            zone: zone,
            recordType: Model.recordType
        )
        let name = String(reflecting: model)
        let other = entries.withLock { entries -> String? in
            var entry =
                entries[place] ?? Entry(model: ObjectIdentifier(model), engines: 0, name: name)
            guard entry.model == ObjectIdentifier(model) else { return entry.name }
            entry.engines += 1
            entries[place] = entry
            return nil
        }
        if let other {
            throw SyncError.configuration(
                "\(other) and \(name) both have the record type \"\(Model.recordType)\" in the zone "
                    + "\"\(zone.zoneName)\". Give one of them another recordType or zoneName."
            )
        }
        // The database lives as long as the entry, so that its identity is nobody else's.
        return Registration { [self, database] in
            withExtendedLifetime(database) { leave(place) }
        }
    }

    private func leave(_ place: Place) {
        entries.withLock { entries in
            guard let count = entries[place]?.engines else { return }
            if count > 1 { entries[place]?.engines = count - 1 } else { entries[place] = nil }
        }
    }
}
