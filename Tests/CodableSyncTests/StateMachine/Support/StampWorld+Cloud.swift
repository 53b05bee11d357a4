import Foundation
import RecordCoding

@testable import CodableSync

/// The cloud: its records, edits by other devices, and the fate of requests.
extension StampWorld {
    mutating func store(_ name: String, _ stamps: Stamps?, isOwn: Bool) -> CloudVersion? {
        if pick(3) != 0 { cloudDate += 1 }
        // The deletion removes existing stamps, but not an edit on its way.
        if stamps == nil, let gone = cloud[name]?.stamps { expected[name]?.subtract(gone) }
        let version = stamps.map {
            CloudVersion(tag: history.count + 1, stamps: $0, modified: cloudDate, isOwn: isOwn)
        }
        cloud[name] = version
        history.append((name, version))
        return version
    }

    mutating func editElsewhere(_ name: String) {
        let stamp = newStamp()
        let stamps = (cloud[name]?.stamps ?? []).union([stamp])
        if cloud[name] == nil { madeAnew.insert(name) }
        log.append("elsewhere \(name) \(stamps.sorted())")
        expected[name, default: []].insert(stamp)
        deletedHere.remove(name)
        // A pending deletion may or may not remove this version.
        for (id, call) in calls where call.name == name && call.stamp == nil { calls[id] = (name, 0) }
        _ = store(name, stamps, isOwn: false)
    }

    mutating func deleteElsewhere(_ name: String) {
        guard cloud[name] != nil else { return }
        log.append("elsewhere deleted \(name)")
        _ = store(name, nil, isOwn: false)
    }

    mutating func save(_ item: SendItem) -> SaveOutcome {
        guard let handle = item.handle, let stamps = values[handle] else {
            guard cloud[item.name] != nil else { return .missing }
            _ = store(item.name, nil, isOwn: true)
            return .deleted
        }
        if let known = item.known, values[known.handle] == stamps, !item.isBehindUnanswered {
            return .unchanged
        }
        if let known = item.known, cloud[item.name] == nil, !known.changeTag.isEmpty { return .missing }
        if let there = cloud[item.name], "t\(there.tag)" != item.known?.changeTag {
            return .conflict(there, isAttached: pick(3) != 0)
        }
        guard let version = store(item.name, stamps, isOwn: true) else { return .missing }
        return .saved(version)
    }

    mutating func error(ofItem: Bool) -> CloudError {
        var codes: [CloudError.Code] = [
            .networkFailure, .serviceUnavailable, .serverResponseLost, .zoneBusy, .internalError,
            .requestRateLimited, .quotaExceeded, .unknown("x"), .limitExceeded, .batchRequestFailed,
            .permissionFailure, .invalidArguments, .operationCancelled,
        ]
        if !ofItem { codes += [.changeTokenExpired, .partialFailure] }
        return CloudError(
            codes[pick(codes.count)],
            retryAfter: pick(6) == 0 ? .seconds(Int64(pick(40))) : nil
        )
    }

    /// A request reaches the cloud; its answer is on the way.
    mutating func perform(_ id: RequestID, faulty: Bool) {
        guard let request = requests[id], answers[id] == nil else { return }
        log.append("cloud performs \(id)")
        switch request {
        case .fetch(let since):
            let from = since.flatMap { Int(String(decoding: $0.data, as: UTF8.self)) } ?? 0
            let end = faulty && pick(3) == 0 ? max(from, history.count - 1 - pick(2)) : history.count
            var changed: [String: CloudVersion?] = [:]
            for change in history.prefix(end).dropFirst(from) {
                changed.updateValue(change.version, forKey: change.name)
            }
            let changes = changed.keys.sorted().map { (name: $0, version: changed[$0] ?? nil) }
            let visible = since == nil ? changes.filter { $0.version != nil } : changes
            let failed = visible.filter { $0.version != nil }.map(\.name)
                .filter { _ in faulty && options.hidesRecords && pick(5) == 0 }
            answers[id] = .page(visible.filter { !failed.contains($0.name) }, failed: failed, token: end)
        case .lookUp(let keys):
            answers[id] = .lookUp(keys.map { ($0.recordName, cloud[$0.recordName]) })
        case .send(let items):
            var results: [(item: SendItem, outcome: SaveOutcome)] = []
            for item in items {
                let kind = faulty ? pick(12) : 11
                if kind == 0 {
                    results.append((item, .failed(error(ofItem: true))))
                    continue
                }
                let outcome = save(item)
                switch kind {
                case 1: results.append((item, .failed(CloudError(.serverResponseLost))))
                case 2: results.append((item, .unmentioned))
                default: results.append((item, outcome))
                }
            }
            answers[id] = .sent(results)
        default: break
        }
    }

    mutating func answer(_ id: RequestID, faulty: Bool) {
        guard let request = requests[id] else { return }
        if faulty, pick(8) == 0 {
            let error = error(ofItem: false)
            // A lost answer does not show whether the cloud applied the request.
            if error.recovery == .retry, pick(2) == 0 { perform(id, faulty: true) }
            if answers[id] == nil || error.recovery == .retry { return fail(id, error) }
        }
        perform(id, faulty: faulty)
        requests[id] = nil
        let answer = answers.removeValue(forKey: id)
        log.append("answer to \(id): \(answer.map { "\($0)" } ?? "done")")
        switch (request, answer) {
        case (.fetch, .page(let changes, let failed, let token)?):
            var page = FetchedPage(token: ChangeToken("\(token)"), moreComing: false)
            page.failed = failed.map { RecordKey($0) }
            for (name, found) in changes {
                if let found {
                    page.records.append(FetchedRecord(name: name, version: version(found)))
                } else {
                    page.deletions.append(RecordKey(name))
                }
            }
            feed(.response(id, .success(.page(page))))
        case (.lookUp, .lookUp(let found)?):
            let results = found.map { one in
                LookedUp(name: one.name, result: .success(one.version.map { version($0) }))
            }
            feed(.response(id, .success(.records(results))))
        case (.send, .sent(let results)?):
            let handles = handles.removeValue(forKey: id) ?? [:]
            feed(
                .response(
                    id,
                    .success(.sendResults(results.map { result($0.item, $0.outcome, handles[$0.item.name]) }))
                )
            )
        case (.checkAccount, _):
            feed(.response(id, .success(.account(CloudAccount(status: .available, userRecordName: "alice")))))
        case (.saveZone, _): feed(.response(id, .success(.zoneSaved)))
        case (.subscribe, _), (.unsubscribe, _): feed(.response(id, .success(.subscriptionModified)))
        case (.readDatabaseChanges, _):
            feed(.response(id, .success(.databaseChanges(ZoneFate(reason: nil, token: ChangeToken("z"))))))
        default: break
        }
    }

    mutating func result(_ item: SendItem, _ outcome: SaveOutcome, _ handle: ContentHandle?) -> SendResult {
        let what: SendResult.Outcome =
            switch outcome {
            case .saved(let found): .saved(version(found, as: handle))
            case .deleted: .deleted
            case .unchanged: .unchanged
            case .missing: .failed(CloudError(.unknownItem))
            case .conflict(let found, let isAttached):
                .conflict(server: isAttached ? version(found) : nil)
            case .failed(let error): .failed(error)
            case .unmentioned: .unmentioned
            }
        return SendResult(name: item.name, handle: item.handle, outcome: what)
    }

    mutating func fail(_ id: RequestID, _ error: CloudError) {
        guard let request = requests.removeValue(forKey: id) else { return }
        log.append("failure of \(id): \(error.code)")
        answers[id] = nil
        switch request {
        case .fetch: feed(.response(id, .failure(error)))
        case .lookUp: feed(.response(id, .failure(error)))
        case .send(let items):
            if error.code == .serverResponseLost { ghosts.append(items) }
            feed(.response(id, .failure(error)))
        case .checkAccount: feed(.response(id, .failure(CloudError(.networkFailure))))
        case .saveZone: feed(.response(id, .failure(CloudError(.networkFailure))))
        case .subscribe, .unsubscribe: feed(.response(id, .failure(CloudError(.networkFailure))))
        case .readDatabaseChanges: feed(.response(id, .failure(CloudError(.networkFailure))))
        }
    }

    mutating func missDeadline(_ id: RequestID) {
        log.append("deadline of \(id)")
        pass(until: harness.timers[.deadline(id)])
    }

    /// The machine waits for a response no longer; the request may still be on its way.
    mutating func cancel(_ id: RequestID) {
        guard let request = requests.removeValue(forKey: id) else { return }
        if case .send(let items) = request, answers[id] == nil { ghosts.append(items) }
        answers[id] = nil
    }

    /// A request that timed out is applied late; a late deletion is indistinguishable from another device's.
    mutating func haunt() {
        guard !ghosts.isEmpty else { return }
        for item in ghosts.removeFirst() where item.handle != nil && item.known != nil {
            log.append("a late request arrives: \(item.name)=\(item.handle?.number ?? 0): \(save(item))")
        }
    }
}
