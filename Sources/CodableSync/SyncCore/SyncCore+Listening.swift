import RecordCoding

/// Listening to the cloud, the disk and the streams.
extension SyncCore {
    func listen() {
        let signals = database.signals
        resources.run(isEndless: true) { [weak self] in
            for await signal in signals { await self?.take(signal) }
        }
    }

    /// Processes a signal, unless it is only about other zones.
    private func take(_ signal: CloudSignal) {
        if case .changes(let zones?) = signal, !zones.contains(where: { $0.isSameZone(as: zoneID) }) {
            return
        }
        process(.signal(signal))
    }

    /// Serves a stream's request, which opens the engine if necessary.
    func serve(_ request: StreamRequests.Request) async {
        defer {
            requests.answer()
            notifyWatchers()
        }
        if case .ended(let stream) = request {
            process(.delivery(.streamEnded(stream)))
            return
        }
        do {
            try await ready()
        } catch let error as SyncError where error.code == .closed {
            return
        } catch {
            // No caller can get the error, so an event reports it; the next call throws it.
            emit(.storageFailed((error as? SyncError)?.description ?? "\(error)"))
            hasUnserved = machine != nil
            return
        }
        takeRequests()
        switch request {
        case .repeated(let stream):
            // The machine already serves this stream: another request would accept the element that it has
            // not got.
            let isKnown = machine?.serves(stream) == true
            if !isKnown, let kind = model.claim(stream) {
                process(.delivery(.streamRequested(stream, kind)))
            }
        // `takeRequests` has served the stream's request, in its order among the app's calls.
        case .next, .wake, .ended: break
        }
    }

    /// Serves requests that could not be served before, if a state is open now.
    func serveAgain() {
        guard case .open = phase, let machine, !machine.isForAnotherUser else { return }
        hasUnserved = false
        takeRequests()
        model.repeatRequests()
    }

    /// Passes the streams' requests that are due to the machine.
    func takeRequests() {
        guard machine != nil else { return }
        for request in callQueue.takeRequests() {
            if let kind = model.claim(request.stream) {
                process(.delivery(.streamRequested(request.stream, kind)))
            }
        }
    }

    func reportCompaction(_ reason: String) {
        let text = "Can't remove obsolete entries from the files right now; trying again later."
        emit(.storageFailed("\(text) \(reason)"))
    }
}
