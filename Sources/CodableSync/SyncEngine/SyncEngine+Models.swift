import RecordCoding

/// Decoding stored records for the streams and for the resolver.
extension SyncEngine {
    // MARK: Delivering

    func deliver(_ stream: StreamID, _ items: [DeliveryItem]) {
        let coding = coding
        let journal = journal
        let session = session
        let below = versionsBelow(items)
        resources.run { [weak self] in
            let element = Element(items, below, coding, journal)
            await self?.hand(element, items, over: below, to: stream, session)
        }
    }

    /// The versions below the pending edits among these changes, by handle of the edit.
    private func versionsBelow(_ items: [DeliveryItem]) -> [ContentHandle: ContentHandle] {
        items.reduce(into: [:]) { below, item in
            guard let handle = item.kind.handle else { return }
            below[handle] = machine?.state[item.key]?.versionBelow(handle)
        }
    }

    private func hand(
        _ element: Element,
        _ items: [DeliveryItem],
        over below: [ContentHandle: ContentHandle],
        to stream: StreamID,
        _ session: Int
    ) {
        guard session == self.session else {
            // The element is a former user's, and is delivered again when that user returns; the stream still
            // waits.
            return process(.delivery(.undecodable(stream, [], isEmpty: true)))
        }
        // A version that is below an edit no more may have been dropped before it was loaded.
        guard below == versionsBelow(items) else { return deliver(stream, items) }
        var element = element
        element.leaveOut(machine?.overtaken(in: stream) ?? [])
        report(element, of: stream)
        // A stream that was cancelled in the meantime has not accepted the element, and ends by itself.
        if let change = element.change { _ = hub.resume(stream, with: change) }
    }

    private func report(_ element: Element, of stream: StreamID) {
        let isEmpty = element.change == nil
        if !element.overtaken.isEmpty {
            let isLast = isEmpty && element.undecodable.isEmpty && element.unread.isEmpty
            process(.delivery(.overtaken(stream, element.overtaken, isEmpty: isLast)))
        }
        if let failure = element.failure, !element.unread.isEmpty {
            tellUnreadable("Changes cannot be read from the disk now: \(failure)")
            let isLast = isEmpty && element.undecodable.isEmpty
            process(.delivery(.loadFailed(stream, element.unread, isEmpty: isLast)))
        }
        if !element.undecodable.isEmpty {
            process(.delivery(.undecodable(stream, element.undecodable, isEmpty: isEmpty)))
        }
    }

    /// An element of `changes`, decoded as far as it can be.
    private struct Element: Sendable {
        var change: ModelChange<Model>?
        var undecodable: [UndecodableChange] = []
        /// Records whose contents cannot be read at the moment, for the reason in `failure`.
        var unread: [RecordKey] = []
        var failure: (any Error)?
        /// Records for which there is a newer change by now.
        var overtaken: [RecordKey] = []

        init(
            _ items: [DeliveryItem],
            _ below: [ContentHandle: ContentHandle],
            _ coding: ModelCoding<Model>,
            _ journal: JournalLane?
        ) {
            guard let first = items.first else { return }
            if case .deleted = first.kind {
                change = .deleted(items.map(\.name))
                return
            }
            let models = items.compactMap { model(of: $0, below, coding, journal) }
            if models.isEmpty { return }
            if case .saved = first.kind { change = .saved(models) } else { change = .updated(models) }
        }

        /// Removes records that must no longer be delivered.
        mutating func leaveOut(_ keys: [RecordKey]) {
            if keys.isEmpty { return }
            overtaken = keys
            undecodable.removeAll { keys.contains($0.key) }
            unread.removeAll { keys.contains($0) }
            let names = keys.map(\.recordName)
            switch change {
            case .updated(let models)?: change = Self.change(models, names, ModelChange.updated)
            case .saved(let models)?: change = Self.change(models, names, ModelChange.saved)
            case .deleted(let deleted)?:
                let left = deleted.filter { !names.contains($0) }
                change = left.isEmpty ? nil : .deleted(left)
            case nil: break
            }
        }

        private static func change(
            _ models: [Model],
            _ names: [String],
            _ make: ([Model]) -> ModelChange<Model>
        ) -> ModelChange<Model>? {
            let left = models.filter { !names.contains($0.recordName) }
            return left.isEmpty ? nil : make(left)
        }

        private mutating func model(
            of item: DeliveryItem,
            _ below: [ContentHandle: ContentHandle],
            _ coding: ModelCoding<Model>,
            _ journal: JournalLane?
        ) -> Model? {
            do {
                guard let handle = item.kind.handle, let journal else {
                    throw ModelCoding<Model>.Failure.missing
                }
                let contents = try journal.load([handle, below[handle]].compactMap { $0 })
                return try coding.decode(try contents.record(handle, over: below[handle]))
            } catch let error where error is FileError || error is JournalFailure {
                unread.append(item.key)
                failure = error
            } catch {
                undecodable.append(UndecodableChange(key: item.key, reason: coding.describe(error)))
            }
            return nil
        }
    }

    // MARK: Reconciling

    func reconcile(_ items: [ReconcileItem]) {
        let reconciler = Reconciler(coding: coding)
        let journal = journal
        let session = session
        resources.run { [weak self] in
            var results: [ReconciledContents] = []
            var failure: (any Error)?
            for item in items {
                do {
                    let contents = try ConflictContents(loading: item, from: journal)
                    let (outcome, wasAsked) = reconciler.reconcile(contents)
                    results.append(
                        ReconciledContents(contents: contents, outcome: outcome, wasAsked: wasAsked)
                    )
                } catch {
                    // The files cannot be read at the moment; the conflict stays open and is resolved later.
                    failure = error
                }
            }
            let (decided, unread) = (results, failure)
            await self?.finish(session) { engine in
                engine.take(decided)
                if let unread { engine.tellUnreadable("A conflict cannot be read: \(unread)") }
            }
        }
    }

    private func take(_ results: [ReconciledContents]) {
        var contents: [ContentHandle: Record] = [:]
        let reconciled = results.map { result in
            // The event about the conflict needs both sides, which a compaction may drop before the event is
            // emitted.
            let item = result.contents.item
            contents[item.client] = result.contents.client
            if let server = item.server { contents[server] = result.contents.server }
            let isOwn = if case .confirmed(_, isOwn: true) = result.outcome { true } else { false }
            return Reconciled(
                item: item,
                resolution: resolution(result.outcome, &contents),
                wasAsked: result.wasAsked,
                isOwnWrite: isOwn
            )
        }
        process(.reconciled(reconciled), contents: contents)
    }

    private func resolution(
        _ outcome: Reconciliation,
        _ contents: inout [ContentHandle: Record]
    ) -> Resolution {
        switch outcome {
        case .confirmed(let handle, _): return .confirmed(handle)
        case .client: return .client
        case .server: return .server
        case .failed(let reason): return .failed(reason)
        case .redated(let record, let edited):
            return .redated(stage(record, &contents), size: record.size, edited: edited)
        case .merged(let record, let edited):
            return .merged(stage(record, &contents), size: record.size, edited: edited)
        }
    }

    func stage(_ record: Record, _ contents: inout [ContentHandle: Record]) -> ContentHandle {
        let handle = newHandle()
        contents[handle] = record
        return handle
    }
}

/// A conflict, its contents and its outcome.
private struct ReconciledContents: Sendable {
    var contents: ConflictContents
    var outcome: Reconciliation
    var wasAsked: Bool
}

extension ConflictContents {
    /// Loads the contents that the item names.
    ///
    /// - Throws: An error if the files cannot be read; contents that are no longer stored count as missing.
    init(loading item: ReconcileItem, from journal: JournalLane?) throws {
        guard let journal else { throw JournalFailure.unreadable("The state is closed.") }
        let named = [item.client, item.server, item.ancestor, item.contested].compactMap { $0 }
        let sent = item.sent.flatMap { [$0.handle, $0.base].compactMap { $0 } }
        let loaded = try journal.load(named + sent)
        self.init(
            item: item,
            client: loaded[item.client],
            server: item.server.flatMap { loaded[$0] },
            ancestor: loaded.ancestor(item.ancestor, item.contested),
            lost: item.sent.compactMap { sent in
                guard let record = loaded[sent.handle] else { return nil }
                guard let base = sent.base else { return LostWrite(handle: sent.handle, record: record) }
                return loaded[base].map { LostWrite(handle: sent.handle, record: record, base: $0) }
            }
        )
    }
}
