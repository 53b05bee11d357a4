import RecordCoding

/// Loading both sides of a conflict, and passing them to the resolver.
extension SyncCore {
    func reconcile(_ items: [ReconcileItem]) {
        let model = model
        let files = files
        let session = session
        resources.run { [weak self] in
            var results: [ReconciledContents] = []
            var failure: (any Error)?
            for item in items {
                do {
                    let contents = try await ConflictContents(loading: item, from: files)
                    let (outcome, wasAsked) = model.reconcile(contents)
                    results.append(
                        ReconciledContents(contents: contents, outcome: outcome, wasAsked: wasAsked)
                    )
                } catch {
                    // The files cannot be read at the moment; the conflict stays open and is resolved later.
                    failure = error
                }
            }
            let (decided, unread) = (results, failure)
            await self?.finish(session) { core in
                core.take(decided)
                if let unread { core.reportUnreadable("Can't read a conflict from the disk: \(unread)") }
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
            if let side = item.side { contents[side.edit] = result.contents.side }
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
            return .redated(
                stage(record, &contents),
                size: record.size,
                edited: edited,
                hash: record.contentHash
            )
        case .merged(let record, let edited):
            return .merged(
                stage(record, &contents),
                size: record.size,
                edited: edited,
                hash: record.contentHash
            )
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
    init(loading item: ReconcileItem, from files: OpenFiles?) async throws {
        guard let files else { throw JournalFailure.unreadable("The state is closed.") }
        let named = [
            item.client, item.server, item.ancestor, item.contested, item.side?.edit, item.creation,
            item.lost?.version,
        ]
        let sent = item.sent.flatMap { [$0.handle, $0.base] }
        let loaded = try await files.load((named + sent).compactMap { $0 })
        self.init(
            item: item,
            client: loaded[item.client],
            server: item.server.flatMap { loaded[$0] },
            ancestor: loaded.ancestor(item.ancestor, item.contested),
            side: item.side.flatMap { loaded[$0.edit] },
            creation: item.creation.flatMap { loaded[$0] },
            lostBase: item.lost.flatMap { loaded[$0.version] },
            lost: item.sent.compactMap { sent in
                guard let record = loaded[sent.handle] else { return nil }
                guard let base = sent.base else { return LostWrite(handle: sent.handle, record: record) }
                return loaded[base].map { LostWrite(handle: sent.handle, record: record, base: $0) }
            }
        )
    }
}
