public import RecordCoding

/// Keeps the models of one type in sync on all of a user's devices.
///
/// ```swift
/// let engine = SyncEngine<Landmark>()
/// try await engine.upload(landmark)                            // creates it; durable here, sent soon afterwards
/// try await engine.edit(landmark) { $0.isFavorite = true }     // changes the newest version
/// for await change in engine.changes { … }                     // what other devices did
/// ```
///
/// An engine is a value: copy it and keep it anywhere. It starts by itself, with its first call or the first
/// request on one of its streams. All copies share one ``container``. Neither a waiting stream nor a request in
/// flight keeps the container alive. Releasing the last copy closes it like ``close()``, but in the background;
/// pending changes are sent after the next launch.
///
/// One engine at a time uses a state directory: while it does, the calls of another one throw
/// ``SyncError/Code-swift.enum/stateInUse``. An engine that opens the state directory of one that is still closing in
/// this process waits for it.
public struct SyncEngine<Model: RecordCodable>: Sendable {
    /// What the engine shares with its copies: the account, the state on this device, the queue of calls.
    public let container: SyncContainer
    let hub: ChangeHub<Model>

    /// Creates an engine without throwing or accessing the disk.
    ///
    /// - Parameters:
    ///   - database: The database with the records.
    ///   - configuration: The engine's configuration.
    public init(database: any CloudDatabase, configuration: SyncConfiguration = .init()) {
        let zoneID = ZoneID(zoneName: configuration.zoneName ?? Model.recordType)
        let coding = ModelCoding<Model>(
            zoneID: zoneID,
            writesEditDates: configuration.editDates == .recordField
        )
        let requests = StreamRequests()
        let calls = CallQueue { requests.ask(.wake) }
        hub = ChangeHub(of: coding, requests: requests, calls: calls)
        container = SyncContainer(
            SyncCore(hub, in: zoneID, on: database, configuration, requests: requests, calls: calls)
        )
    }

    var core: SyncCore { container.core }

    /// A new stream of changes by other devices and of confirmed uploads by this device, for an app with its
    /// own database; ``liveChanges`` is for an app that keeps its models in memory.
    ///
    /// Requesting the next element accepts the previous one. Changes that were not accepted are kept on disk
    /// and delivered again, to the next stream or after a restart. Leaving the loop does not accept the
    /// element. A stream is live from its first request. Each live stream gets every change, and a change is
    /// done when all of them have accepted it. Use a separate stream for each loop.
    ///
    /// The first stream on a device delivers all known models, as updates. When another user signs in,
    /// ``ModelChange/reset`` comes before the first of their records, even if the process ended in between.
    ///
    /// - A stream that you keep in a variable after leaving its loop is still live, and its changes stay
    ///   undelivered until you release it. A stream without any request holds nothing back.
    /// - Two tasks that share a stream share its elements. The next request of either accepts what was
    ///   delivered before, and the end of one loop ends the other; what was not accepted by then is delivered
    ///   again.
    /// - An operator that reads ahead, such as a buffer, accepts elements that its loop has not seen yet. If
    ///   a crash must not lose an element, take elements directly from the stream.
    /// - Changes to one record are coalesced to the newest one, including a deletion. An element holds at
    ///   most 200 records. Changes that are not accepted are kept on disk, not in memory.
    /// - A loop that holds an element while 1000 changes arrive for it is reported once by
    ///   ``SyncEvent/streamStalled(waiting:)``.
    /// - An element that was not accepted when the process ended may have crashed it. After the next launch,
    ///   its records are delivered one at a time, after all others; a record that was already delivered alone
    ///   comes last. So a record that crashes the app each time does not block the others.
    public var changes: AsyncStream<ModelChange<Model>> { hub.stream() }

    /// A new stream of all models and of every change to them, whether by this app, another device or a
    /// resolved conflict.
    ///
    /// A stream begins with ``ModelChange/reset`` and all known models, and continues with each change: this app's
    /// edits and deletions, their reversal if they are refused or discarded, and what other devices did. Once the
    /// engine is idle, applying the elements gives what ``allModels()`` returns, offline too:
    ///
    /// ```swift
    /// for await change in engine.liveChanges { landmarks.apply(change) }     // [String: Landmark]
    /// ```
    ///
    /// Each element has the newest contents, and changes to one record are coalesced. Requesting the next element
    /// accepts the previous one, as in ``changes``. Records that may have crashed the app come last and one at a
    /// time, after ``ModelChange/replayed``. A live stream keeps the names and a few words of memory for every
    /// record.
    public var liveChanges: AsyncStream<ModelChange<Model>> { hub.stream(.live) }
}

extension SyncEngine {
    /// Creates an engine on the platform's default database without throwing or accessing the disk: on Apple
    /// platforms the user's private iCloud database, in the container that the configuration names or the app's
    /// default one, elsewhere ``CloudDatabase/local``.
    ///
    /// - Parameter configuration: The engine's configuration.
    public init(configuration: SyncConfiguration = .init()) {
        #if canImport(CloudKit)
            let container = configuration.containerIdentifier
            self.init(database: .cloudKit(containerIdentifier: container), configuration: configuration)
        #else
            self.init(database: .default, configuration: configuration)
        #endif
    }
}
