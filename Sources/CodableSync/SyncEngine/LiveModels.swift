public import Observation
public import RecordCoding

/// The models of an engine for views: it follows ``SyncEngine/liveChanges``, and edits show at once.
///
/// ```swift
/// @State private var landmarks = LiveModels(Sync.landmarks)
///
/// Toggle("Favorite", isOn: Binding(get: { landmark.isFavorite }, set: { isOn in
///     landmarks.edit(landmark) { $0.isFavorite = isOn }
/// }))
/// ```
///
/// A call shows its result before it returns, and is made durable and sent in the background. If it is refused,
/// for example because the disk is full, what it showed is taken back and ``failure`` tells why. Calls for one
/// record take effect in their order. Once they are stored, the models are those of
/// ``SyncEngine/allModels()``.
///
/// The engine lives at least as long as this object, which follows it until it is released.
@MainActor @Observable
public final class LiveModels<Model: RecordCodable> {
    /// The models that reads show, with edits that are not stored yet, by record name; empty until the engine
    /// is open.
    public private(set) var models: [String: Model] = [:]
    /// What the engine is doing.
    public private(set) var status = SyncStatus.stopped
    /// Why a call was refused, until the app calls ``dismissFailure()``.
    public private(set) var failure: SyncError?

    /// The engine that the models are of.
    @ObservationIgnored public let engine: SyncEngine<Model>
    /// What the stream has told.
    @ObservationIgnored private var told: [String: Model] = [:]
    /// Calls that the stream has not told yet, in order.
    @ObservationIgnored private(set) var calls: [LiveCall<Model>] = []
    @ObservationIgnored private var lastCall = 0
    @ObservationIgnored private let stream: StreamID
    private let loops = Locked<[Task<Void, Never>]>([])

    /// Creates the models of an engine, and opens the engine.
    ///
    /// - Parameter engine: The engine.
    public init(_ engine: SyncEngine<Model>) {
        self.engine = engine
        let (stream, changes) = engine.face.hub.identifiedStream(.live)
        self.stream = stream
        let statuses = engine.status
        let following = [
            Task { [weak self] in
                for await change in changes { self?.take(change) }
            },
            Task { [weak self] in
                for await status in statuses { self?.status = status }
            },
        ]
        loops.withLock { $0 = following }
    }

    deinit {
        for loop in loops.withLock({ $0 }) { loop.cancel() }
    }

    // MARK: Calls

    /// Edits a model, and shows the result at once.
    ///
    /// The closure is called with the model that is shown, and again with the newest version, so it should
    /// make the user's change only: see ``SyncEngine/edit(_:ifMissing:_:)``.
    ///
    /// - Parameters:
    ///   - model: The model to edit.
    ///   - change: Changes the model.
    public func edit(_ model: Model, _ change: @escaping @MainActor (inout Model) -> Void) {
        let engine = engine
        show(model.recordName) { shown in
            var edited = shown ?? model
            change(&edited)
            return edited
        } calling: {
            try await engine.edit(model, change)
        }
    }

    /// Adds a model, and shows it at once; an existing model with its record name is replaced.
    ///
    /// - Parameter model: The model.
    public func add(_ model: Model) {
        let engine = engine
        show(model.recordName) { _ in
            model
        } calling: {
            try await engine.upload(model)
        }
    }

    /// Deletes a model, and shows it no more at once.
    ///
    /// - Parameter model: The model; only its record name matters.
    public func delete(_ model: Model) {
        let engine = engine
        show(model.recordName) { _ in
            nil
        } calling: {
            try await engine.delete(model)
        }
    }

    /// Forgets ``failure``, once the user has seen it.
    public func dismissFailure() {
        failure = nil
    }

    // MARK: Following

    func take(_ change: ModelChange<Model>) {
        told.apply(change)
        switch change {
        case .reset:
            // Calls for the former records still end; nothing of them is shown any more.
            calls = []
            models = [:]
        case .replayed: break
        case .updated, .saved, .deleted:
            for name in change.names { refresh(name) }
        }
    }

    /// Shows what the last call for a record has made of it, or what the stream has told.
    private func refresh(_ name: String) {
        let call = calls.last { $0.name == name }
        models[name] = call.map(\.shown) ?? told[name]
    }

    // MARK: Showing calls

    private func show(
        _ name: String,
        _ change: @escaping @MainActor (Model?) -> Model?,
        calling call: @escaping @MainActor () async throws -> Void
    ) {
        lastCall += 1
        let id = lastCall
        calls.append(LiveCall(id: id, name: name, change: change, shown: change(models[name])))
        refresh(name)
        let (engine, stream) = (engine, stream)
        Task { [weak self] in
            do {
                try await call()
                // The element with the outcome may still be on its way.
                await engine.untilTold(name, by: stream)
                self?.end(id)
            } catch {
                self?.takeBack(id, error)
            }
        }
    }

    private func end(_ id: Int) {
        guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
        let name = calls.remove(at: index).name
        refresh(name)
    }

    /// Shows the record without a refused call, with the later ones.
    private func takeBack(_ id: Int, _ error: any Error) {
        failure = error as? SyncError ?? SyncError(.stateUnreadable, message: "\(error)")
        guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
        let name = calls.remove(at: index).name
        var shown = calls[..<index].last { $0.name == name }.map(\.shown) ?? told[name]
        for later in calls.indices[index...] where calls[later].name == name {
            shown = calls[later].change(shown)
            calls[later].shown = shown
        }
        refresh(name)
    }
}

/// A call whose outcome the stream has not told yet.
struct LiveCall<Model> {
    let id: Int
    let name: String
    /// What the call makes of the record.
    let change: @MainActor (Model?) -> Model?
    /// The record after the call; `nil` if the call deletes it.
    var shown: Model?
}
