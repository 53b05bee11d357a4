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

    private struct Engine {
        let model: any RecordCodable.Type
        let places: [Place]
        let subscription: Subscription
        var needsSubscription = true
        /// Kept alive, so that no other object gets its identity.
        let database: any CloudDatabase
    }

    /// The subscription to a zone of a cloud, which engines share; in memory, each database is another device, as in
    /// tests.
    private struct Subscription: Equatable {
        var cloud: String
        var scope: DatabaseScope
        var zone: ZoneID
        var device: ObjectIdentifier?
    }

    /// An engine's entry, which is removed when this object is released.
    final class Registration: Sendable {
        private let id: UInt64
        private let registry: ModelRegistry

        fileprivate init(_ id: UInt64, in registry: ModelRegistry) {
            self.id = id
            self.registry = registry
        }

        /// Needs the zone's subscription again.
        func subscribe() {
            registry.state.withLock { $0.engines[id]?.needsSubscription = true }
        }

        /// No longer needs the zone's subscription.
        ///
        /// - Returns: Whether no other engine of this process needs it.
        func unsubscribe() -> Bool {
            registry.state.withLock { state in
                state.engines[id]?.needsSubscription = false
                guard let subscription = state.engines[id]?.subscription else { return true }
                return !state.engines.values.contains {
                    $0.needsSubscription && $0.subscription == subscription
                }
            }
        }

        /// Removes the entry at once, since another thread may keep this object for an instant longer.
        func leave() { _ = registry.state.withLock { $0.engines.removeValue(forKey: id) } }

        deinit { leave() }
    }

    static let shared = ModelRegistry()

    private struct State {
        var engines: [UInt64: Engine] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Locked(State())

    /// Registers an engine.
    ///
    /// - Parameters:
    ///   - model: The engine's model.
    ///   - zone: Its zone.
    ///   - database: Its database; one that is not an object is shared with no other engine.
    ///   - cloud: The database's identifier.
    ///   - directory: Its state directory, if other engines can use that directory.
    /// - Returns: An object that keeps the entry as long as it lives.
    /// - Throws: ``SyncError/Code-swift.enum/configuration`` if a different model is registered there.
    func enter(
        _ model: any RecordCodable.Type,
        _ zone: ZoneID,
        of database: any CloudDatabase,
        named cloud: String,
        storingAt directory: String? = nil
    ) throws -> Registration {
        var places: [Place] = []
        var subscription = Subscription(cloud: cloud, scope: database.scope, zone: zone)
        if type(of: database) is AnyClass {
            let object = ObjectIdentifier(database as AnyObject)
            if database.isInMemory { subscription.device = object }
            places.append(.zone(of: object, zone: zone, recordType: model.recordType))
        }
        if let directory { places.append(.directory(directory)) }
        let engine = Engine(model: model, places: places, subscription: subscription, database: database)
        return try state.withLock { state in
            for place in places {
                let other = state.engines.values.first { $0.model != model && $0.places.contains(place) }
                if let other { throw Self.clash(at: place, of: other.model, and: model) }
            }
            state.lastID += 1
            state.engines[state.lastID] = engine
            return Registration(state.lastID, in: self)
        }
    }

    private static func clash(
        at place: Place,
        of other: any RecordCodable.Type,
        and model: any RecordCodable.Type
    ) -> SyncError {
        let (other, name) = (String(reflecting: other), String(reflecting: model))
        return switch place {
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
}
