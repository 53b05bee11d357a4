import RecordCoding

/// Where stored records become models: for the streams and for the resolver.
extension SyncEngine {
    // MARK: Delivering

    func deliver(_ stream: StreamID, _ items: [DeliveryItem]) {
        let coding = coding
        let journal = journal
        let session = session
        resources.run { [weak self] in
            let element = Element(items, coding, journal)
            await self?.hand(element, to: stream, session)
        }
    }

    private func hand(_ element: Element, to stream: StreamID, _ session: Int) {
        guard session == self.session else {
            // It is a former user's, and comes again when that user does; the stream still waits.
            return process(.undecodable(stream, names: [], isEmpty: true))
        }
        report(element, of: stream)
        // A stream that was cancelled meanwhile has not accepted anything, and ends by itself.
        if let change = element.change { _ = hub.resume(stream, with: change) }
    }

    private func report(_ element: Element, of stream: StreamID) {
        guard !element.undecodable.isEmpty else { return }
        for (name, reason) in element.undecodable {
            emit(.undecodable(recordName: name, reason: reason))
        }
        process(
            .undecodable(stream, names: element.undecodable.map(\.name), isEmpty: element.change == nil)
        )
    }

    /// An element of `changes`, decoded as far as it can be.
    private struct Element: Sendable {
        var change: ModelChange<Model>?
        var undecodable: [(name: String, reason: String)] = []

        init(_ items: [DeliveryItem], _ coding: ModelCoding<Model>, _ journal: JournalLane?) {
            guard let first = items.first else { return }
            if case .deleted = first.kind {
                change = .deleted(items.map(\.name))
                return
            }
            var models: [Model] = []
            for item in items {
                do {
                    guard let handle = item.kind.handle,
                        let record = try journal?.load([handle])[handle]
                    else { throw ModelCoding<Model>.Failure.missing }
                    models.append(try coding.decode(record))
                } catch {
                    undecodable.append((item.name, coding.describe(error)))
                }
            }
            if models.isEmpty { return }
            if case .saved = first.kind { change = .saved(models) } else { change = .updated(models) }
        }
    }

    // MARK: Reconciling

    func reconcile(_ items: [ReconcileItem]) {
        let reconciler = Reconciler(coding: coding)
        let journal = journal
        let session = session
        resources.run { [weak self] in
            var results: [(item: ReconcileItem, outcome: Reconciliation, wasAsked: Bool)] = []
            var failure: (any Error)?
            for item in items {
                do {
                    let contents = try ConflictContents(loading: item, from: journal)
                    let (outcome, wasAsked) = reconciler.reconcile(contents)
                    results.append((item, outcome, wasAsked))
                } catch {
                    // The files cannot be read now: the conflict stays open, and is met again later.
                    failure = error
                }
            }
            let (decided, unread) = (results, failure)
            await self?.finish(session) { engine in
                engine.take(decided)
                if let unread { engine.emit(.stateUnwritable("A conflict cannot be read: \(unread)")) }
            }
        }
    }

    private func take(_ results: [(item: ReconcileItem, outcome: Reconciliation, wasAsked: Bool)]) {
        var contents: [ContentHandle: Record] = [:]
        let reconciled = results.map { result in
            Reconciled(
                item: result.item,
                resolution: resolution(result.outcome, &contents),
                wasAsked: result.wasAsked,
                keepsClient: result.outcome.keepsClient
            )
        }
        process(.reconciled(reconciled), contents: contents)
    }

    private func resolution(
        _ outcome: Reconciliation,
        _ contents: inout [ContentHandle: Record]
    ) -> Resolution {
        switch outcome {
        case .confirmed(let handle): return .confirmed(handle)
        case .client: return .client
        case .server: return .server
        case .failed(let reason): return .failed(reason)
        case .merged(let record, let edited), .redated(let record, let edited):
            let handle = newHandle()
            contents[handle] = record
            return .merged(handle, size: record.size, edited: edited)
        }
    }
}

extension Reconciliation {
    fileprivate var keepsClient: Bool {
        switch self {
        case .client, .redated: true
        case .confirmed, .merged, .server, .failed: false
        }
    }
}

extension Undelivered.Kind {
    var handle: ContentHandle? {
        switch self {
        case .updated(let handle), .saved(let handle): handle
        case .deleted: nil
        }
    }
}

extension ConflictContents {
    /// Loads what the item names.
    ///
    /// - Throws: If the files cannot be read now; contents that are not stored any more count as missing.
    init(loading item: ReconcileItem, from journal: JournalLane?) throws {
        guard let journal else { throw JournalFailure.unreadable("The state is closed.") }
        let named = [item.client, item.server, item.ancestor].compactMap { $0 }
        let sent = item.sent.flatMap { [$0.handle, $0.base].compactMap { $0 } }
        let loaded = try journal.load(named + sent)
        self.init(
            item: item,
            client: loaded[item.client],
            server: item.server.flatMap { loaded[$0] },
            ancestor: item.ancestor.flatMap { loaded[$0] },
            lost: item.sent.compactMap { sent in
                guard let record = loaded[sent.handle] else { return nil }
                guard let base = sent.base else { return LostWrite(handle: sent.handle, record: record) }
                return loaded[base].map { LostWrite(handle: sent.handle, record: record, base: $0) }
            }
        )
    }
}
