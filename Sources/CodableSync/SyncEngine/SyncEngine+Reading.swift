import RecordCoding

/// Reads of the current models: the cloud's latest known version, with pending edits on top.
extension SyncEngine {
    /// Reads one model.
    ///
    /// The result counts as given to the app: the next upload is based on it, or has no base if there is no
    /// such record.
    ///
    /// - Parameter name: The record's name.
    /// - Returns: The model; `nil` if there is none, if its deletion is pending, or if it cannot be decoded.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func model(named name: String) async throws -> Model? {
        try await models(named: [name]).first
    }

    /// Reads models, in the order of the names; missing ones are skipped.
    ///
    /// - Parameter names: The records' names.
    /// - Returns: The models.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func models(named names: [String]) async throws -> [Model] {
        give(try await read(names))
    }

    /// Reads all models, in the order of their record names.
    ///
    /// Complexity: O(n log n) in the records on this device.
    ///
    /// - Returns: The models. Models that can't be decoded are skipped, and reported once through
    ///   ``SyncEvent/undecodable(recordName:reason:)``.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func allModels() async throws -> [Model] {
        give(try await read(nil))
    }

    /// Returns the models of a read, and adds the note that the app was given them.
    private nonisolated func give(_ read: ReadModels<Model>) -> [Model] {
        if let note = read.note { callQueue.note(note) }
        return read.models
    }

    private func read(_ names: [String]?) async throws -> ReadModels<Model> {
        try await inOneSession {
            // Keeps the queue from growing if the app only reads.
            takeNotes()
            guard let all = names ?? machine?.state.sortedNames(of: Model.recordType) else {
                throw SyncError.closed
            }
            return try await modelsShown(for: all)
        }
    }

    /// Returns information about the engine's state.
    ///
    /// Complexity: O(n log n) in the undecodable records; independent of the number of other records.
    ///
    /// - Returns: Counts, the account, the last fetch, and notes of the last 1000 discarded values, parked
    ///   changes and recoveries.
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

    /// The contents that reads of these records show now.
    private func shownContents(of names: [String]) throws -> [ShownContents] {
        guard let state = machine?.state else { throw SyncError.closed }
        return names.compactMap { name in
            state.shownHandle(of: name).map { shown in
                ShownContents(
                    name: name,
                    shown: shown,
                    known: state[name]?.known?.handle,
                    base: state[name]?.versionBelow(shown)
                )
            }
        }
    }

    /// Returns the current models of these records, in order; models that can't be decoded are skipped.
    ///
    /// Contents are decoded off the actor, and decoded again if they are replaced in the meantime. Only
    /// returned models count as given to the app, so the note is made at the end, when nothing can throw any
    /// more.
    private func modelsShown(for names: [String]) async throws -> ReadModels<Model> {
        let began = session
        var decoded: [ExactName: DecodedContents<Model>] = [:]
        var shown = try shownContents(of: names)
        var rounds = 0
        while true {
            let replaced = shown.filter { decoded[named: $0.name]?.contents != $0 }
            // A record that keeps changing is shown in a recent version, but never as missing.
            let isMissing = replaced.contains { decoded[named: $0.name]?.isLost ?? true }
            if replaced.isEmpty || (rounds >= 8 && !isMissing) { break }
            rounds += 1
            let found = try await decode(replaced)
            decoded.merge(found) { $1 }
            // After a user switch, the former user's models are not returned.
            guard began == session else { return ReadModels(models: []) }
            shown = try shownContents(of: names)
        }
        let note = note(names, shown: shown, decoded)
        return ReadModels(models: shown.compactMap { decoded[named: $0.name]?.model }, note: note)
    }

    /// Counts the latest cloud versions that cannot be decoded, and reports each of them once.
    ///
    /// Versions are decoded after they are stored, so that no model's code runs before the fetch is durable,
    /// and in parts, to save memory.
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
                if !inVain.isEmpty { process(.calls(.decodeFailed(inVain))) }
                count += inVain.count
            }
        } catch {
            tellUnreadable("What was fetched cannot be read from the disk now: \(error)")
        }
        return count
    }

    /// Whether this is the cloud's latest known version; older versions may no longer be on disk.
    private func isLastWord(_ version: ReadVersion) -> Bool {
        machine?.state[version.name]?.known?.handle == version.handle
    }

    /// Makes the note of a read, which includes missing records, but not records that could not be decoded,
    /// which the next upload must not overwrite.
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
                        version: contents.shown == contents.known ? contents.shown : contents.base,
                        changeTag: tag
                    )
                )
            }
        }
        for name in names where !isShown.contains(ExactName(name)) {
            given.append(GivenContents(name: name, handle: nil))
        }
        if !inVain.isEmpty { process(.calls(.decodeFailed(inVain))) }
        return .read(session: session, generation: machine?.readGeneration ?? 0, given)
    }

    /// Reports contents that cannot be decoded, once.
    func tellUndecodable(_ found: [ExactName: DecodedContents<Model>]) {
        let inVain = found.sorted { $0.key < $1.key }.compactMap {
            $0.value.model == nil ? $0.value.inVain : nil
        }
        if !inVain.isEmpty { process(.calls(.decodeFailed(inVain))) }
    }

    func decode(_ wanted: [ShownContents]) async throws -> [ExactName: DecodedContents<Model>] {
        let coding = coding
        let journal = journal
        let task = Task.detached {
            var found: [ExactName: DecodedContents<Model>] = [:]
            for one in wanted {
                let contents = try journal?.load([one.shown, one.base].compactMap { $0 })
                let record = contents?[one.shown]?.completed(from: one.base.flatMap { contents?[$0] })
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
            throw unreadable(error)
        }
    }

    /// The error of a call that could not read its contents from the files.
    func unreadable(_ error: any Error) -> SyncError {
        if case .closed = phase { .closed } else { .stateUnreadable("\(error)") }
    }
}

/// The result of a read, and the note about the models given to the app.
private struct ReadModels<Model: Sendable>: Sendable {
    var models: [Model]
    var note: CallQueue.Note?
}

extension EditBasis {
    /// The contents to decode for an edit.
    var contents: ShownContents? {
        shown.map { ShownContents(name: name, shown: $0, known: known, base: base == $0 ? nil : base) }
    }
}

/// The contents that a read shows.
struct ShownContents: Equatable, Sendable {
    var name: String
    var shown: ContentHandle
    /// The cloud's latest version.
    var known: ContentHandle?
    /// The version on which a pending edit is based: the model gets its system fields, and its values of
    /// fields that the edit does not have.
    var base: ContentHandle?
}

/// The result of decoding contents for a read.
struct DecodedContents<Model: Sendable>: Sendable {
    var contents: ShownContents
    var model: Model?
    /// The reason why there is no model.
    var reason = ""
    /// Whether the stored contents are unreadable.
    var isLost = false

    /// The report about contents that cannot be decoded.
    var inVain: ReadVersion {
        ReadVersion(name: contents.name, handle: contents.shown, reason: reason, isLost: isLost)
    }
}
