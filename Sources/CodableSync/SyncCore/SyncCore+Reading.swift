import RecordCoding

/// Reads of what this device shows: the cloud's latest known version, with pending edits on top.
///
/// A reader decodes the records itself: the core does not know models.
extension SyncCore {
    /// Decodes a record; called off the actor.
    typealias Decode<Value> = @Sendable (Record) throws -> Value

    /// Reads records.
    ///
    /// - Parameters:
    ///   - names: The records' names; `nil` means all.
    ///   - decode: Decodes a record.
    /// - Returns: What was decoded, in order, and the note that the app was given it.
    /// - Throws: ``SyncError`` if the state cannot be used; `CancellationError` if the task is cancelled.
    func read<Value: Sendable>(
        _ names: [String]?,
        _ decode: @escaping Decode<Value>
    ) async throws -> ReadResult<Value> {
        try await inOneSession {
            // Keeps the queue from growing if the app only reads.
            takeNotes()
            guard let all = names ?? machine?.state.sortedNames else { throw SyncError.closed }
            return try await valuesShown(for: all, decode)
        }
    }

    func diagnostics() async throws -> SyncDiagnostics {
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

    /// Decodes what these records show now, in order; what can't be decoded is skipped.
    ///
    /// Contents are decoded off the actor, and decoded again if they are replaced in the meantime. Only
    /// returned values count as given to the app, so the note is made at the end, when nothing can throw any
    /// more.
    private func valuesShown<Value: Sendable>(
        for names: [String],
        _ decode: @escaping Decode<Value>
    ) async throws -> ReadResult<Value> {
        let began = session
        var decoded: [ExactName: DecodedContents<Value>] = [:]
        var shown = try shownContents(of: names)
        var rounds = 0
        while true {
            let replaced = shown.filter { decoded[named: $0.name]?.contents != $0 }
            // A record that keeps changing is shown in a recent version, but never as missing.
            let isMissing = replaced.contains { decoded[named: $0.name]?.isLost ?? true }
            if replaced.isEmpty || (rounds >= 8 && !isMissing) { break }
            rounds += 1
            let found = try await self.decode(replaced, decode)
            decoded.merge(found) { $1 }
            // After a user switch, the former user's models are not returned.
            guard began == session else { return ReadResult(values: []) }
            shown = try shownContents(of: names)
        }
        let note = note(names, shown: shown, decoded)
        return ReadResult(values: shown.compactMap { decoded[named: $0.name]?.value }, note: note)
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
                    news.map { ShownContents(name: $0.name, shown: $0.handle, known: nil) },
                    { [model] in try model.check($0) }
                )
                guard began == session else { return 0 }
                let inVain = news.filter(isLastWord).compactMap { version -> ReadVersion? in
                    guard let one = found[named: version.name], one.value == nil else { return nil }
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
    private func note<Value>(
        _ names: [String],
        shown: [ShownContents],
        _ decoded: [ExactName: DecodedContents<Value>]
    ) -> CallQueue.Note? {
        guard let state = machine?.state else { return nil }
        var isShown: Set<ExactName> = []
        var inVain: [ReadVersion] = []
        var given: [GivenContents] = []
        for contents in shown {
            isShown.insert(ExactName(contents.name))
            guard let found = decoded[named: contents.name], found.contents == contents else { continue }
            if found.value == nil {
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
        return .read(session: session, losses: machine?.losses ?? 0, given)
    }

    /// Reports contents that cannot be decoded, once.
    func tellUndecodable<Value>(_ found: [ExactName: DecodedContents<Value>]) {
        let inVain = found.sorted { $0.key < $1.key }.compactMap {
            $0.value.value == nil ? $0.value.inVain : nil
        }
        if !inVain.isEmpty { process(.calls(.decodeFailed(inVain))) }
    }

    /// Loads and decodes contents, in parts.
    ///
    /// - Throws: ``SyncError`` if they cannot be read; `CancellationError` if the task is cancelled.
    func decode<Value: Sendable>(
        _ wanted: [ShownContents],
        _ decode: @escaping Decode<Value>
    ) async throws -> [ExactName: DecodedContents<Value>] {
        guard !wanted.isEmpty else { return [:] }
        guard let journal else { throw unreadable(JournalFailure.unreadable("The state is closed.")) }
        do {
            return try await Self.decode(wanted, from: journal, model, decode)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw unreadable(error)
        }
    }

    @concurrent
    private static func decode<Value: Sendable>(
        _ wanted: [ShownContents],
        from journal: JournalLane,
        _ model: any SyncedModel,
        _ decode: Decode<Value>
    ) async throws -> [ExactName: DecodedContents<Value>] {
        var found: [ExactName: DecodedContents<Value>] = [:]
        for start in stride(from: 0, to: wanted.count, by: JournalLane.readingPart) {
            let part = wanted[start..<min(start + JournalLane.readingPart, wanted.count)]
            let contents = try await journal.load(part.flatMap { [$0.shown, $0.base].compactMap { $0 } })
            for one in part { found[named: one.name] = one.decoded(from: contents, model, decode) }
        }
        return found
    }

    /// The error of a call that could not read its contents from the files.
    func unreadable(_ error: any Error) -> SyncError {
        if case .closed = phase { .closed } else { .stateUnreadable("\(error)") }
    }
}

/// The result of a read, and the note about what the app was given.
struct ReadResult<Value: Sendable>: Sendable {
    var values: [Value]
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

extension ShownContents {
    fileprivate func decoded<Value>(
        from contents: StoredContents,
        _ model: any SyncedModel,
        _ decode: SyncCore.Decode<Value>
    ) -> DecodedContents<Value> {
        var decoded = DecodedContents<Value>(contents: self)
        guard let record = contents[shown]?.completed(from: base.flatMap { contents[$0] }) else {
            decoded.reason = contents.unreadable[shown] ?? "The stored contents are missing."
            decoded.isLost = true
            return decoded
        }
        do {
            decoded.value = try decode(record)
        } catch {
            decoded.reason = model.describe(error)
        }
        return decoded
    }
}

/// The result of decoding contents for a read.
struct DecodedContents<Value: Sendable>: Sendable {
    var contents: ShownContents
    var value: Value?
    /// The reason why there is no value.
    var reason = ""
    /// Whether the stored contents are unreadable.
    var isLost = false

    /// The report about contents that cannot be decoded.
    var inVain: ReadVersion {
        ReadVersion(name: contents.name, handle: contents.shown, reason: reason, isLost: isLost)
    }
}
