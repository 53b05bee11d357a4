import RecordCoding

/// Tracks which model's engines use a zone of a database, or a state directory, in this process.
///
/// Engines of two models in one zone would treat each other's records as their own. Two connections to one
/// cloud count as two devices, which may run different versions of an app, unless both use the same state
/// directory, as two of ``LocalDatabase/local`` do.
final class ModelRegistry: Sendable {
    private enum Place: Hashable {
        /// One record type in one zone of one database object.
        case zone(of: ObjectIdentifier, zone: ZoneID, recordType: String)
        /// A directory on this computer's disk.
        case directory(String)
    }

    private struct Entry {
        var model: ObjectIdentifier
        var engines: Int
        var name: String
    }

    /// An engine's entries, which are removed when this object is released.
    final class Registration: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit { end() }
    }

    static let shared = ModelRegistry()

    private let entries = Locked<[Place: Entry]>([:])

    /// Registers an engine.
    ///
    /// - Parameters:
    ///   - model: The engine's model.
    ///   - zone: Its zone.
    ///   - database: Its database; one that is not an object is shared with no other engine.
    ///   - directory: Its state directory, if other engines can use that directory.
    /// - Returns: An object that keeps the entries as long as it lives.
    /// - Throws: ``SyncError/Code-swift.enum/configuration`` if a different model is registered there.
    func enter(
        _ model: any RecordCodable.Type,
        _ zone: ZoneID,
        of database: any CloudDatabase,
        storingAt directory: String? = nil
    ) throws -> Registration {
        var places: [Place] = []
        if type(of: database) is AnyClass {
            let object = ObjectIdentifier(database as AnyObject)
            places.append(.zone(of: object, zone: zone, recordType: model.recordType))
        }
        if let directory { places.append(.directory(directory)) }
        let entered = places
        let name = String(reflecting: model)
        let met = entries.withLock { entries -> (place: Place, other: String)? in
            for place in entered {
                guard let entry = entries[place], entry.model != ObjectIdentifier(model) else { continue }
                return (place, entry.name)
            }
            for place in entered {
                entries[place, default: Entry(model: ObjectIdentifier(model), engines: 0, name: name)]
                    .engines += 1
            }
            return nil
        }
        if let met { throw Self.clash(at: met.place, of: met.other, and: name) }
        // The entry keeps the database alive, so that no other object gets its identity.
        return Registration { [self, database] in
            withExtendedLifetime(database) { for place in entered { leave(place) } }
        }
    }

    private static func clash(at place: Place, of other: String, and name: String) -> SyncError {
        switch place {
        case .zone(_, let zone, let recordType):
            .configuration(
                "\(other) and \(name) both have the record type \"\(recordType)\" in the zone "
                    + "\"\(zone.zoneName)\". Give one of them another recordType or zoneName."
            )
        case .directory(let path):
            .configuration(
                "\(other) and \(name) both keep their state in \"\(path.shortenedForMessage)\". Give one of them "
                    + "another zoneName, or another directory."
            )
        }
    }

    private func leave(_ place: Place) {
        entries.withLock { entries in
            guard let count = entries[place]?.engines else { return }
            if count > 1 { entries[place]?.engines = count - 1 } else { entries[place] = nil }
        }
    }
}
