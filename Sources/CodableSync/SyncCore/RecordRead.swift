import RecordCoding

/// A read of records in progress: the contents that it shows, and the values decoded so far.
struct RecordRead<Value: Sendable>: Sendable {
    /// The contents and the decoded value of one record.
    private struct Entry: Sendable {
        var key: RecordKey
        /// What reads show; `nil` if they show nothing.
        var shown: ShownContents?
        var decoded: DecodedContents<Value>?
        /// Why reads don't show the record, if they don't.
        var absence = Absence.unknown
    }

    private var entries: [Entry] = []
    /// The names of the records; `nil` means all of the type.
    private let names: [String]?
    private let type: ExactName
    /// The entries whose contents must be decoded.
    private var replaced: [Int] = []
    private var rounds = 0
    /// The view that was looked at last.
    private var lastView: Int?

    /// Begins a read.
    ///
    /// - Parameters:
    ///   - names: The records' names; `nil` means all.
    ///   - type: The type of the records.
    init(names: [String]?, of type: ExactName) {
        self.names = names
        self.type = type
    }

    /// Looks at the records, and determines what must be decoded.
    mutating func look(at view: StateView) {
        replaced = []
        // Nothing has changed.
        if view.number == lastView { return }
        determineKeys(in: view.state)
        lastView = view.number
        for index in entries.indices {
            let key = entries[index].key
            let record = view.state[key]
            entries[index].shown = record?.shown(named: key.recordName)
            if entries[index].shown == nil { entries[index].absence = record?.absence ?? .unknown }
            guard let shown = entries[index].shown, entries[index].decoded?.contents != shown else {
                continue
            }
            replaced.append(index)
        }
    }

    /// Determines which records are read: of a type, those of the moment.
    private mutating func determineKeys(in state: SyncState) {
        if lastView != nil, names != nil || rounds >= Self.maximumRounds { return }
        let keys = names?.map { state.key($0) } ?? state.sortedKeys(of: type)
        if keys.elementsEqual(entries.lazy.map(\.key)) { return }
        var former = RecordTable<DecodedContents<Value>>()
        for entry in entries { former[entry.key] = entry.decoded }
        entries = keys.map { Entry(key: $0, decoded: former[$0]) }
    }

    /// A read of records that keep changing ends after this many rounds.
    private static var maximumRounds: Int { 8 }

    /// Whether everything that was shown at the last look is decoded.
    ///
    /// A record that keeps changing is shown in a recent version, but never as missing.
    var isDone: Bool {
        replaced.isEmpty
            || (rounds >= Self.maximumRounds && !replaced.contains { entries[$0].decoded?.isLost ?? true })
    }

    /// Whether contents were not found.
    var hasLost: Bool { replaced.contains { entries[$0].decoded?.isLost == true } }

    /// Decodes what must be decoded.
    mutating func decode(
        from files: OpenFiles,
        _ model: any SyncedModel,
        _ decode: SyncCore.Decode<Value>
    ) async throws {
        rounds += 1
        let decoded = try await files.decode(replaced.compactMap { entries[$0].shown }, model, decode)
        for (index, one) in zip(replaced, decoded) { entries[index].decoded = one }
    }

    // MARK: The result

    /// The decoded values, in order.
    var result: ReadResult<Value> {
        ReadResult(
            values: entries.compactMap { $0.shown == nil ? nil : $0.decoded?.value },
            undecodable: undecodable,
            absence: entries.count == 1 ? entries[0].absence : .unknown
        )
    }

    private var undecodable: [ReadVersion] {
        entries.compactMap { entry in
            guard let shown = entry.shown, let decoded = entry.decoded, decoded.contents == shown,
                decoded.value == nil
            else { return nil }
            return decoded.failedRead
        }
    }
}

extension RecordState {
    /// What reads show of this record.
    fileprivate func shown(named name: String) -> ShownContents? {
        shownHandle.map {
            ShownContents(name: name, shown: $0, base: versionBelow($0))
        }
    }
}

/// The contents that a read shows.
struct ShownContents: Equatable, Sendable {
    var name: String
    var shown: ContentHandle
    /// The version on which a pending edit is based: the model gets its system fields, and its values of
    /// fields that the edit does not have.
    var base: ContentHandle?
}

extension OpenFiles {
    /// Loads and decodes contents, in parts; the next part is read meanwhile.
    ///
    /// - Returns: The results, in the order of the contents.
    /// - Throws: The reason why the files cannot be read; `CancellationError` if the task is cancelled.
    @concurrent
    func decode<Value: Sendable>(
        _ wanted: [ShownContents],
        _ model: any SyncedModel,
        _ decode: SyncCore.Decode<Value>
    ) async throws -> [DecodedContents<Value>] {
        var decoded: [DecodedContents<Value>] = []
        decoded.reserveCapacity(wanted.count)
        var part = wanted.prefix(Self.readingPart)
        var contents = try await load(part.flatMap(\.handles))
        while !part.isEmpty {
            let next = wanted[part.endIndex...].prefix(Self.readingPart)
            async let following = load(next.flatMap(\.handles))
            for one in part { decoded.append(one.decoded(from: contents, model, decode)) }
            contents = try await following
            part = next
        }
        return decoded
    }
}

extension ShownContents {
    fileprivate var handles: [ContentHandle] { base.map { [shown, $0] } ?? [shown] }

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
    var failedRead: ReadVersion {
        ReadVersion(name: contents.name, handle: contents.shown, reason: reason, isLost: isLost)
    }
}
