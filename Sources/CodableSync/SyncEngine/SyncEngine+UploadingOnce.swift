import RecordCoding

/// Uploads of what an app had before it synced.
extension SyncEngine {
    /// Uploads the models that the app had before its first sync, once.
    ///
    /// ```swift
    /// try await engine.uploadOnce { try oldStore.allNotes() }
    /// ```
    ///
    /// Call it at each launch: it calls the closure only while there is something to queue. The models are queued in
    /// parts, in the order of their record names. If the call is interrupted, the next one continues behind the last
    /// part, so the closure must then return the same models. Once all are queued, also if there are none, the closure
    /// isn't called again.
    ///
    /// There is one such upload for each model type: once it is complete, later calls with other models do nothing.
    /// Merge what comes from several sources into one array.
    ///
    /// The models are queued durably, even without a network. The engine fetches before it sends them. It does not
    /// send a model that is equal to the cloud's; a model that differs goes through the resolver, as an edit older than
    /// any other. A model whose record has an unsent edit is left out.
    ///
    /// By default, the models are for the first user whose records this engine has had on this device; for others, the
    /// call does nothing. Before anyone has signed in, they are queued for the first user who does. If the user changes
    /// during the call, it starts over for the next one.
    ///
    /// - Parameters:
    ///   - forEachUser: Whether every user of this device gets the models, not only the first one.
    ///   - progress: Called after each part, on the caller's actor, with the number of queued models and of all models,
    ///     those of earlier calls included.
    ///   - models: Returns the models; it is called on the caller's actor. If two have the same record name, the last
    ///     counts. If it throws, nothing more is queued, and the next call calls it again.
    /// - Returns: Whether all models are queued for the user who is signed in; `false` if they are for another user.
    ///   Keep the old store until it is `true`.
    /// - Throws: What the closure throws; ``SyncError``: `invalidModels` with every invalid model, and nothing is
    ///   queued then; `storageFull`, or the reason why the state cannot be used; `CancellationError`. Parts that are
    ///   queued stay queued.
    @discardableResult
    public func uploadOnce(
        forEachUser: Bool = false,
        progress: (_ queued: Int, _ total: Int) -> Void = { _, _ in },
        _ models: () async throws -> [Model]
    ) async throws -> Bool {
        while true {
            let upload: InitialUpload
            switch try await reportingRefusal(
                of: [],
                { try await core.beginInitialUpload(forEachUser: forEachUser) }
            ) {
            case .left(let left): upload = left
            case .complete: return true
            case .ofAnotherUser: return false
            }
            let given = try await models()
            let isQueued = try await reportingRefusal(of: given.map(\.recordName)) {
                try await queue(try await sorted(given), upload, progress)
            }
            if isQueued { return true }
        }
    }

    // MARK: Parts

    /// Queues the models that are left, and returns `false` if another user's state was opened.
    private func queue(
        _ models: [InitialModel<Model>],
        _ upload: InitialUpload,
        _ progress: (_ queued: Int, _ total: Int) -> Void
    ) async throws -> Bool {
        var queued = upload.last.flatMap { last in models.firstIndex { last < $0.name } ?? models.count } ?? 0
        repeat {
            try Task.checkCancellation()
            let part = try await encodePart(of: models[queued...])
            let end = queued + part.count
            let last = end < models.count ? models[end - 1].name : nil
            guard try await core.enqueue(part, through: last, of: upload) else { return false }
            queued = end
            progress(queued, models.count)
        } while queued < models.count
        return true
    }

    /// The models in the order of their names, all of which can be encoded.
    @concurrent
    private func sorted(_ models: [Model]) async throws -> [InitialModel<Model>] {
        // A later part must not be refused when earlier ones are already queued.
        try encode(models, edited: nil) { _ in }
        var last: [ExactName: Model] = [:]
        for model in models { last[ExactName(model.recordName)] = model }
        return last.map { InitialModel(name: $0, model: $1) }.sorted { $0.name < $1.name }
    }

    /// Encodes the first models, up to a number that a disk writes at once.
    @concurrent
    private func encodePart(of models: ArraySlice<InitialModel<Model>>) async throws -> [Draft] {
        var part: [Draft] = []
        var size = 0
        for model in models.prefix(1000) where size < 2_000_000 {
            try encode([model.model], edited: nil) { draft in
                size += draft.record.size
                part.append(draft)
            }
        }
        return part
    }
}

/// A model that the app had before its first sync.
private struct InitialModel<Model: RecordCodable>: Sendable {
    var name: ExactName
    var model: Model
}
