import RecordCoding

/// What this device knows, as the app sees it: the cloud's last word, with pending edits on top.
extension SyncEngine {
    /// Reads one model.
    ///
    /// A following upload counts as based on the model that this returns, or on nothing if there was none.
    ///
    /// - Parameter name: The record's name.
    /// - Returns: The model; `nil` if there is none, it is to be deleted, or it cannot be decoded.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func model(named name: String) async throws -> Model? {
        try await models(named: [name]).first
    }

    /// Reads models, in the order of the names; those that are not there are left out.
    ///
    /// - Parameter names: The records' names.
    /// - Returns: The models.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func models(named names: [String]) async throws -> [Model] {
        give(try await read(names))
    }

    /// Reads all models, in the order of their record names.
    ///
    /// Complexity: O(n log n) in the records of this device.
    ///
    /// - Returns: The models; such as cannot be decoded are left out, and told once by
    ///   ``SyncEvent/undecodable(recordName:reason:)``.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func allModels() async throws -> [Model] {
        give(try await read(nil))
    }

    /// Notes what the app receives, in its place among the app's calls.
    private nonisolated func give(_ read: ReadModels<Model>) -> [Model] {
        if let note = read.note { callQueue.note(note) }
        return read.models
    }

    private func read(_ names: [String]?) async throws -> ReadModels<Model> {
        try await inOneSession {
            // So an app that only reads accumulates no notes.
            takeNotes()
            guard let all = names ?? machine?.state.sortedNames else { throw SyncError.closed }
            return try await modelsShown(for: all)
        }
    }

    /// What the engine can tell about itself.
    ///
    /// Complexity: O(n log n) in the records that were found undecodable; nothing else is gone through.
    ///
    /// - Returns: Counts, the account, the last fetch, and the notes of the last 1000 discarded values, parkings
    ///   and recoveries.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func diagnostics() async throws -> SyncDiagnostics {
        try await ready()
        guard let machine else { throw SyncError.closed }
        let state = machine.state
        return SyncDiagnostics(
            cloud: database.identifier,
            userRecordName: machine.userRecordName,
            accountStatus: lastAccountStatus,
            status: currentStatus,
            knownCount: state.knownCount,
            pendingCount: state.pendingCount - state.parkedQueue.count,
            parkedCount: state.parkedQueue.count,
            undeliveredCount: state.deliveryQueue.count,
            undecodable: machine.undecodableNames,
            lastFetch: state.summary.lastFetch,
            stateDirectory: stateDirectory,
            notes: Array(state.notes.suffix(SyncState.maximumNotes))
        )
    }

    // MARK: Parts

    /// What reads of these records show now.
    private func shownContents(of names: [String]) throws -> [ShownContents] {
        guard let state = machine?.state else { throw SyncError.closed }
        return names.compactMap { name in
            state.shownHandle(of: name).map { shown in
                ShownContents(name: name, shown: shown, known: state[name]?.known?.handle)
            }
        }
    }

    /// The models that reads of these names show when this returns, in order; those that cannot be decoded are left
    /// out.
    ///
    /// Contents are decoded outside of the actor; what is replaced meanwhile is decoded again. Only what is returned
    /// counts as seen, so nothing does until everything that can throw is done.
    private func modelsShown(for names: [String]) async throws -> ReadModels<Model> {
        let began = session
        var decoded: [ExactName: DecodedContents<Model>] = [:]
        var shown = try shownContents(of: names)
        var rounds = 0
        while true {
            let replaced = shown.filter { decoded[named: $0.name]?.contents != $0 }
            // What is replaced again and again is shown as it was a moment ago, but never as missing.
            let isMissing = replaced.contains { decoded[named: $0.name]?.isLost ?? true }
            if replaced.isEmpty || (rounds >= 8 && !isMissing) { break }
            rounds += 1
            let found = try await decode(replaced)
            await catchUp(after: found)
            decoded.merge(found) { $1 }
            // Another user is here now: the former user's models are not returned.
            guard began == session else { return ReadModels(models: []) }
            shown = try shownContents(of: names)
        }
        let note = note(names, shown: shown, decoded)
        return ReadModels(models: shown.compactMap { decoded[named: $0.name]?.model }, note: note)
    }

    /// If contents are missing, waits until the machine knows of everything handed to the journal so far: a compaction
    /// drops what the journal has replaced, and the machine may not know of the replacement yet.
    func catchUp(after found: [ExactName: DecodedContents<Model>]) async {
        if found.values.contains(where: \.isLost) { await catchUp() }
    }

    /// Waits until the machine knows of everything handed to the journal so far.
    func catchUp() async {
        guard let mark = journal?.mark, journalRest < mark else { return }
        let began = session
        await wait { $0.session != began || $0.journalRest >= mark }
    }

    /// How many of these versions are the cloud's last word and cannot be decoded; each is reported once.
    ///
    /// They are decoded only after they are stored, so that no model's code runs before the fetch is durable; some at a
    /// time, so that their models need little memory.
    func undecodableCount(among versions: [ReadVersion]) async -> Int {
        let began = session
        var count = 0
        do {
            for start in stride(from: 0, to: versions.count, by: 200) {
                let news = versions[start..<min(start + 200, versions.count)].filter(isLastWord)
                let found = try await decode(
                    news.map { ShownContents(name: $0.name, shown: $0.handle, known: nil) }
                )
                guard began == session else { return 0 }
                let inVain = news.filter(isLastWord).compactMap { version -> ReadVersion? in
                    guard let one = found[named: version.name], one.model == nil else { return nil }
                    return one.inVain
                }
                if !inVain.isEmpty { process(.readInVain(inVain)) }
                count += inVain.count
            }
        } catch {
            tellUnreadable("What was fetched cannot be read from the disk now: \(error)")
        }
        return count
    }

    /// Whether nothing newer is known; what was replaced may be gone from the disk.
    private func isLastWord(_ version: ReadVersion) -> Bool {
        machine?.state[version.name]?.known?.handle == version.handle
    }

    /// What the app learns from a read: missing records are included; records that could not be returned are not.
    ///
    /// The next upload must not overwrite the latter.
    private func note(
        _ names: [String],
        shown: [ShownContents],
        _ decoded: [ExactName: DecodedContents<Model>]
    ) -> CallQueue.Note? {
        guard let state = machine?.state else { return nil }
        var isShown: Set<ExactName> = []
        var inVain: [ReadVersion] = []
        var given: [GivenContents] = []
        for contents in shown {
            isShown.insert(ExactName(contents.name))
            guard let found = decoded[named: contents.name], found.contents == contents else { continue }
            if found.model == nil {
                inVain.append(found.inVain)
            } else {
                let known = state[contents.name]?.known
                let tag = known?.handle == contents.shown ? known?.changeTag : nil
                given.append(
                    GivenContents(
                        name: contents.name,
                        handle: contents.shown,
                        known: contents.known,
                        changeTag: tag
                    )
                )
            }
        }
        for name in names where !isShown.contains(ExactName(name)) {
            given.append(GivenContents(name: name, handle: nil))
        }
        if !inVain.isEmpty { process(.readInVain(inVain)) }
        return .read(session: session, losses: machine?.losses ?? 0, given)
    }

    /// Reports what cannot be decoded, once.
    func tellUndecodable(_ found: [ExactName: DecodedContents<Model>]) {
        let inVain = found.sorted { $0.key < $1.key }.compactMap {
            $0.value.model == nil ? $0.value.inVain : nil
        }
        if !inVain.isEmpty { process(.readInVain(inVain)) }
    }

    func decode(_ wanted: [ShownContents]) async throws -> [ExactName: DecodedContents<Model>] {
        let coding = coding
        let journal = journal
        let storesSystemFields = Model.self is any SystemFieldsStoring.Type
        let task = Task.detached {
            var found: [ExactName: DecodedContents<Model>] = [:]
            for one in wanted {
                let contents = try journal?.load([one.shown])
                var record = contents?[one.shown]
                if storesSystemFields, record?.systemFields == nil, let known = one.known {
                    record?.systemFields = try journal?.load([known])[known]?.systemFields
                }
                var decoded = DecodedContents<Model>(contents: one)
                if let record {
                    do {
                        decoded.model = try coding.decode(record)
                    } catch {
                        decoded.reason = coding.describe(error)
                    }
                } else {
                    decoded.reason = contents?.unreadable[one.shown] ?? "The stored contents are missing."
                    decoded.isLost = true
                }
                found[named: one.name] = decoded
            }
            return found
        }
        do {
            return try await task.value
        } catch {
            throw SyncError.stateUnreadable("\(error)")
        }
    }
}

/// What a read returns, and a note of what the app has thereby seen.
private struct ReadModels<Model: Sendable>: Sendable {
    var models: [Model]
    var note: CallQueue.Note?
}

extension EditBasis {
    /// What to decode for an edit.
    var contents: ShownContents? { shown.map { ShownContents(name: name, shown: $0, known: known) } }
}

/// Contents that a read shows, and the cloud's version below them.
struct ShownContents: Equatable, Sendable {
    var name: String
    var shown: ContentHandle
    var known: ContentHandle?
}

/// What came of decoding contents for a read, which shows what can be shown.
struct DecodedContents<Model: Sendable>: Sendable {
    var contents: ShownContents
    var model: Model?
    /// Why there is no model.
    var reason = ""
    /// Whether the stored contents themselves cannot be read.
    var isLost = false

    /// What is reported of contents that cannot be shown.
    var inVain: ReadVersion {
        ReadVersion(name: contents.name, handle: contents.shown, reason: reason, isLost: isLost)
    }
}
