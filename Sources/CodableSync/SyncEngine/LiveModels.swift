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
/// A call shows its result before it returns; storing and sending happen in the background. If the engine refuses
/// the call, for example because the disk is full, the result disappears and ``failure`` has the reason. Calls for
/// one record take effect in order. Once all calls are stored, the models equal those of
/// ``SyncEngine/allModels()``.
///
/// This object keeps the engine alive.
@MainActor @Observable
public final class LiveModels<Model: RecordCodable> {
    /// The models by record name, including edits that are not stored yet; empty until the engine is open.
    public private(set) var models: [String: Model] = [:]
    /// What the engine is doing.
    public private(set) var status = SyncStatus.stopped
    /// Why the engine refused a call; `nil` after ``dismissFailure()``.
    public private(set) var failure: SyncError?

    /// The engine whose models these are.
    @ObservationIgnored public let engine: SyncEngine<Model>
    /// The models that the stream has delivered.
    @ObservationIgnored private var delivered: [String: Model] = [:]
    /// Whether the stream has delivered anything.
    @ObservationIgnored private var hasBegun = false
    /// Calls whose results the stream has not delivered yet, in order, by record name.
    @ObservationIgnored private(set) var calls: [String: [LiveCall<Model>]] = [:]
    /// The last stored call of each record whose result the stream may not have delivered.
    @ObservationIgnored private var stored: [String: Int] = [:]
    @ObservationIgnored private var isAwaitingOutcomes = false
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

    /// Deletes a model, and hides it at once.
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

    /// Clears ``failure``, once the user has seen it.
    public func dismissFailure() {
        failure = nil
    }

    // MARK: Following

    func take(_ change: ModelChange<Model>) {
        delivered.apply(change)
        switch change {
        case .reset:
            // Calls for the former records still end, but are no longer shown.
            if hasBegun { calls = [:] }
            models = calls.compactMapValues { $0.last?.shown }
        case .replayed: break
        case .updated, .saved, .deleted:
            for name in change.names { refresh(name) }
        }
        hasBegun = true
    }

    /// Shows the result of the last call for a record, or what the stream has delivered.
    private func refresh(_ name: String) {
        if let call = calls[name]?.last {
            models[name] = call.shown
        } else {
            models[name] = delivered[name]
        }
    }

    // MARK: Showing calls

    private func show(
        _ name: String,
        _ change: @escaping @MainActor (Model?) -> Model?,
        calling call: @escaping @MainActor () async throws -> Void
    ) {
        lastCall += 1
        let id = lastCall
        calls[name, default: []].append(LiveCall(id: id, change: change, shown: change(models[name])))
        refresh(name)
        Task { [weak self] in
            do {
                try await call()
                self?.takeStored(id, name)
            } catch {
                self?.takeBack(id, name, error)
            }
        }
    }

    /// Keeps showing a stored call until the stream has delivered its outcome.
    ///
    /// One task waits for the outcomes of all calls, since there may be thousands.
    private func takeStored(_ id: Int, _ name: String) {
        stored[name] = max(id, stored[name] ?? 0)
        if isAwaitingOutcomes { return }
        isAwaitingOutcomes = true
        let (engine, stream) = (engine, stream)
        Task { [weak self] in
            while let outcomes = self?.takeAwaited() {
                await engine.waitUntilDelivered(Array(outcomes.keys), by: stream)
                self?.end(outcomes)
            }
        }
    }

    /// The calls whose outcomes are awaited next; `nil` if there are none.
    private func takeAwaited() -> [String: Int]? {
        defer { stored = [:] }
        isAwaitingOutcomes = !stored.isEmpty
        return stored.isEmpty ? nil : stored
    }

    /// Ends calls, and the earlier ones for their records.
    private func end(_ outcomes: [String: Int]) {
        for (name, id) in outcomes {
            let later = calls[name]?.drop { $0.id <= id } ?? []
            calls[name] = later.isEmpty ? nil : Array(later)
            refresh(name)
        }
    }

    /// Shows the record without a refused call, but with the later ones.
    private func takeBack(_ id: Int, _ name: String, _ error: any Error) {
        failure = error as? SyncError ?? SyncError(.storageFailed, message: "\(error)")
        guard var left = calls[name], let index = left.firstIndex(where: { $0.id == id }) else { return }
        left.remove(at: index)
        var shown = index > 0 ? left[index - 1].shown : delivered[name]
        for later in left.indices[index...] {
            shown = left[later].change(shown)
            left[later].shown = shown
        }
        calls[name] = left.isEmpty ? nil : left
        refresh(name)
    }
}

/// A call whose result the stream has not delivered yet.
struct LiveCall<Model> {
    let id: Int
    /// Applies the call to the record.
    let change: @MainActor (Model?) -> Model?
    /// The record after the call; `nil` if the call deletes it.
    var shown: Model?
}
