import RecordCoding

// While the latest version is too new, reads show what they showed before it came: the last readable version,
// or an edit on top of that. Nothing but a lost version is sent; edits and deletions are parked. It ends with
// the next version that this app can read, with an update of the app, or with the record.
extension RecordState {
    /// Whether a newer version of the app has written the latest version, so that this one can't read it.
    package var isTooNew: Bool { lastKnown?.isTooNew == true }

    /// The latest version that this app can read; `nil` if it never had one.
    package var readable: KnownVersion? {
        guard let lastKnown, lastKnown.isTooNew else { return lastKnown }
        return kept
    }

    /// Whether the pending change is parked until a version of the app can read the latest version.
    package var isParkedAsTooNew: Bool {
        isTooNew && pending?.parked?.kind == .serverValueUndecodable
    }

    /// Whether a deletion is pending that the next version that this app can read does not park.
    var hasDeletionToSend: Bool {
        guard let pending, pending.isDeletion, !pending.isRepetition else { return false }
        return pending.parked == nil || isParkedAsTooNew
    }

    /// Lets go of the kept version, and unparks the change that was parked because of the newer one.
    ///
    /// Called before the latest version is replaced by one that this app can read, or is known to be gone.
    mutating func endTooNew() {
        unparkTooNew()
        kept = nil
    }

    mutating func unparkTooNew() {
        if isParkedAsTooNew { pending?.parked = nil }
    }

    /// Forgets a latest version that can't be read from the files, so that it is fetched again; until then, the
    /// kept version is the latest.
    mutating func forgetLatestVersion() {
        guard let kept else { return forgetKnownVersion() }
        server = .known(kept)
        self.kept = nil
    }

    /// Tells the cloud's latest version, unless a pending edit must be reconciled with it first.
    mutating func tellNews(_ news: RecordNews?) {
        guard let pending, pending.parked == nil else { return tellServerValue(news) }
        // There is a conflict now, and only its outcome is told. A model made by an earlier conflict is still told; if it
        // were confirmed unchanged, it would count as the app's own.
        if !pending.isDeletion, !isPendingNews { self.news = nil }
    }

    /// Whether an app that can read this cannot read the latest version.
    func isTooNew(for readable: ReadableSchema) -> Bool {
        lastKnown.map { $0.schema > readable.version } ?? false
    }

    /// Notes whether this app can read the latest version, beside which nothing is kept then.
    mutating func mark(isTooNew: Bool) {
        server.changeVersion { $0.isTooNew = isTooNew }
        if !isTooNew { kept = nil }
    }

    /// Adjusts the record to an app that can now read its latest version, or no longer can.
    mutating func judge(isTooNew: Bool, _ news: RecordNews?) {
        guard let last = lastKnown, last.isTooNew != isTooNew else { return }
        if isTooNew {
            server.changeVersion { $0.isTooNew = true }
            if !isPendingOnTop { self.news = nil }
        } else {
            let former = kept
            endTooNew()
            server.changeVersion { $0.isTooNew = false }
            if let former, known != nil, former.hash == last.hash {
                repoint(from: former.handle, to: last.handle)
            } else {
                tellNews(news)
            }
        }
    }

    /// Records that the cloud has the lost version again, which is too new.
    mutating func confirmLostTooNew(as version: KnownVersion, _ news: RecordNews?) {
        guard let lost else { return }
        sent.removeAll { $0.handle == lost.handle }
        // Otherwise the server does not keep the schema version.
        if !version.isTooNew { endTooNew() }
        server = .known(version)
        if !version.isTooNew { tellNews(news) }
    }
}

/// Tracking the schema versions that this app can read.
extension SyncState {
    /// The highest schema version of a record type that this app can read.
    package func readableSchema(of type: ExactName?) -> SchemaVersion {
        schema(of: type)?.version ?? .first
    }

    /// What this app can read of a record type, unless that is the default.
    package func schema(of type: ExactName?) -> ReadableSchema? { summary.schemas.first { $0.type == type } }

    /// Whether models of a record type carry the change tag of their version.
    func carriesTags(_ type: ExactName?) -> Bool { schema(of: type)?.carriesTag == true }

    /// Whether this app can't read a version of a record.
    package func isTooNew(_ version: KnownVersion, of type: ExactName?) -> Bool {
        version.schema > .first && version.schema > readableSchema(of: type)
    }

    func judged(_ version: KnownVersion, of type: ExactName?) -> KnownVersion {
        var version = version
        version.isTooNew = isTooNew(version, of: type)
        return version
    }

    /// Notes what this version of the app can read of a type, and judges its records again.
    package mutating func setReadable(_ readable: ReadableSchema) {
        let former = schema(of: readable.type)
        changeSummary { summary in
            summary.schemas.removeAll { $0.type == readable.type }
            if !readable.isDefault { summary.schemas.append(readable) }
        }
        for key in keysToJudge(readable, after: former) {
            let news = nextNews()
            change(key) { $0.judge(isTooNew: !$0.isTooNew, news) }
        }
    }

    /// The records of a type that an app which can read this judges otherwise than the one before.
    ///
    /// An update of the app concerns only the records that were too new.
    ///
    /// Complexity: O(n log n) in them, or in all records of the type after a downgrade.
    func keysToJudge(_ readable: ReadableSchema, after former: ReadableSchema?) -> [RecordKey] {
        let isRaised = readable.version >= (former?.version ?? .first)
        let keys = isRaised ? tooNewQueue.keys.sorted() : sortedKeys(of: readable.type)
        return keys.filter { key in
            guard let record = self[key], recordType(of: key) == readable.type else { return false }
            return record.isTooNew != record.isTooNew(for: readable)
        }
    }
}
