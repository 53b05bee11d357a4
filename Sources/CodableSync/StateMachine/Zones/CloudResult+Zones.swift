import RecordCoding

/// Which responses may come from another zone, and what such a response orders at once.
extension CloudResult {
    /// Whether the response to a request may come from another zone than the known records.
    func mayBeFromAnother(than zone: ZoneNumber, _ request: CloudRequest, _ state: SyncState) -> Bool {
        switch self {
        // A change token belongs to one zone; without one, the page may be from any zone.
        case .success(.page): state.zone(zone).token == nil
        case .success(.records(let found)): found.contains { isDoubtful($0, state) }
        case .success(.sendResults(let results)): results.contains { isDoubtful($0, state) }
        // They are not about records.
        case .success(.account), .success(.zoneSaved), .success(.databaseChanges),
            .success(.subscriptionModified):
            false
        case .failure(let error):
            request.subject == .sending
                && ([error] + error.itemErrors.values.map(error.passingWait)).contains {
                    $0.recovery == .acceptDeletion
                }
        }
    }

    private func isDoubtful(_ found: LookedUp, _ state: SyncState) -> Bool {
        guard case .success(let version) = found.result, let record = state[found.key] else { return false }
        guard let known = record.known else { return record.hasVersions }
        return version?.version.isSameVersion(as: known) != true
    }

    private func isDoubtful(_ result: SendResult, _ state: SyncState) -> Bool {
        guard state[result.key]?.hasVersions == true else { return false }
        switch result.outcome {
        case .conflict(.some): return true
        case .failed(let error): return error.recovery == .acceptDeletion && result.handle != nil
        default: return false
        }
    }

    /// The waits that the server orders with the response; equal responses have them in the same order.
    var waits: [Duration] {
        switch self {
        case .success(.page(let page)): [page.retryAfter].compactMap { $0 }
        case .success(.records(let found)): found.compactMap { $0.result.failure?.retryAfter }
        case .success(.sendResults(let results)): results.compactMap(\.orderedWait)
        case .success(.account), .success(.zoneSaved), .success(.databaseChanges),
            .success(.subscriptionModified):
            []
        case .failure(let error):
            // In the order of the names, since a dictionary has none.
            (error.itemErrors.sorted { RecordID.precedes($0.key, $1.key) }.map(\.value) + [error])
                .compactMap(\.retryAfter)
        }
    }
}

extension CloudError {
    /// The error of an item of a request that failed as a whole: the wait of the whole is that of each item
    /// which has none.
    func passingWait(to item: CloudError) -> CloudError {
        var item = item
        item.retryAfter = item.retryAfter ?? retryAfter
        return item
    }
}

extension RecordID {
    /// The order of two IDs, by the bytes of their names.
    fileprivate static func precedes(_ first: RecordID, _ second: RecordID) -> Bool {
        let names = { (id: RecordID) in
            [id.recordName, id.zoneID.zoneName, id.zoneID.ownerName].map { Array($0.utf8) }
        }
        for (one, other) in zip(names(first), names(second)) where one != other {
            return one.lexicographicallyPrecedes(other)
        }
        return false
    }
}
