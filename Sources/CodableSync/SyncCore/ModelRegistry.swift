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
        private let subscription: Subscriptions.Place
        private let isSubscriber = Locked(true)

        fileprivate init(_ subscription: Subscriptions.Place, end: @escaping @Sendable () -> Void) {
            self.end = end
            self.subscription = subscription
            Subscriptions.shared.enter(subscription)
        }

        /// Needs the zone's subscription again.
        func subscribe() {
            let isNew = isSubscriber.withLock { isSubscriber in
                defer { isSubscriber = true }
                return !isSubscriber
            }
            if isNew { Subscriptions.shared.enter(subscription) }
        }

        /// No longer needs the zone's subscription.
        ///
        /// - Returns: Whether no other engine of this process needs it.
        func unsubscribe() -> Bool {
            let isNew = isSubscriber.withLock { isSubscriber in
                defer { isSubscriber = false }
                return isSubscriber
            }
            if isNew { Subscriptions.shared.leave(subscription) }
            return !Subscriptions.shared.isNeeded(subscription)
        }

        deinit {
            _ = unsubscribe()
            end()
        }
    }

    /// Counts the engines that need a zone's subscription, which they share.
    final class Subscriptions: Sendable {
        /// A zone of a cloud; in memory, each database is another device, as in tests.
        struct Place: Hashable, Sendable {
            var cloud: String
            var scope: DatabaseScope
            var zone: ZoneID
            var device: ObjectIdentifier?
        }

        static let shared = Subscriptions()

        private let counts = Locked<[Place: Int]>([:])

        func enter(_ place: Place) { counts.withLock { $0[place, default: 0] += 1 } }

        func leave(_ place: Place) {
            counts.withLock { counts in
                guard let count = counts[place] else { return }
                counts[place] = count > 1 ? count - 1 : nil
            }
        }

        func isNeeded(_ place: Place) -> Bool { counts.withLock { $0[place] != nil } }
    }

    static let shared = ModelRegistry()

    private let entries = Locked<[Place: Entry]>([:])

    /// Registers an engine.
    ///
    /// - Parameters:
    ///   - model: The engine's model.
    ///   - zone: Its zone.
    ///   - database: Its database; one that is not an object is shared with no other engine.
    ///   - cloud: The database's identifier.
    ///   - directory: Its state directory, if other engines can use that directory.
    /// - Returns: An object that keeps the entries as long as it lives.
    /// - Throws: ``SyncError/Code-swift.enum/configuration`` if a different model is registered there.
    func enter(
        _ model: any RecordCodable.Type,
        _ zone: ZoneID,
        of database: any CloudDatabase,
        named cloud: String,
        storingAt directory: String? = nil
    ) throws -> Registration {
        var places: [Place] = []
        var subscription = Subscriptions.Place(cloud: cloud, scope: database.scope, zone: zone)
        if type(of: database) is AnyClass {
            let object = ObjectIdentifier(database as AnyObject)
            if database.isInMemory { subscription.device = object }
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
        return Registration(subscription) { [self, database] in
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
