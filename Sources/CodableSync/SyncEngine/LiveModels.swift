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
/// A call shows its result before it returns, and takes its place among the engine's calls: later ones of any kind
/// count it, so ``SyncEngine/sync()`` sends an edit that was made just before, and ``SyncEngine/close()`` stores it.
/// Storing and sending happen in the background. If the engine refuses the call, for example because the disk is
/// full, the result disappears and ``failure`` has the reason. Once all calls are stored, the models equal those of
/// ``SyncEngine/allModels()``.
///
/// A call is about the user whose models are shown. If another user has signed in, but their models are not shown
/// yet, it is refused with ``SyncError/Code-swift.enum/userChanged``.
///
/// Creating this object costs nothing. It opens the engine and follows it from the first time that you read a
/// property or make a call, and keeps the engine alive.
@MainActor @Observable
public final class LiveModels<Model: RecordCodable> {
    /// The models by record name, including edits that are not stored yet.
    ///
    /// The models of this device appear together, when ``isLoaded`` becomes true; until then there are only those of
    /// your calls.
    public var models: [String: Model] {
        follow()
        return shown
    }
    /// Whether ``models`` has the models of this device, even if there are none.
    ///
    /// Show a placeholder until then. If another user signs in, it is false until that user's models are shown.
    public var isLoaded: Bool {
        follow()
        return hasLoaded
    }
    /// What the engine is doing.
    public var status: SyncStatus {
        follow()
        return currentStatus
    }
    /// Why the engine refused a call; `nil` after ``dismissFailure()``.
    public private(set) var failure: SyncError?

    /// The engine whose models these are.
    @ObservationIgnored public let engine: SyncEngine<Model>
    private var shown: [String: Model] = [:]
    private var hasLoaded = false
    private var currentStatus = SyncStatus.stopped
    /// The models that the stream has delivered.
    @ObservationIgnored private var delivered: [String: Model] = [:]
    /// Whether the stream has delivered anything.
    @ObservationIgnored private var hasBegun = false
    /// The core's session whose models the stream delivers; `nil` before it has delivered anything.
    @ObservationIgnored private var session: Int?
    /// Calls whose results the stream has not delivered yet, in order, by record name.
    @ObservationIgnored private(set) var calls: [String: [LiveCall<Model>]] = [:]
    /// The last stored call of each record whose result the stream may not have delivered.
    @ObservationIgnored private var stored: [String: Int] = [:]
    @ObservationIgnored private var isAwaitingOutcomes = false
    @ObservationIgnored private var lastCall = 0
    /// The stream, once this object is in use.
    @ObservationIgnored private var stream: StreamID?
    private let loops = Locked<[Task<Void, Never>]>([])

    /// Creates the models of an engine.
    ///
    /// - Parameter engine: The engine.
    public init(_ engine: SyncEngine<Model>) {
        self.engine = engine
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
        let (engine, place) = (engine, place(of: model, isEdit: true))
        let id = show(model.recordName) { shown in
            var edited = shown ?? model
            change(&edited)
            return edited
        }
        end(id, model.recordName, Task { try await engine.edit(model, at: place, change) })
    }

    /// Adds a model, and shows it at once; an existing model with its record name is replaced.
    ///
    /// The fields that differ from the model that is shown change; if another device has changed other ones in the
    /// meantime, they keep their values.
    ///
    /// - Parameter model: The model.
    public func add(_ model: Model) {
        let (engine, place) = (engine, place(of: model))
        let former = shown[model.recordName]
        let id = show(model.recordName) { _ in model }
        // The call does not need this actor, which the app may block while it ends.
        let call = Task { @concurrent in try await engine.upload(model, over: former, at: place) }
        end(id, model.recordName, call)
    }

    /// Deletes a model, and hides it at once.
    ///
    /// - Parameter model: The model; only its record name matters.
    public func delete(_ model: Model) {
        let (engine, place) = (engine, place(of: model))
        let id = show(model.recordName) { _ in nil }
        let call = Task { @concurrent in try await engine.delete(model, at: place) }
        end(id, model.recordName, call)
    }

    /// Clears ``failure``, once the user has seen it.
    public func dismissFailure() {
        failure = nil
    }

    // MARK: Following

    /// Begins to follow the engine, unless this object does so already.
    private func follow() {
        if stream != nil { return }
        let (stream, changes) = engine.hub.identifiedStream(.live)
        self.stream = stream
        let statuses = engine.status
        let following = [
            Task { [weak self] in
                for await change in changes { self?.take(change) }
            },
            Task { [weak self] in
                for await status in statuses { self?.currentStatus = status }
            },
        ]
        loops.withLock { $0 = following }
    }

    func take(_ change: ModelChange<Model>) {
        delivered.apply(change)
        switch change {
        case .reset:
            session = stream.flatMap { engine.hub.session(of: $0) }
            // Calls for the former records still end, but are no longer shown.
            if hasBegun { calls = [:] }
            hasBegun = true
            hasLoaded = false
            shown = calls.compactMapValues { $0.last?.shown }
        case .replayed:
            var models = delivered
            for (name, calls) in calls { models[name] = calls.last?.shown }
            shown = models
            hasLoaded = true
        case .updated, .saved, .deleted:
            // The models of a device appear together.
            guard hasLoaded else { return }
            for name in change.names { refresh(name) }
        }
    }

    /// Shows the result of the last call for a record, or what the stream has delivered.
    private func refresh(_ name: String) {
        if let call = calls[name]?.last {
            shown[name] = call.shown
        } else {
            shown[name] = delivered[name]
        }
    }

    // MARK: Showing calls

    /// Takes a call's place among the engine's calls, before anything else can be called.
    private func place(of model: Model, isEdit: Bool = false) -> CallQueue.Ticket {
        follow()
        return engine.place(of: model.recordName, isEdit: isEdit, in: session)
    }

    /// Shows the result of a call, and returns the call's number.
    private func show(_ name: String, _ change: @escaping @MainActor (Model?) -> Model?) -> Int {
        lastCall += 1
        calls[name, default: []].append(LiveCall(id: lastCall, change: change, shown: change(shown[name])))
        refresh(name)
        return lastCall
    }

    /// Shows the outcome of a call once it has ended.
    private func end(_ id: Int, _ name: String, _ call: Task<Void, any Error>) {
        Task { [weak self] in
            do {
                try await call.value
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
        guard !isAwaitingOutcomes, let stream else { return }
        isAwaitingOutcomes = true
        let engine = engine
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
        var model = index > 0 ? left[index - 1].shown : delivered[name]
        for later in left.indices[index...] {
            model = left[later].change(model)
            left[later].shown = model
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
