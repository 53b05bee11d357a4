import RecordCoding

/// Loading and handing out elements of the streams.
extension SyncCore {
    func deliver(_ stream: StreamID, _ items: [DeliveryItem]) {
        let model = model
        let session = session
        let below = versionsBelow(items)
        let handles = items.compactMap(\.kind.handle)
        let load = loading(handles + handles.compactMap { below[$0] })
        resources.run { [weak self] in
            do {
                let contents = try await load()
                let element = model.element(items, over: below, from: contents, for: stream)
                await self?.hand(element, items, over: below, to: stream, session)
            } catch {
                await self?.failDelivery(of: items, to: stream, error, session)
            }
        }
    }

    /// Loads contents, without keeping the core alive.
    private func loading(_ handles: [ContentHandle]) -> @Sendable () async throws -> StoredContents {
        { [files] in
            guard let files else { throw JournalFailure.unreadable("The state is closed.") }
            return try await files.load(handles)
        }
    }

    private func failDelivery(
        of items: [DeliveryItem],
        to stream: StreamID,
        _ failure: any Error,
        _ session: Int
    ) {
        guard session == self.session else { return passOver(stream) }
        reportUnreadable("Can't read changes from the disk right now: \(failure)")
        process(.delivery(.loadFailed(stream, items.map(\.key), isEmpty: true)))
    }

    /// Delivers an element without records; a stream that was cancelled in the meantime ends by itself.
    func deliver(_ stream: StreamID, _ mark: StreamMark) {
        model.element(mark, for: stream, session).handOver()
    }

    /// The versions below the pending edits among these changes, by handle of the edit.
    private func versionsBelow(_ items: [DeliveryItem]) -> [ContentHandle: ContentHandle] {
        items.reduce(into: [:]) { below, item in
            guard let handle = item.kind.handle else { return }
            below[handle] = machine?.state[item.key]?.versionBelow(handle)
        }
    }

    /// Leaves out an element of a former user, which is delivered again when that user returns; the stream
    /// still waits.
    private func passOver(_ stream: StreamID) {
        process(.delivery(.undecodable(stream, [], isEmpty: true)))
    }

    private func hand(
        _ element: any StreamElement,
        _ items: [DeliveryItem],
        over below: [ContentHandle: ContentHandle],
        to stream: StreamID,
        _ session: Int
    ) {
        guard session == self.session else { return passOver(stream) }
        // A version that is no longer below an edit may have been dropped before it was loaded.
        guard below == versionsBelow(items) else { return deliver(stream, items) }
        var element = element
        element.leaveOut(machine?.overtaken(in: stream) ?? [])
        report(element, of: stream)
        element.handOver()
    }

    private func report(_ element: any StreamElement, of stream: StreamID) {
        let isEmpty = element.isEmpty
        if !element.overtaken.isEmpty {
            let isLast = isEmpty && element.undecodable.isEmpty
            process(.delivery(.overtaken(stream, element.overtaken, isEmpty: isLast)))
        }
        if !element.undecodable.isEmpty {
            process(.delivery(.undecodable(stream, element.undecodable, isEmpty: isEmpty)))
        }
    }
}
