import RecordCoding

@testable import CodableSync

/// Common steps of the machine's tests.
extension MachineHarness {
    /// The records of which a live stream has told something else than reads show.
    func foldingFaults(_ names: [String]) -> [String] {
        folded.keys.sorted().flatMap { stream in
            names.filter { folded[stream]?[$0] != state.shownHandle(of: $0) }
                .map { "stream \(stream) has told another \($0) than reads show" }
        }
    }

    @discardableResult
    mutating func upload(_ name: String, _ handle: UInt64, size: Int = 100) -> [SyncAction] {
        run(.calls(.enqueue(newCall(), [.save(name, handle, size: size)])))
    }

    @discardableResult
    mutating func delete(_ name: String) -> [SyncAction] {
        run(.calls(.enqueue(newCall(), [.delete(name)])))
    }

    @discardableResult
    mutating func answerFetch(
        _ records: [FetchedRecord] = [],
        deletions: [String] = [],
        failed: [String] = [],
        token: String,
        moreComing: Bool = false
    ) -> [SyncAction] {
        guard let request = fetchRequest else { return [] }
        var page = FetchedPage(token: .init(token), moreComing: moreComing)
        page.records = records
        page.deletions = deletions.map { RecordKey($0) }
        page.failed = failed.map { RecordKey($0) }
        return run(.response(request.id, .success(.page(page))))
    }

    /// Fetches these changes.
    @discardableResult
    mutating func fetch(
        _ records: [FetchedRecord] = [],
        deletions: [String] = [],
        token: String
    ) -> [SyncAction] {
        run(.signal(.changes(in: nil))) + answerFetch(records, deletions: deletions, token: token)
    }

    /// Answers the current send request, item by item.
    @discardableResult
    mutating func answerSend(_ outcome: (SendItem) -> SendResult.Outcome) -> [SyncAction] {
        guard let request = sendRequest else { return [] }
        let results = request.items.map {
            SendResult(name: $0.name, handle: $0.handle, outcome: outcome($0))
        }
        return run(.response(request.id, .success(.sendResults(results))))
    }

    @discardableResult
    mutating func failSend(_ error: CloudError) -> [SyncAction] {
        guard let request = sendRequest else { return [] }
        return run(.response(request.id, .failure(error)))
    }

    @discardableResult
    mutating func resolve(_ resolution: (ReconcileItem) -> Resolution) -> [SyncAction] {
        let items = conflicts
        return run(
            .reconciled(items.map { Reconciled(item: $0, resolution: resolution($0), wasAsked: true) })
        )
    }

    /// Adds a record that the cloud has and the app has seen.
    mutating func know(_ name: String, _ number: UInt64) {
        fetch([.init(name, number)], token: "known-\(name)-\(number)")
        let stream: StreamID = 999
        run(.delivery(.streamRequested(stream)))
        run(.delivery(.streamRequested(stream)))
        run(.delivery(.streamEnded(stream)))
        for other in machine.delivering.streams.map(\.id) { run(.delivery(.streamRequested(other))) }
    }
}
